"""Changing tables: what comes of an UpdateTable, and AWS's words when nothing does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.engine.storage import warm
from bigtime.engine.storage.definition import TableDefinition, Throughput
from bigtime.wire import (
    DynamoDBError,
    LimitExceededException,
    ResourceNotFoundException,
    ValidationException,
)
from tests.engine.calls import call
from tests.engine.declarations import (
    INVALID,
    ONE_AT_A_TIME,
    attributes,
    create_definition,
    index,
    keys,
    on_demand,
    plain,
    provisioned_request,
    request,
    units,
    update_definition,
    words,
)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"GlobalSecondaryIndexUpdates": []},
        {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "none", "WarmThroughput": {}}}]},
        {"TableClass": "FAST"},
        {"DeletionProtectionEnabled": True, "SSESpecification": {"Enabled": True}},
    ],
)
def test_a_request_is_checked_before_its_table_is_looked_for(
    engine: Engine, params: dict[str, Any]
) -> None:
    """(DDB-TABLE-015 and -456 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    with pytest.raises(ValidationException):
        call(engine, "UpdateTable", TableName="missing", **params)


# (DDB-TABLE-152 and -456 of https://github.com/aws-controllers-k8s/dynamodb-controller)
ONLY_MAXIMA = (
    "The only Updates for index: index when TableThroughputMode is PAY_PER_REQUEST can be to "
    "OnDemandThroughput, WarmThroughput"
)


def test_update_of_nothing_is_refused() -> None:
    assert words(lambda: update_definition(plain(), GlobalSecondaryIndexUpdates=[])) == (
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
        "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "
        "OnDemandThroughput, WarmThroughput or TableClass is required"
    )


def test_throughput_changes_are_dated() -> None:
    table = update_definition(plain(), ProvisionedThroughput=units(9, 2))
    assert table.throughput == Throughput(read=9, write=2)
    assert table.notes == {
        "LastIncreaseDateTime": 1_700_000_000.0,
        "LastDecreaseDateTime": 1_700_000_000.0,
        "NumberOfDecreasesToday": 1,
        "WarmThroughput": {"ReadUnitsPerSecond": 9, "WriteUnitsPerSecond": 5},
    }
    again = update_definition(table, ProvisionedThroughput=units(8, 2))
    assert again.notes["NumberOfDecreasesToday"] == 2


def test_throughput_that_does_not_change_is_refused() -> None:
    assert words(lambda: update_definition(plain(), ProvisionedThroughput=units(5, 5))) == (
        "The provisioned throughput for the table will not change. The requested value equals "
        "the current value. Current ReadCapacityUnits provisioned for the table: 5. Requested "
        "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 5. Requested "
        "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits "
        "and how to request higher limits."
    )


def test_switch_to_on_demand_clears_throughput_and_back_needs_it_for_every_index() -> None:
    paid = create_definition(
        provisioned_request(
            ProvisionedThroughput=units(),
            GlobalSecondaryIndexes=[index(ProvisionedThroughput=units())],
        )
    )
    table = update_definition(paid, BillingMode="PAY_PER_REQUEST")
    assert (table.billing_mode, table.throughput) == ("PAY_PER_REQUEST", Throughput())
    assert table.indexes[0].throughput == Throughput()
    assert update_definition(table, BillingMode="PAY_PER_REQUEST") == table
    back = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)}
    assert words(lambda: update_definition(table, **back)) == (
        INVALID + "ProvisionedThroughput must be specified for index: index"
    )
    update = {"Update": {"IndexName": "index", "ProvisionedThroughput": units(2, 2)}}
    table = update_definition(table, **back, GlobalSecondaryIndexUpdates=[update])
    assert (table.billing_mode, table.throughput.read) == ("PROVISIONED", 1)
    assert table.indexes[0].throughput == Throughput(read=2, write=2)


def test_billing_mode_and_throughput_must_agree() -> None:
    assert words(lambda: update_definition(plain(), BillingMode="PROVISIONED")) == (
        INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
    )
    assert words(lambda: update_definition(on_demand(), ProvisionedThroughput=units())) == (
        INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
        "BillingMode is PAY_PER_REQUEST"
    )


