"""UpdateTable's replica updates, and what each replica shares or has for itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import Request
from tests.engine.regions import world
from tests.engine.regions.world import AWAY, HOME, THIRD

INVALID = "ValidationException: One or more parameter values were invalid: "


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.memory(housekeeping=False) as engine:
        yield engine


def test_a_new_replica_has_the_items_and_tells_when_it_is_active(engine: Engine) -> None:
    world.create(engine)
    for number in range(700):
        world.put(engine, str(number), body="x" * 100)
    answer = world.add_replica(engine)
    assert answer["TableStatus"] == "UPDATING"
    assert answer["GlobalTableVersion"] == "2019.11.21"
    assert answer["Replicas"] == []
    assert world.statuses(engine) == {AWAY: "CREATING"}
    assert answer["StreamSpecification"] == {
        "StreamEnabled": True,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }
    engine.tidy()
    away = engine.in_region(AWAY)
    assert world.statuses(engine) == {AWAY: "ACTIVE"}
    assert world.statuses(away) == {HOME: "ACTIVE"}
    assert world.describe(engine)["TableStatus"] == "ACTIVE"
    assert world.everything(away) == world.everything(engine)
    assert world.describe(away)["ItemCount"] == 700
    # What a replica begins with is no change of it.
    assert world.records(away) == []


def test_arns_carry_their_region(engine: Engine) -> None:
    away = world.make_replica(engine)
    assert f":{AWAY}:" in world.describe(away)["TableArn"]
    assert f":{AWAY}:" in world.describe(away)["LatestStreamArn"]
    assert f":{HOME}:" in world.describe(engine)["TableArn"]
    world.put(away, "a")
    assert {record["awsRegion"] for record in world.records(away)} == {AWAY}


def test_a_region_without_a_file_answers_as_the_home_region(engine: Engine) -> None:
    world.create(engine)
    elsewhere = engine.in_region("sa-east-1")
    assert world.describe(elsewhere) == world.describe(engine)
    assert world.LOCAL_REGION in world.refusal(lambda: world.add_replica(elsewhere, "sa-east-1"))
    assert not list(engine.path.parent.glob("*sa-east-1*"))


def test_a_declared_region_is_empty_and_its_own(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with Engine.open(path, regions=[AWAY]) as engine:
        world.create(engine)
        assert engine.in_region(AWAY)(Request("ListTables", {}))["TableNames"] == []
        assert (tmp_path / f"shop.{AWAY}.db").is_file()
    with Engine.open(path) as engine:
        assert engine.in_region(AWAY)(Request("ListTables", {}))["TableNames"] == []
    with pytest.raises(ValueError, match="not the name of a region"):
        Engine.open(path, regions=["../../etc/passwd"])


def test_what_may_not_be_replicated_is_refused_in_awss_words(engine: Engine) -> None:
    world.create(engine)
    assert world.refusal(lambda: world.add_replica(engine, HOME)) == (
        "ValidationException: Cannot add or delete the local region through "
        "ReplicaUpdates. Use CreateTable, DeleteTable, or UpdateTable as required."
    )
    world.add_replica(engine)
    in_use = "ResourceInUseException: The resource which you are attempting to change is in use."
    assert world.refusal(lambda: world.add_replica(engine, THIRD)) == in_use
    protect = partial(world.call, engine, "UpdateTable", DeletionProtectionEnabled=True)
    assert world.refusal(protect) == in_use
    disable = {"StreamEnabled": False}
    assert "Disabling Stream is not allowed" in world.refusal(
        lambda: world.call(engine, "UpdateTable", StreamSpecification=disable)
    )
    engine.tidy()
    assert world.refusal(lambda: world.add_replica(engine)) == (
        "ValidationException: Failed to create a the new replica of table with name: "
        "\u2018orders\u2019 because one or more replicas already existed as tables."
    )
    world.delete_replica(engine)
    assert "already existed as tables" in world.refusal(lambda: world.add_replica(engine))
    assert world.refusal(lambda: world.add_replica(engine, THIRD)) == in_use
    engine.tidy()
    world.add_replica(engine)
    engine.tidy()
    assert world.refusal(
        lambda: world.call(engine, "UpdateTable", StreamSpecification=disable)
    ) == (INVALID + "Disabling Stream is not allowed for a Global Table replica.")
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    provisioned = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    assert world.refusal(lambda: world.call(engine, "UpdateTable", **provisioned)) == (
        "ValidationException: Table write capacity should either be Pay-Per-Request or AutoScaled."
    )


def test_a_provisioned_table_and_another_view_type_are_refused(engine: Engine) -> None:
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    key = [{"AttributeName": "id", "KeyType": "HASH"}]
    defined = [{"AttributeName": "id", "AttributeType": "S"}]
    world.call(
        engine,
        "CreateTable",
        KeySchema=key,
        AttributeDefinitions=defined,
        ProvisionedThroughput=units,
    )
    assert "Pay-Per-Request or AutoScaled" in world.refusal(lambda: world.add_replica(engine))
    world.call(engine, "DeleteTable")
    world.create(engine, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    assert "NEW_AND_OLD_IMAGES" in world.refusal(lambda: world.add_replica(engine))


def test_a_table_of_that_name_in_the_region_is_in_the_way(engine: Engine) -> None:
    world.create(engine)
    with Engine.memory(housekeeping=False, regions=[AWAY]) as other:
        world.create(other)
        world.create(other.in_region(AWAY))
        assert "already existed as tables" in world.refusal(lambda: world.add_replica(other))


def test_strong_consistency_and_witnesses_are_refused_with_a_sentence(engine: Engine) -> None:
    world.create(engine)
    action = {"ReplicaUpdates": [{"Create": {"RegionName": AWAY}}]}
    strong = {**action, "MultiRegionConsistency": "STRONG"}
    witness = {**action, "GlobalTableWitnessUpdates": [{"Create": {"RegionName": THIRD}}]}
    for params in (strong, witness):
        assert "EVENTUAL only" in world.refusal_in(engine, "UpdateTable", **params)
    eventual = {**action, "MultiRegionConsistency": "EVENTUAL"}
    assert world.call(engine, "UpdateTable", **eventual)
    engine.tidy()
    assert "MultiRegionConsistency" not in world.describe(engine)
    # DDB-TABLE-202 of https://github.com/aws-controllers-k8s/dynamodb-controller
    assert "ReplicaTransitRoleArn, DeletionProtectionEnabled" in world.refusal_in(
        engine, "UpdateTable", MultiRegionConsistency="EVENTUAL"
    )


REPLICA = {"RegionName": AWAY}


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        ([{}], "There are no actions specified in the Replica Update Action of the request."),
        (
            [{"Update": REPLICA}],
            "There are no actions specified in the Replica Update Action of the request.",
        ),
        (
            [{"Create": REPLICA, "Delete": REPLICA}],
            "Update table operation with more than one type of replica actions not allowed.",
        ),
        (
            [{"Create": {"RegionName": THIRD}}, {"Create": {"RegionName": "sa-east-1"}}],
            "Update table operation with more than one create or delete replica actions not "
            "allowed",
        ),
        (
            [{"Delete": {"RegionName": THIRD}}],
            "Update global table operation failed because one or more replicas were not part of "
            "the global table. Please retry the request without these replicas: [ap-south-1].",
        ),
        ([{"Create": {"RegionName": "EU-WEST-1"}}], "Region EU-WEST-1 is not supported."),
        (
            [{"Update": {**REPLICA, "ProvisionedThroughputOverride": {"ReadCapacityUnits": 1}}}],
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode "
            "is PAY_PER_REQUEST",
        ),
        (
            [{"Update": {**REPLICA, "KMSMasterKeyId": "alias/aws/dynamodb"}}],
            INVALID.removeprefix("ValidationException: ")
            + "KMSMasterKeyId must be specified for each replica.",
        ),
        (
            [{"Create": {"RegionName": THIRD, "KMSMasterKeyId": "alias/aws/dynamodb"}}],
            INVALID.removeprefix("ValidationException: ")
            + "KMSMasterKeyId must be specified for each replica.",
        ),
    ],
)
def test_what_is_no_change_of_replicas_is_refused(
    engine: Engine, updates: list[dict[str, Any]], message: str
) -> None:
    """(DDB-TABLE-203, -223, -265, -309 and -437 of aws-controllers-k8s/dynamodb-controller)"""
    world.make_replica(engine)
    assert world.refusal_in(engine, "UpdateTable", ReplicaUpdates=updates) == (
        f"ValidationException: {message}"
    )


def test_replicas_change_alone_and_the_same_one_twice_is_one(engine: Engine) -> None:
    """(DDB-TABLE-223, -224 and -307 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    world.create(engine)
    units = {"ReadCapacityUnits": 1}
    unknown = {"GlobalSecondaryIndexes": [{"IndexName": "none"}]}
    create = {"Create": {**REPLICA, "ProvisionedThroughputOverride": units, **unknown}}
    for other in (
        {"DeletionProtectionEnabled": True},
        {"SSESpecification": {"Enabled": True}},
        {"TableClass": "STANDARD"},
    ):
        assert world.refusal_in(engine, "UpdateTable", ReplicaUpdates=[create], **other) == (
            INVALID + "Replica modification must be the only operation in the request"
        )
    world.call(engine, "UpdateTable", ReplicaUpdates=[create, create])
    engine.tidy()
    assert world.describe(engine)["Replicas"] == [
        {
            **REPLICA,
            "ReplicaStatus": "ACTIVE",
            "WarmThroughput": {
                "ReadUnitsPerSecond": 12_000,
                "WriteUnitsPerSecond": 4_000,
                "Status": "ACTIVE",
            },
            "GlobalTableSettingsReplicationMode": "ENABLED_WITH_OVERRIDES",
        }
    ]


def test_replicas_have_keys_of_one_kind(engine: Engine) -> None:
    """(DDB-TABLE-309 and -313 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    world.create(engine, SSESpecification={"SSEType": "KMS", "KMSMasterKeyId": "here"})
    assert "KMSMasterKeyId must be specified for each replica." in world.refusal(
        lambda: world.add_replica(engine)
    )
    assert world.refusal(
        lambda: world.add_replica(engine, KMSMasterKeyId="alias/aws/dynamodb")
    ) == (INVALID + "All replica keys must either be Customer Managed CMK or AWS Managed CMK.")
    world.add_replica(engine, KMSMasterKeyId="there")
    engine.tidy()
    there = "arn:aws:kms:eu-west-1:000000000000:key/there"
    assert world.describe(engine)["Replicas"][0]["KMSMasterKeyId"] == there
    away = world.describe(engine.in_region(AWAY))
    assert away["SSEDescription"]["KMSMasterKeyArn"] == there


def test_the_source_stays_for_a_day_and_then_may_go() -> None:
    clock = world.HandClock()
    with Engine.memory(housekeeping=False, clock=clock) as engine:
        away = world.make_replica(engine)
        refusal = world.refusal(lambda: world.call(engine, "DeleteTable"))
        assert "acted as a source region for new replica(s)" in refusal
        clock.now += 24 * 3600 + 1
        world.put(away, "kept")
        world.call(engine, "DeleteTable")
        engine.tidy()
        # The replica goes on as a table of its own.
        assert "Replicas" not in world.describe(away)
        assert world.get(away, "kept")
        world.call(away, "UpdateTable", StreamSpecification={"StreamEnabled": False})


def test_a_deleted_replica_leaves_a_table_without_replicas(engine: Engine) -> None:
    away = world.make_replica(engine)
    world.call(away, "UpdateTable", DeletionProtectionEnabled=True)
    assert world.refusal(lambda: world.delete_replica(engine)) == (
        "ValidationException: Cannot delete table orders in region eu-west-1 because it has "
        "deletion protection enabled. Disable deletion protection first."
    )
    world.call(away, "UpdateTable", DeletionProtectionEnabled=False)
    answer = world.delete_replica(engine)["TableDescription"]
    assert answer["Replicas"][0]["ReplicaStatus"] == "ACTIVE"
    assert world.statuses(engine) == {AWAY: "DELETING"}
    engine.tidy()
    assert away(Request("ListTables", {}))["TableNames"] == []
    assert "GlobalTableVersion" not in world.describe(engine)
    # The words that Terraform's provider waits for.
    assert "request was not found" in world.refusal(lambda: world.delete_replica(engine))
    world.put(engine, "later")
    world.add_replica(engine)
    engine.tidy()
    assert world.everything(away) == world.everything(engine)
    world.delete_replica(engine)
    engine.tidy()
    world.call(engine, "DeleteTable")


def test_a_replica_deleted_in_its_own_region_leaves_the_group(engine: Engine) -> None:
    away = world.make_replica(engine, THIRD)
    world.call(away, "DeleteTable")
    engine.tidy()
    assert world.statuses(engine) == {THIRD: "ACTIVE"}
    assert world.statuses(engine.in_region(THIRD)) == {HOME: "ACTIVE"}


def test_indexes_time_to_live_and_encryption_are_shared(engine: Engine) -> None:
    away = world.make_replica(engine)
    world.put(engine, "a", status="new")
    new = {
        "IndexName": "by-status",
        "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    world.call(
        engine,
        "UpdateTable",
        AttributeDefinitions=[{"AttributeName": "status", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": new}],
    )
    engine.tidy()
    world.call(
        away,
        "UpdateTimeToLive",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"},
    )
    engine.tidy()
    world.call(engine, "UpdateTable", SSESpecification={"Enabled": True, "SSEType": "KMS"})
    engine.tidy()
    for region in (engine, away):
        status = world.call(region, "DescribeTimeToLive")["TimeToLiveDescription"]
        assert status == {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}
        (index,) = world.describe(region)["GlobalSecondaryIndexes"]
        assert (index["IndexName"], index["IndexStatus"]) == ("by-status", "ACTIVE")
        assert world.describe(region)["SSEDescription"]["SSEType"] == "KMS"
        found = world.call(
            region,
            "Query",
            IndexName="by-status",
            KeyConditionExpression="#s = :new",
            ExpressionAttributeNames={"#s": "status"},
            ExpressionAttributeValues={":new": {"S": "new"}},
        )
        assert found["Count"] == 1
    world.call(
        away, "UpdateTable", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-status"}}]
    )
    engine.tidy()
    assert "GlobalSecondaryIndexes" not in world.describe(engine)


def test_tags_protection_and_table_class_are_each_replicas_own(engine: Engine) -> None:
    world.create(engine, Tags=[{"Key": "team", "Value": "shop"}])
    world.add_replica(engine, TableClassOverride="STANDARD_INFREQUENT_ACCESS")
    engine.tidy()
    away = engine.in_region(AWAY)
    arn = world.describe(away)["TableArn"]
    assert away(Request("ListTagsOfResource", {"ResourceArn": arn}))["Tags"] == []
    world.call(engine, "UpdateTable", DeletionProtectionEnabled=True)
    engine.tidy()
    assert world.describe(away)["DeletionProtectionEnabled"] is False
    summary = {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    assert world.describe(away)["TableClassSummary"] == summary
    assert world.describe(engine)["Replicas"][0]["ReplicaTableClassSummary"] == summary
    assert "TableClassSummary" not in world.describe(engine)


def test_settings_of_a_replica_are_changed_from_any_region(engine: Engine) -> None:
    away = world.make_replica(engine)
    override = {"RegionName": AWAY, "OnDemandThroughputOverride": {"MaxReadRequestUnits": 50}}
    world.call(engine, "UpdateTable", ReplicaUpdates=[{"Update": override}])
    engine.tidy()
    assert world.describe(away)["OnDemandThroughput"] == {"MaxReadRequestUnits": 50}
    assert "OnDemandThroughput" not in world.describe(engine)


def test_overrides_of_indexes_are_kept_of_those_that_are_not_named(engine: Engine) -> None:
    """(DDB-TABLE-252 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    indexes = [
        {
            "IndexName": name,
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
        for name in ("one", "two")
    ]
    world.create(engine, GlobalSecondaryIndexes=indexes)
    world.add_replica(engine)
    engine.tidy()
    for name, most in (("one", 6), ("two", 7), ("one", 8)):
        override = {"OnDemandThroughputOverride": {"MaxReadRequestUnits": most}}
        update = {**REPLICA, "GlobalSecondaryIndexes": [{"IndexName": name, **override}]}
        world.call(engine, "UpdateTable", ReplicaUpdates=[{"Update": update}])
        engine.tidy()
    shown = world.describe(engine)["Replicas"][0]["GlobalSecondaryIndexes"]
    assert {
        each["IndexName"]: each["OnDemandThroughputOverride"]["MaxReadRequestUnits"]
        for each in shown
    } == {"one": 8, "two": 7}
    assert all(each["WarmThroughput"]["ReadUnitsPerSecond"] == 12_000 for each in shown)
    assert world.refusal_in(
        engine,
        "UpdateTable",
        ReplicaUpdates=[{"Update": {**REPLICA, "GlobalSecondaryIndexes": [{"IndexName": "one"}]}}],
    ).endswith("There are no actions specified in the Replica Update Action of the request.")


def test_the_older_calls_know_no_such_table(engine: Engine) -> None:
    world.make_replica(engine)

    def ask(operation: str, **params: object) -> object:
        return engine(Request(operation, params))

    assert ask("ListGlobalTables") == {"GlobalTables": []}
    # DDB-GLOBALTABLE-004 of https://github.com/aws-controllers-k8s/dynamodb-controller
    absent = "Global table with name: 'orders' does not exist."
    delete: Any = {"ReplicaUpdates": [{"Delete": {"RegionName": AWAY}}]}
    for operation, params, before in (
        ("DescribeGlobalTable", {}, "Global table not found: "),
        ("UpdateGlobalTable", delete, "Global table not found: "),
        ("DescribeGlobalTableSettings", {}, ""),
        ("UpdateGlobalTableSettings", {}, ""),
    ):
        refusal = world.refusal(partial(ask, operation, GlobalTableName="orders", **params))
        assert refusal == f"GlobalTableNotFoundException: {before}{absent}"
    add: Any = {"ReplicaUpdates": [{"Create": {"RegionName": AWAY}}]}
    assert "2017.11.29 is not supported" in world.refusal(
        partial(ask, "UpdateGlobalTable", GlobalTableName="missing", **add)
    )
    nothing = partial(ask, "UpdateGlobalTable", GlobalTableName="orders", ReplicaUpdates=[])
    assert f"{world.refusal(nothing)}: " == INVALID
    group = [{"RegionName": AWAY}]
    create = world.refusal(
        lambda: ask("CreateGlobalTable", GlobalTableName="orders", ReplicationGroup=group)
    )
    assert "2017.11.29" in create
    # DDB-TABLE-190, -232 and -255 of https://github.com/aws-controllers-k8s/dynamodb-controller
    off = {"AutoScalingDisabled": True, "ScalingPolicies": []}
    scaling = ask("DescribeTableReplicaAutoScaling", TableName="orders")
    assert scaling == {
        "TableAutoScalingDescription": {
            "TableName": "orders",
            "TableStatus": "ACTIVE",
            "Replicas": [
                {
                    "RegionName": region,
                    "GlobalSecondaryIndexes": [],
                    "ReplicaProvisionedReadCapacityAutoScalingSettings": off,
                    "ReplicaProvisionedWriteCapacityAutoScalingSettings": off,
                    "ReplicaStatus": "ACTIVE",
                }
                for region in (AWAY, HOME)
            ],
        }
    }
    scale = partial(ask, "UpdateTableReplicaAutoScaling", TableName="orders")
    disabled = {"AutoScalingDisabled": True}
    assert scale(ProvisionedWriteCapacityAutoScalingUpdate=disabled) == scaling
    most = {"MinimumUnits": 1, "MaximumUnits": 10}
    read: Any = {"RegionName": AWAY, "ReplicaProvisionedReadCapacityAutoScalingUpdate": most}
    changes: Any
    for changes, name in (
        ({"ProvisionedWriteCapacityAutoScalingUpdate": most}, "GlobalTableProvisionedWrite"),
        ({"ReplicaUpdates": [read]}, "ReplicaProvisionedRead"),
    ):
        assert world.refusal(partial(scale, **changes)) == (
            "ValidationException: Failed to update global table with name \u2018orders\u2018. "
            "Replicas 'EU-WEST-1', 'US-EAST-1' BillingMode is PayPerRequest. You must convert "
            "table's BillingMode to PROVISIONED to set parameters: "
            f"'{name}CapacityAutoScalingSettingsUpdate'."
        )
    assert world.refusal(scale) == (
        "ValidationException: Failed to update settings for global table with name: "
        "\u2018orders\u2019 because at least one update parameter must be specified."
    )
