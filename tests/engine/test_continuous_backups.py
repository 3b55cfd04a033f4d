"""UpdateContinuousBackups, DescribeContinuousBackups and RestoreTableToPointInTime."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime import wire
from bigtime.engine import Engine, TableChange
from bigtime.engine.storage import DamagedFileException
from bigtime.wire import DynamoDBError
from tests.engine.calls import (
    Clock,
    call,
    describe_table,
    index,
    key_schema,
    make_table,
    n,
    physical_tables,
    s,
)

DAY = 24 * 3600.0
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/notes"


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with Engine.memory(clock=clock, housekeeping=False) as engine:
        make_table(
            engine, {"p": "S", "g": "S"}, name="notes", keys=("p",), globally=(BY_G,), Tags=TAGS
        )
        yield engine


BY_G = index("by_g", key_schema("g"))
TAGS = [{"Key": "team", "Value": "shop"}]


def put(engine: Engine, p: str, g: str = "x") -> None:
    call(engine, "PutItem", TableName="notes", Item={"p": s(p), "g": s(g)})


def switch(engine: Engine, *, on: bool = True, table: str = "notes", **settings: Any) -> Any:
    wanted = {"PointInTimeRecoveryEnabled": on, **settings}
    return call(
        engine,
        "UpdateContinuousBackups",
        TableName=table,
        PointInTimeRecoverySpecification=wanted,
    )["ContinuousBackupsDescription"]


def state(engine: Engine, table: str = "notes") -> Any:
    answer = call(engine, "DescribeContinuousBackups", TableName=table)
    return answer["ContinuousBackupsDescription"]


def restore(engine: Engine, at: float | None = None, target: str = "old", **more: Any) -> Any:
    when = {"UseLatestRestorableTime": True} if at is None else {"RestoreDateTime": at}
    return call(
        engine,
        "RestoreTableToPointInTime",
        **{"SourceTableName": "notes", "TargetTableName": target, **when, **more},
    )["TableDescription"]


def items(engine: Engine, table: str, **more: Any) -> dict[str, str]:
    found = call(engine, "Scan", TableName=table, **more)["Items"]
    return {item["p"]["S"]: item["g"]["S"] for item in found}


def error(engine: Engine, operation: str, **params: Any) -> DynamoDBError:
    with pytest.raises(DynamoDBError) as caught:
        call(engine, operation, **params)
    return caught.value


# --- Switching it on and off ----------------------------------------------------------------


def test_a_new_table_has_continuous_backups_without_recovery(engine: Engine) -> None:
    assert state(engine) == {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
    }


def test_recovery_goes_back_35_days_unless_it_is_said(engine: Engine, clock: Clock) -> None:
    start = clock.now
    assert switch(engine) == state(engine)
    clock.now += 10 * DAY
    assert state(engine)["PointInTimeRecoveryDescription"] == {
        "PointInTimeRecoveryStatus": "ENABLED",
        "RecoveryPeriodInDays": 35,
        "EarliestRestorableDateTime": start,
        "LatestRestorableDateTime": clock.now,
    }
    clock.now += 30 * DAY
    recovery = state(engine)["PointInTimeRecoveryDescription"]
    assert recovery["EarliestRestorableDateTime"] == clock.now - 35 * DAY


@pytest.mark.parametrize("days", [0, 36, -1])
def test_the_period_has_1_to_35_days(engine: Engine, days: int) -> None:
    wanted = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}
    refusal = error(
        engine,
        "UpdateContinuousBackups",
        TableName="notes",
        PointInTimeRecoverySpecification=wanted,
    )
    assert isinstance(refusal, wire.ValidationException)
    assert "pointInTimeRecoverySpecification.recoveryPeriodInDays" in refusal.message


def test_a_longer_period_does_not_bring_back_what_a_shorter_one_gave_up(
    engine: Engine, clock: Clock
) -> None:
    switch(engine)
    clock.now += 10 * DAY
    switch(engine, RecoveryPeriodInDays=2)
    clock.now += DAY / 2
    recovery = switch(engine)["PointInTimeRecoveryDescription"]
    assert recovery["RecoveryPeriodInDays"] == 35
    assert recovery["EarliestRestorableDateTime"] == clock.now - 2 * DAY


def test_switching_it_off_and_on_starts_anew(engine: Engine, clock: Clock) -> None:
    switch(engine)
    clock.now += 100
    assert switch(engine, on=False)["PointInTimeRecoveryDescription"] == {
        "PointInTimeRecoveryStatus": "DISABLED"
    }
    clock.now += 100
    recovery = switch(engine)["PointInTimeRecoveryDescription"]
    assert recovery["EarliestRestorableDateTime"] == clock.now


@pytest.mark.parametrize("name", ["no-such", ARN.replace("notes", "no-such")])
def test_a_table_that_is_not_there_is_not_found(engine: Engine, name: str) -> None:
    refusal = error(engine, "DescribeContinuousBackups", TableName=name)
    assert isinstance(refusal, wire.TableNotFoundException)
    assert refusal.message.startswith("Table not found: ")
    wanted = {"PointInTimeRecoveryEnabled": True}
    refusal = error(
        engine, "UpdateContinuousBackups", TableName=name, PointInTimeRecoverySpecification=wanted
    )
    assert isinstance(refusal, wire.TableNotFoundException)


def test_the_state_lasts(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "a.db", housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        switch(engine, RecoveryPeriodInDays=3)
    with Engine.open(tmp_path / "a.db", housekeeping=False) as engine:
        assert state(engine)["PointInTimeRecoveryDescription"]["RecoveryPeriodInDays"] == 3


# --- Restoring ------------------------------------------------------------------------------


def test_a_table_is_restored_to_a_fraction_of_a_second(engine: Engine, clock: Clock) -> None:
    switch(engine)
    start = clock.now
    for number in range(5):
        clock.now = start + number / 10
        put(engine, "a", str(number))
    restore(engine, start + 0.3)
    restore(engine, start + 0.299999, target="older")
    engine.tidy()
    assert items(engine, "old") == {"a": "3"}
    assert items(engine, "older") == {"a": "2"}
    assert items(engine, "older", IndexName="by_g") == {"a": "2"}


def test_the_latest_moment_has_every_write_before_the_call(engine: Engine, clock: Clock) -> None:
    switch(engine)
    put(engine, "a", "before")
    restore(engine)
    put(engine, "a", "after")
    put(engine, "b", "after")
    engine.tidy()
    assert items(engine, "old") == {"a": "before"}


def test_a_restored_table_is_creating_until_it_is_full(engine: Engine, clock: Clock) -> None:
    switch(engine)
    put(engine, "a")
    answer = restore(engine, clock.now)
    assert answer["TableStatus"] == "CREATING"
    assert answer["RestoreSummary"] == {
        "SourceTableArn": ARN,
        "RestoreDateTime": clock.now,
        "RestoreInProgress": True,
    }
    assert describe_table(engine, "old") == answer
    assert call(engine, "ListTables")["TableNames"] == ["notes", "old"]
    assert error(engine, "GetItem", TableName="old", Key={"p": s("a")}).code == (
        "ResourceNotFoundException"
    )
    assert error(engine, "PutItem", TableName="old", Item={"p": s("a")}).code == (
        "ResourceNotFoundException"
    )
    refusal = error(engine, "DeleteTable", TableName="old")
    assert isinstance(refusal, wire.ResourceInUseException)
    params: Any
    # DDB-TABLE-217 of https://github.com/aws-controllers-k8s/dynamodb-controller
    for operation, params in (
        ("UpdateTable", {"DeletionProtectionEnabled": True}),
        ("UpdateTimeToLive", {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "t"}}),
        ("DescribeTimeToLive", {}),
        ("DescribeContributorInsights", {}),
    ):
        refusal = error(engine, operation, TableName="old", **params)
        assert isinstance(refusal, wire.ResourceNotFoundException)
        assert refusal.message == "Requested resource not found: Table: old not found"
    recovery = {"PointInTimeRecoveryEnabled": True}
    for operation, params in (
        ("UpdateContinuousBackups", {"PointInTimeRecoverySpecification": recovery}),
        ("DescribeContinuousBackups", {}),
    ):
        refusal = error(engine, operation, TableName="old", **params)
        assert isinstance(refusal, wire.TableNotFoundException)
        assert refusal.message == "Table not found: old"
    engine.tidy()
    table = describe_table(engine, "old")
    assert table["TableStatus"] == "ACTIVE" and table["ItemCount"] == 1
    assert "RestoreSummary" not in table  # DDB-TABLE-216 of the same
    assert table["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    put(engine, "b")
    call(engine, "PutItem", TableName="old", Item={"p": s("b")})
    call(engine, "DeleteTable", TableName="old")


def test_a_restored_table_has_the_present_settings_but_those_that_aws_leaves_out(
    engine: Engine, clock: Clock
) -> None:
    switch(engine)
    put(engine, "a")
    ttl = {"AttributeName": "until", "Enabled": True}
    call(engine, "UpdateTimeToLive", TableName="notes", TimeToLiveSpecification=ttl)
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    call(engine, "UpdateTable", TableName="notes", StreamSpecification=stream)
    call(engine, "UpdateTable", TableName="notes", DeletionProtectionEnabled=True)
    call(engine, "UpdateTable", TableName="notes", TableClass="STANDARD_INFREQUENT_ACCESS")
    who = '"Effect":"Allow","Principal":{"AWS":"000000000000"}'
    statement = f'{{{who},"Action":"dynamodb:GetItem","Resource":"*"}}'
    policy = f'{{"Version":"2012-10-17","Statement":[{statement}]}}'
    call(engine, "PutResourcePolicy", ResourceArn=ARN, Policy=policy)
    call(engine, "UpdateContributorInsights", TableName="notes", ContributorInsightsAction="ENABLE")
    restore(engine)
    engine.tidy()
    source, table = describe_table(engine, "notes"), describe_table(engine, "old")
    assert table["TableId"] != source["TableId"]
    for same in ("KeySchema", "AttributeDefinitions"):
        assert table[same] == source[same]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert [each["IndexName"] for each in table["GlobalSecondaryIndexes"]] == ["by_g"]
    assert table["DeletionProtectionEnabled"] is False
    assert {"StreamSpecification", "LatestStreamArn", "TableClassSummary"}.isdisjoint(table)
    assert call(engine, "ListTagsOfResource", ResourceArn=table["TableArn"]) == {"Tags": []}
    assert call(engine, "DescribeTimeToLive", TableName="old") == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}
    }
    assert state(engine, "old")["PointInTimeRecoveryDescription"] == {
        "PointInTimeRecoveryStatus": "DISABLED"
    }
    none = error(engine, "GetResourcePolicy", ResourceArn=table["TableArn"])
    assert isinstance(none, wire.PolicyNotFoundException)
    insights = call(engine, "DescribeContributorInsights", TableName="old")
    assert insights["ContributorInsightsStatus"] == "DISABLED"


def test_a_source_without_recovery_is_unavailable(engine: Engine) -> None:
    params = {"SourceTableName": "notes", "TargetTableName": "old", "UseLatestRestorableTime": True}
    refusal = error(engine, "RestoreTableToPointInTime", **params)
    assert isinstance(refusal, wire.PointInTimeRecoveryUnavailableException)
    assert refusal.message == "Point in time recovery is not enabled for table 'notes'"
    refusal = error(engine, "RestoreTableToPointInTime", **{**params, "SourceTableName": "nothing"})
    assert isinstance(refusal, wire.TableNotFoundException)
    assert refusal.message == "Table not found: nothing"


@pytest.mark.parametrize("seconds", [-1, 101, 1e12])
def test_a_moment_outside_the_window_is_invalid(
    engine: Engine, clock: Clock, seconds: float
) -> None:
    switch(engine)
    start = clock.now
    clock.now += 100
    refusal = error(
        engine,
        "RestoreTableToPointInTime",
        SourceTableName="notes",
        TargetTableName="old",
        RestoreDateTime=start + seconds,
    )
    assert isinstance(refusal, wire.InvalidRestoreTimeException)
    assert re.fullmatch(
        r"RestoreDateTime '.+' must be within EarliestRestorableDateTime '.+Z' and "
        r"LatestRestorableDateTime '.+Z'",
        refusal.message,
    )


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"SourceTableName": "notes"}, "must be specified"),
        (
            {"SourceTableName": "notes", "RestoreDateTime": 1.0, "UseLatestRestorableTime": True},
            "cannot be set",
        ),
        ({"UseLatestRestorableTime": True}, "is required"),
    ],
)
def test_a_restore_says_what_and_when(engine: Engine, params: dict[str, Any], words: str) -> None:
    refusal = error(engine, "RestoreTableToPointInTime", TargetTableName="old", **params)
    assert isinstance(refusal, wire.ValidationException)
    assert words in refusal.message


def test_a_target_that_is_there_is_refused(engine: Engine) -> None:
    switch(engine)
    params = {"SourceTableName": "notes", "UseLatestRestorableTime": True}
    refusal = error(engine, "RestoreTableToPointInTime", TargetTableName="notes", **params)
    assert isinstance(refusal, wire.TableAlreadyExistsException)
    assert refusal.message == "Table already exists: notes"
    restore(engine)
    refusal = error(engine, "RestoreTableToPointInTime", TargetTableName="old", **params)
    assert isinstance(refusal, wire.TableInUseException)
    with pytest.raises(wire.ResourceInUseException) as caught:
        make_table(engine, {"p": "S"}, name="old", keys=("p",))
    assert caught.value.message == (
        "Attempt to change a resource which is still in use: Table is being used: old"
    )


def test_fifty_restores_run_at_once_and_no_more(engine: Engine) -> None:
    switch(engine)
    for number in range(50):
        restore(engine, target=f"old-{number}")
    refusal = error(
        engine,
        "RestoreTableToPointInTime",
        SourceTableName="notes",
        TargetTableName="one-more",
        UseLatestRestorableTime=True,
    )
    assert isinstance(refusal, wire.LimitExceededException)
    assert refusal.message == (
        "Subscriber limit exceeded: Only 50 restore operations can be done simultaneously"
    )
    engine.tidy()
    assert len(call(engine, "ListTables")["TableNames"]) == 51


def test_recovery_may_be_switched_off_while_a_restore_runs(engine: Engine, clock: Clock) -> None:
    switch(engine)
    put(engine, "a", "old")
    restore(engine)
    put(engine, "a", "new")
    switch(engine, on=False)
    put(engine, "a", "newer")
    clock.now += 50 * DAY
    engine.tidy()
    assert items(engine, "old") == {"a": "old"}
    assert not {name for name in physical_tables(engine) if name.startswith("l")}


# --- Overrides ------------------------------------------------------------------------------


def test_billing_indexes_and_encryption_may_be_overridden(engine: Engine) -> None:
    switch(engine)
    put(engine, "a", "x")
    restore(
        engine,
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride={"ReadCapacityUnits": 3, "WriteCapacityUnits": 4},
        GlobalSecondaryIndexOverride=[],
        SSESpecificationOverride={"Enabled": True},
    )
    engine.tidy()
    table = describe_table(engine, "old")
    assert "GlobalSecondaryIndexes" not in table and "BillingModeSummary" not in table
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 4
    assert table["SSEDescription"]["Status"] == "ENABLED"
    assert [definition["AttributeName"] for definition in table["AttributeDefinitions"]] == ["p"]
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}
    restore(
        engine,
        target="older",
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride=units,
        GlobalSecondaryIndexOverride=[{**BY_G, "ProvisionedThroughput": units}],
    )
    engine.tidy()
    (index,) = describe_table(engine, "older")["GlobalSecondaryIndexes"]
    assert index["ProvisionedThroughput"]["WriteCapacityUnits"] == 2 and index["ItemCount"] == 1


def test_indexes_may_be_renamed(engine: Engine) -> None:
    """(DDB-TABLE-280 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    switch(engine)
    put(engine, "a", "x")
    renamed = {**BY_G, "IndexName": "by_other_name"}
    restore(engine, GlobalSecondaryIndexOverride=[renamed])
    engine.tidy()
    (index,) = describe_table(engine, "old")["GlobalSecondaryIndexes"]
    assert (index["IndexName"], index["ItemCount"]) == ("by_other_name", 1)


NO_INDEX = (
    "does not match a secondary index that existed in the source table and cannot be created "
    "during the restore operation"
)


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        (
            {"GlobalSecondaryIndexOverride": [index("new", key_schema("p"))]},
            f"Index new {NO_INDEX}",
        ),
        (
            {"GlobalSecondaryIndexOverride": [index("by_g", key_schema("g"), "KEYS_ONLY")]},
            f"Index by_g {NO_INDEX}",
        ),
        (
            {"BillingModeOverride": "PROVISIONED"},
            "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED",
        ),
        (
            {"ProvisionedThroughputOverride": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}},
            "Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED",
        ),
    ],
)
def test_an_override_that_does_not_fit_is_refused(
    engine: Engine, override: dict[str, Any], reason: str
) -> None:
    switch(engine)
    if "BillingModeOverride" in override:
        override = {**override, "GlobalSecondaryIndexOverride": []}
    refusal = error(
        engine,
        "RestoreTableToPointInTime",
        SourceTableName="notes",
        TargetTableName="old",
        UseLatestRestorableTime=True,
        **override,
    )
    assert isinstance(refusal, wire.ValidationException)
    assert refusal.message == f"Invalid Request: {reason}"
    assert call(engine, "ListTables")["TableNames"] == ["notes"]