@pytest.mark.parametrize("table", [plain(), on_demand()])
def test_a_switch_to_on_demand_takes_no_throughput(table: TableDefinition) -> None:
    """(DDB-TABLE-056 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    switch = {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": units()}
    assert words(lambda: update_definition(table, **switch)) == (
        INVALID + "ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST"
    )


def test_a_table_that_has_all_its_global_indexes_takes_no_other() -> None:
    """(DDB-TABLE-169 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    indexes = [index(f"index-{number}", keys("c")) for number in range(20)]
    table = create_definition(request("abc", GlobalSecondaryIndexes=indexes))
    another = {
        "AttributeDefinitions": attributes("d"),
        "GlobalSecondaryIndexUpdates": create_index(),
    }
    assert words(lambda: update_definition(table, **another), LimitExceededException) == (
        "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit "
        "of 20"
    )


def create_index(name: str = "fresh", schema: Any = None, **more: Any) -> list[dict[str, Any]]:
    return [{"Create": index(name, schema or keys("d"), **more)}]


def test_new_index_is_to_be_built_and_its_attributes_are_added() -> None:
    table = update_definition(
        on_demand(),
        AttributeDefinitions=attributes("d"),
        GlobalSecondaryIndexUpdates=create_index(),
    )
    assert [attribute.name for attribute in table.attributes] == ["a", "b", "c", "d"]
    fresh = table.index("fresh")
    assert fresh is not None
    assert (fresh.building, fresh.number, fresh.is_global) == (True, 0, True)


def test_index_deleted_takes_its_attributes_along() -> None:
    before = on_demand()
    delete = [{"Delete": {"IndexName": "index"}}]
    table = update_definition(before, GlobalSecondaryIndexUpdates=delete)
    assert table == create_definition(request())
    assert words(
        lambda: update_definition(table, GlobalSecondaryIndexUpdates=delete),
        ResourceNotFoundException,
    ) == ("Requested resource not found: Index index for table table")


def test_index_made_and_deleted_leaves_the_table_as_it_was() -> None:
    before = on_demand()
    made = update_definition(
        before,
        AttributeDefinitions=attributes("d"),
        GlobalSecondaryIndexUpdates=create_index(WarmThroughput={"ReadUnitsPerSecond": 20_000}),
    )
    delete = [{"Delete": {"IndexName": "fresh"}}]
    assert update_definition(made, GlobalSecondaryIndexUpdates=delete) == before


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        (
            {"GlobalSecondaryIndexUpdates": [{}]},
            ValidationException,
            INVALID + "One of GlobalSecondaryIndexUpdate.Update, "
            "GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "index"}}] * 2},
            ValidationException,
            INVALID + "Only one global secondary index update per index is allowed simultaneously. "
            "Index: index",
        ),
        (
            {"GlobalSecondaryIndexUpdates": create_index("one") + create_index("two")},
            LimitExceededException,
            ONE_AT_A_TIME,
        ),
        (
            {"GlobalSecondaryIndexUpdates": create_index(schema=keys("a"))},
            ValidationException,
            INVALID + "AttributeDefinitions is not specified for index: fresh",
        ),
        (
            {
                "AttributeDefinitions": attributes("b"),
                "GlobalSecondaryIndexUpdates": create_index(schema=keys("a")),
            },
            ValidationException,
            "Invalid KeySchema: Some index key attribute have no definition",
        ),
        (
            {
                "AttributeDefinitions": attributes("d"),
                "GlobalSecondaryIndexUpdates": [
                    {**create_index()[0], "Delete": {"IndexName": "index"}}
                ],
            },
            ValidationException,
            INVALID + "Only one global secondary index action is allowed per "
            "GlobalSecondaryIndexUpdate object",
        ),
        (
            {
                "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "N"}],
                "GlobalSecondaryIndexUpdates": create_index(schema=keys("a")),
            },
            ValidationException,
            INVALID + "Attributes cannot be redefined. Please check that your attribute has the "
            "same type as previously defined. Existing schema: Schema:[SchemaElement: "
            "key{a:S:HASH}, SchemaElement: key{b:S:RANGE}] "
            "New schema: Schema:[SchemaElement: key{a:N:HASH}]",
        ),
        (
            {
                "AttributeDefinitions": attributes("d"),
                "GlobalSecondaryIndexUpdates": create_index("index"),
            },
            ValidationException,
            "Attempting to create an index which already exists",
        ),
        (
            {
                "AttributeDefinitions": attributes("d"),
                "GlobalSecondaryIndexUpdates": create_index(ProvisionedThroughput=units()),
            },
            ValidationException,
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for "
            "index: fresh when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Update": {"IndexName": "other", "ProvisionedThroughput": units()}}
                ]
            },
            ResourceNotFoundException,
            "Requested resource not found: Index other for table table",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "index"}}]},
            ValidationException,
            INVALID + ONLY_MAXIMA,
        ),
        (
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Update": {"IndexName": "index", "OnDemandThroughput": {}}}
                ]
            },
            ValidationException,
            INVALID + ONLY_MAXIMA,
        ),
        (
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Update": {"IndexName": "index", "ProvisionedThroughput": units()}}
                ]
            },
            ValidationException,
            INVALID + ONLY_MAXIMA,
        ),
        (
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Update": {"IndexName": "index", "WarmThroughput": {}}}
                ]
            },
            ValidationException,
            INVALID + "WarmThroughput must have at least one of ReadUnitsPerSecond or "
            "WriteUnitsPerSecond specified for index: index",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [], "BillingMode": "PAY_PER_REQUEST"},
            ValidationException,
            INVALID + "List of GlobalSecondaryIndexUpdates is empty",
        ),
    ],
)
def test_bad_index_update_is_refused(
    params: dict[str, Any], kind: type[DynamoDBError], message: str
) -> None:
    assert words(lambda: update_definition(on_demand(), **params), kind) == message


@pytest.mark.parametrize("verb", ["Update", "Delete"])
def test_a_local_index_stays_as_it_is(verb: str) -> None:
    table = create_definition(
        request("abc", LocalSecondaryIndexes=[index("local", keys("a", "c"))])
    )
    units_of = {"OnDemandThroughput": {"MaxReadRequestUnits": 1}} if verb == "Update" else {}
    updates = [{verb: {"IndexName": "local", **units_of}}]
    assert words(lambda: update_definition(table, GlobalSecondaryIndexUpdates=updates)) == (
        f"Cannot {verb.lower()} an index that is not a GlobalSecondaryIndex: local"
    )


def test_throughput_of_an_index_that_does_not_change_is_refused() -> None:
    table = create_definition(
        provisioned_request(
            ProvisionedThroughput=units(),
            GlobalSecondaryIndexes=[index(ProvisionedThroughput=units(3, 4))],
        )
    )
    update = {"Update": {"IndexName": "index", "ProvisionedThroughput": units(3, 4)}}
    assert words(lambda: update_definition(table, GlobalSecondaryIndexUpdates=[update])).startswith(
        "The provisioned throughput for the index index will not change. "
        "The requested value equals the current value. "
    )


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        (
            {"ProvisionedThroughput": units(9, 9), "StreamSpecification": {"StreamEnabled": False}},
            "You cannot modify stream status while updating table IOPS",
        ),
        (
            {
                "ProvisionedThroughput": units(9, 9),
                "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "index"}}],
            },
            "You cannot create or delete index while updating table IOPS",
        ),
        (
            {
                "StreamSpecification": {"StreamEnabled": False},
                "GlobalSecondaryIndexUpdates": create_index(),
            },
            "You cannot create or delete index while changing stream status",
        ),
    ],
)
def test_changes_that_do_not_go_together(params: dict[str, Any], problem: str) -> None:
    assert words(lambda: update_definition(plain(), **params)) == INVALID + problem


def test_second_index_waits_until_the_first_is_built() -> None:
    before = on_demand()
    busy = replace(before, indexes=(replace(before.indexes[0], building=True),))
    create = {
        "AttributeDefinitions": attributes("d"),
        "GlobalSecondaryIndexUpdates": create_index(),
    }
    assert words(lambda: update_definition(busy, **create), LimitExceededException) == ONE_AT_A_TIME


def test_no_index_is_deleted_while_another_is_built() -> None:
    before = on_demand()
    building = update_definition(
        before, AttributeDefinitions=attributes("d"), GlobalSecondaryIndexUpdates=create_index()
    )
    delete = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "index"}}]}
    refused = words(lambda: update_definition(building, **delete), LimitExceededException)
    assert refused == ONE_AT_A_TIME
    give_up = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "fresh"}}]}
    assert update_definition(building, **give_up) == before


def test_new_index_of_a_provisioned_table_needs_throughput() -> None:
    create = {
        "AttributeDefinitions": attributes("d"),
        "GlobalSecondaryIndexUpdates": create_index(),
    }
    assert words(lambda: update_definition(plain(), **create)) == (
        INVALID + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: fresh"
    )


def test_stream_is_switched_on_and_off_and_never_twice() -> None:
    on = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}}
    off = {"StreamSpecification": {"StreamEnabled": False}}
    table = update_definition(plain(), **on)
    assert table.stream is not None
    assert (table.stream.enabled, table.stream.number, table.stream.label) == (True, 0, "")
    assert words(lambda: update_definition(table, **on)) == (
        "Table already has an enabled stream: TableName: table"
    )
    closed = update_definition(table, **off)
    assert closed.stream == replace(table.stream, enabled=False)
    assert words(lambda: update_definition(closed, **off)) == (
        "Table has no stream to disable: TableName: table"
    )
    assert update_definition(closed, **on).stream == table.stream