# --- Deleted tables -------------------------------------------------------------------------


def test_a_deleted_table_is_restored_for_35_days(engine: Engine, clock: Clock) -> None:
    switch(engine)
    put(engine, "a", "1")
    at = clock.now
    clock.now += 60
    put(engine, "a", "2")
    call(engine, "DeleteTable", TableName="notes")
    clock.now += 30 * DAY
    engine.tidy()
    call(
        engine,
        "RestoreTableToPointInTime",
        SourceTableArn=ARN,
        TargetTableName="notes",
        RestoreDateTime=at,
    )
    engine.tidy()
    assert items(engine, "notes") == {"a": "1"}
    clock.now += 6 * DAY
    engine.tidy()
    kept = {name for name in physical_tables(engine) if name[0] in "tl" and name[1:].isdigit()}
    assert kept == {engine._database.catalogue.table("notes").rows}
    call(engine, "DeleteTable", TableName="notes")
    gone = error(
        engine,
        "RestoreTableToPointInTime",
        SourceTableArn=ARN,
        TargetTableName="again",
        UseLatestRestorableTime=True,
    )
    assert isinstance(gone, wire.TableNotFoundException)


def test_a_deleted_table_has_no_moment_after_its_end(engine: Engine, clock: Clock) -> None:
    switch(engine)
    put(engine, "a")
    call(engine, "DeleteTable", TableName="notes")
    ended = clock.now
    clock.now += 60
    refusal = error(
        engine,
        "RestoreTableToPointInTime",
        SourceTableArn=ARN,
        TargetTableName="again",
        RestoreDateTime=ended + 1,
    )
    assert isinstance(refusal, wire.InvalidRestoreTimeException)