def test_view_type_goes_with_switching_on_only() -> None:
    on = {"StreamSpecification": {"StreamEnabled": True}}
    off = {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}}
    assert words(lambda: update_definition(plain(), **on)) == (
        INVALID + "If stream is being enabled then UpdateViewType is required"
    )
    assert words(lambda: update_definition(plain(), **off)) == (
        INVALID + "If stream is being disabled, then UpdateViewType must not be specified"
    )


def test_encryption_protection_and_class_change() -> None:
    key = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "key"}
    table = update_definition(plain(), SSESpecification=key)
    table = update_definition(table, DeletionProtectionEnabled=True)
    table = update_definition(table, TableClass="STANDARD_INFREQUENT_ACCESS")
    assert table.sse == {"SSEType": "KMS", "KMSMasterKeyId": "key"}
    assert table.deletion_protected
    assert table.table_class == "STANDARD_INFREQUENT_ACCESS"
    assert not update_definition(table, DeletionProtectionEnabled=False).deletion_protected
    arn = "arn:aws:kms:us-east-1:000000000000:key/key"
    same = {"SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": arn}}
    assert words(lambda: update_definition(table, **same)) == (
        INVALID + "Table is already encrypted with given KMSMasterKeyId. "
        "Use KMSMasterKeyId parameter if you want to change Master Key"
    )
    off: dict[str, Any]
    for off in ({"Enabled": False}, {}):
        assert words(partial(update_definition, plain(), SSESpecification=off)) == (
            INVALID + "Table is already encrypted by default"
        )


def test_a_key_that_is_not_named_by_its_arn_is_set_again() -> None:
    """(DDB-TABLE-044, -082 and -141 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    table = update_definition(plain(), SSESpecification={"SSEType": "KMS"})
    assert table.sse == {"SSEType": "KMS", "KMSMasterKeyId": "alias/aws/dynamodb"}
    again: dict[str, Any]
    for again in ({"Enabled": True}, {"SSEType": "KMS"}, {"Enabled": True, "SSEType": "KMS"}):
        assert update_definition(table, SSESpecification=again) == table


def test_the_class_that_a_table_has_by_default_is_no_change() -> None:
    """(DDB-TABLE-177 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    assert update_definition(plain(), TableClass="STANDARD") == plain()
    rare = update_definition(plain(), TableClass="STANDARD_INFREQUENT_ACCESS")
    assert update_definition(rare, TableClass="STANDARD").table_class == "STANDARD"


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        (
            {"SSESpecification": {"Enabled": True}, "DeletionProtectionEnabled": True},
            "Server-Side Encryption modification must be the only operation in the request",
        ),
        (
            {"TableClass": "STANDARD", "DeletionProtectionEnabled": True},
            "TableClass modification must be the only operation in the request",
        ),
        (
            {"DeletionProtectionEnabled": True, "BillingMode": "PAY_PER_REQUEST"},
            "DeletionProtection modification must be the only operation in the request",
        ),
        (
            {
                "WarmThroughput": {"ReadUnitsPerSecond": 20_000},
                "StreamSpecification": {"StreamEnabled": False},
            },
            "WarmThroughput must be the only operation in the request",
        ),
        (
            {
                "OnDemandThroughput": {"MaxReadRequestUnits": 5},
                "StreamSpecification": {"StreamEnabled": False},
            },
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        ),
    ],
)
def test_a_change_that_must_come_alone(params: dict[str, Any], problem: str) -> None:
    assert words(lambda: update_definition(on_demand(), **params)) == INVALID + problem


def test_warm_throughput_only_grows() -> None:
    table = update_definition(on_demand(), WarmThroughput={"ReadUnitsPerSecond": 20_000})
    assert table.notes["WarmThroughput"] == {
        "ReadUnitsPerSecond": 20_000,
        "WriteUnitsPerSecond": 4_000,
    }
    assert words(
        lambda: update_definition(table, WarmThroughput={"ReadUnitsPerSecond": 19_999})
    ) == (
        INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than "
        "current WarmThroughput, decreasing WarmThroughput is not supported"
    )
    update = {"Update": {"IndexName": "index", "WarmThroughput": {"WriteUnitsPerSecond": 3_999}}}
    assert words(lambda: update_definition(table, GlobalSecondaryIndexUpdates=[update])) == (
        INVALID + "Requested WriteUnitsPerSecond for WarmThroughput for index index is lower than "
        "current WarmThroughput, decreasing WarmThroughput is not supported"
    )


def test_warm_throughput_stays_when_throughput_decreases() -> None:
    """(DDB-TABLE-061, -134 and -153 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    table = create_definition(
        provisioned_request(
            ProvisionedThroughput=units(),
            GlobalSecondaryIndexes=[index(ProvisionedThroughput=units(13_000, 4_500))],
        )
    )

    def warmth(table: TableDefinition) -> list[tuple[int, int]]:
        by_index = table.notes.get("indexes", {}).get("index", {})
        every = (
            warm(table, table.throughput, table.notes),
            warm(table, table.indexes[0].throughput, by_index),
        )
        return [(each["ReadUnitsPerSecond"], each["WriteUnitsPerSecond"]) for each in every]

    less = {"Update": {"IndexName": "index", "ProvisionedThroughput": units(1, 1)}}
    table = update_definition(table, GlobalSecondaryIndexUpdates=[less])
    table = update_definition(table, ProvisionedThroughput=units(9, 9))
    table = update_definition(table, ProvisionedThroughput=units(2, 1))
    assert warmth(table) == [(9, 9), (13_000, 4_500)]
    assert words(lambda: update_definition(table, WarmThroughput={"ReadUnitsPerSecond": 8})) == (
        INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than "
        "current WarmThroughput, decreasing WarmThroughput is not supported"
    )
    table = update_definition(table, BillingMode="PAY_PER_REQUEST")
    assert warmth(table) == [(12_000, 4_000), (13_000, 4_500)]
    back = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)}
    table = update_definition(table, **back, GlobalSecondaryIndexUpdates=[less])
    assert warmth(table) == [(12_000, 4_000), (13_000, 4_500)]


def test_on_demand_ceilings_merge_and_minus_one_takes_one_away() -> None:
    table = on_demand(OnDemandThroughput={"MaxReadRequestUnits": 20, "MaxWriteRequestUnits": 15})
    table = update_definition(table, OnDemandThroughput={"MaxReadRequestUnits": 40})
    both = {"MaxReadRequestUnits": 40, "MaxWriteRequestUnits": 15}
    assert table.notes["OnDemandThroughput"] == both
    table = update_definition(table, OnDemandThroughput={"MaxWriteRequestUnits": -1})
    assert table.notes["OnDemandThroughput"] == {"MaxReadRequestUnits": 40}
    update = {"Update": {"IndexName": "index", "OnDemandThroughput": both}}
    table = update_definition(table, GlobalSecondaryIndexUpdates=[update])
    assert table.notes["indexes"] == {"index": {"OnDemandThroughput": both}}
    assert words(lambda: update_definition(plain(), OnDemandThroughput=both)) == (
        INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "
        "BillingMode is PROVISIONED"
    )
    assert words(
        lambda: update_definition(table, OnDemandThroughput={"MaxReadRequestUnits": 0})
    ) == (
        INVALID
        + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"
    )


def test_provisioned_billing_ends_on_demand_ceilings() -> None:
    table = create_definition(request(OnDemandThroughput={"MaxReadRequestUnits": 20}))
    table = update_definition(table, BillingMode="PROVISIONED", ProvisionedThroughput=units())
    assert "OnDemandThroughput" not in table.notes


def test_throughput_changes_of_an_index_are_dated_and_decreases_counted_for_a_day() -> None:
    now = 1_700_000_000.0
    with Engine.memory(clock=lambda: now) as engine:
        call(
            engine,
            "CreateTable",
            **provisioned_request(
                ProvisionedThroughput=units(),
                GlobalSecondaryIndexes=[index(ProvisionedThroughput=units(8, 8))],
            ),
        )
        for read in (7, 6, 9):
            update = {"IndexName": "index", "ProvisionedThroughput": units(read, 8)}
            call(
                engine,
                "UpdateTable",
                TableName="table",
                GlobalSecondaryIndexUpdates=[{"Update": update}],
            )
        call(engine, "UpdateTable", TableName="table", ProvisionedThroughput=units(4, 5))
        dated = {"LastIncreaseDateTime": now, "LastDecreaseDateTime": now}
        wanted = {**dated, "NumberOfDecreasesToday": 2, **units(9, 8)}
        table = call(engine, "DescribeTable", TableName="table")["Table"]
        assert table["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == wanted
        assert table["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1
        now += 24 * 3600
        table = call(engine, "DescribeTable", TableName="table")["Table"]
        wanted["NumberOfDecreasesToday"] = 0
        assert table["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == wanted
        assert table["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0