# --- Reading the log ------------------------------------------------------------------------


def test_the_engine_reads_a_change_log_in_order(engine: Engine, clock: Clock) -> None:
    assert engine.changes("notes") == []
    switch(engine)
    put(engine, "a", "1")
    clock.now += 5
    put(engine, "a", "2")
    first, second = engine.changes("notes")
    assert first == TableChange(2, clock.now - 5, {"p": s("a")}, None)
    assert second == TableChange(3, clock.now, {"p": s("a")}, {"p": s("a"), "g": s("1")})
    assert engine.changes("notes", after=2) == [second]
    assert engine.changes("notes", limit=1) == [first]


def test_a_change_of_a_damaged_item_is_reported_with_its_key(engine: Engine) -> None:
    switch(engine)
    put(engine, "a", "1")
    put(engine, "a", "2")
    log = engine._database.catalogue.table("notes").log
    engine._database.committer.run(
        lambda transaction: transaction.execute(f"UPDATE {log} SET item = x'7b'")
    )
    with pytest.raises(DamagedFileException, match=r'The item {"p":{"S":"a"}} of table notes'):
        engine.changes("notes")


def test_numbers_are_keys_too(engine: Engine) -> None:
    make_table(engine, {"p": "N"}, name="numbers", keys=("p",))
    switch(engine, table="numbers")
    call(engine, "PutItem", TableName="numbers", Item={"p": n("1.50")})
    (change,) = engine.changes("numbers")
    assert change.key == {"p": n("1.5")}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"UseLatestRestorableTime": None}, "Invalid Request: Either one of RestoreDateTime or "),
        ({"RestoreDateTime": 1.0}, "Invalid Request: Both RestoreDateTime and UseLatestRestorable"),
        ({"SourceTableName": None}, "The parameter 'TableName' is required but was not present"),
        ({"SourceTableArn": ARN}, "Invalid Request: Must provide exactly one of: sourceTableArn, "),
        (
            {"SourceTableName": None, "SourceTableArn": "notes"},
            "One or more parameter values were invalid: ARNs must start with 'arn:': notes",
        ),
        (
            {"SourceTableName": None, "SourceTableArn": "arn:aws:notes"},
            "One or more parameter values were invalid: sourceTableArn is not a valid ARN",
        ),
        (
            {"SourceTableName": None, "SourceTableArn": ARN.replace("000000000000", "1" * 12)},
            "This action is only supported by accounts that match the resource owner",
        ),
    ],
)
def test_a_restore_is_refused_in_the_words_that_were_seen_on_aws(
    engine: Engine, changes: dict[str, Any], words: str
) -> None:
    """(DDB-TABLE-100 and -272 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    switch(engine)
    asked = {"SourceTableName": "notes", "TargetTableName": "old", "UseLatestRestorableTime": True}
    params = {name: value for name, value in {**asked, **changes}.items() if value is not None}
    refusal = error(engine, "RestoreTableToPointInTime", **params)
    assert isinstance(refusal, wire.ValidationException)
    assert refusal.message.startswith(words)


def test_no_days_are_given_to_a_recovery_that_is_switched_off(engine: Engine) -> None:
    wanted = {"PointInTimeRecoveryEnabled": False, "RecoveryPeriodInDays": 7}
    refusal = error(
        engine,
        "UpdateContinuousBackups",
        TableName="notes",
        PointInTimeRecoverySpecification=wanted,
    )
    assert refusal.message == (
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling "
        "point-in-time recovery."
    )
