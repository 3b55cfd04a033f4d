"""Declaring and changing tables: what comes of a request, and AWS's words when nothing does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine.operations.alter_table import updated_table, with_time_to_live
from bigtime.engine.operations.create_table import new_table
from bigtime.engine.operations.table_schema import tagged_resource, with_tags, without_tags
from bigtime.engine.storage.definition import KeyAttribute, TableDefinition, Throughput
from bigtime.engine.validation.shapes import check
from bigtime.wire import (
    DynamoDBError,
    LimitExceededException,
    ResourceNotFoundException,
    ValidationException,
)

INVALID = "One or more parameter values were invalid: "
ALL = {"ProjectionType": "ALL"}
ONE_AT_A_TIME = (
    "Subscriber limit exceeded: "
    "Only 1 online index can be created or deleted simultaneously per table"
)


def keys(hash_key: str, *range_key: str) -> list[dict[str, str]]:
    ranges = [{"AttributeName": name, "KeyType": "RANGE"} for name in range_key]
    return [{"AttributeName": hash_key, "KeyType": "HASH"}, *ranges]


def attributes(names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def units(read: int = 5, write: int = 5) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def index(name: str = "index", schema: Any = None, **more: Any) -> dict[str, Any]:
    return {"IndexName": name, "KeySchema": schema or keys("a", "b"), "Projection": ALL, **more}


def request(names: str = "ab", **more: Any) -> dict[str, Any]:
    return {
        "TableName": "table",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": attributes(names),
        "KeySchema": keys("a", "b"),
        **more,
    }


def provisioned(names: str = "ab", **more: Any) -> dict[str, Any]:
    return request(names, **{"BillingMode": "PROVISIONED", **more})


def created(params: dict[str, Any]) -> TableDefinition:
    return new_table(check("CreateTable", params))


def updated(table: TableDefinition, **params: Any) -> TableDefinition:
    checked = check("UpdateTable", {"TableName": table.name, **params})
    return updated_table(table, checked, now=1_700_000_000.0)


def words(call: Callable[[], object], kind: type[DynamoDBError] = ValidationException) -> str:
    with pytest.raises(DynamoDBError) as caught:
        call()
    assert type(caught.value) is kind
    return caught.value.message


def test_simple_table_has_its_key_and_nothing_else() -> None:
    table = created(
        {
            "TableName": "table",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}],
            "KeySchema": keys("id"),
            "ProvisionedThroughput": units(3, 4),
        }
    )
    key = KeyAttribute("id", "N")
    assert table == TableDefinition(
        "table", key, None, (key,), throughput=Throughput(read=3, write=4)
    )
    assert TableDefinition.from_json(table.to_json()) == table


def test_settings_of_a_new_table() -> None:
    table = created(
        request(
            DeletionProtectionEnabled=True,
            TableClass="STANDARD_INFREQUENT_ACCESS",
            SSESpecification={"Enabled": True},
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
            Tags=[{"Key": "owner", "Value": "me"}],
            OnDemandThroughput={"MaxReadRequestUnits": 9},
            WarmThroughput={"ReadUnitsPerSecond": 13_000},
        )
    )
    assert table.deletion_protected
    assert table.table_class == "STANDARD_INFREQUENT_ACCESS"
    assert table.sse == {"SSEType": "KMS", "KMSMasterKeyId": "alias/aws/dynamodb"}
    assert table.stream is not None
    assert (table.stream.view_type, table.stream.label, table.stream.number) == ("KEYS_ONLY", "", 0)
    assert table.tags == {"owner": "me"}
    assert table.notes == {
        "OnDemandThroughput": {"MaxReadRequestUnits": 9},
        "WarmThroughput": {"ReadUnitsPerSecond": 13_000},
    }
    assert TableDefinition.from_json(table.to_json()) == table


def test_indexes_of_a_new_table() -> None:
    schema = [
        {"AttributeName": name, "KeyType": kind}
        for name, kind in [("c", "HASH"), ("d", "HASH"), ("b", "RANGE"), ("a", "RANGE")]
    ]
    include = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y"]}
    table = created(
        request(
            "abcd",
            LocalSecondaryIndexes=[index("local", keys("a", "c"), Projection=include)],
            GlobalSecondaryIndexes=[index("global", schema)],
        )
    )
    local, wide = table.indexes
    assert (local.is_global, local.included, local.number) == (False, ("x", "y"), 0)
    assert [one.name for one in wide.hash_key] == ["c", "d"]
    assert [one.name for one in wide.range_key] == ["b", "a"]
    assert not wide.building


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            request(ProvisionedThroughput=units()),
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
        ),
        (
            provisioned(),
            INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
            "BillingMode is PROVISIONED",
        ),
        (
            provisioned(ProvisionedThroughput=units(read=1_000_000_000_001)),
            "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
        ),
        (
            provisioned(ProvisionedThroughput=units(write=1_000_000_000_001)),
            "Given value 1000000000001 for WriteCapacityUnits is out of bounds",
        ),
        (request("a"), "Invalid KeySchema: Some index key attribute have no definition"),
        (
            request("ac"),
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [a, b], AttributeDefinitions: [a, c]",
        ),
        (request("aba"), "Attribute Name is duplicated: a"),
        (
            request(KeySchema=keys("a", "a")),
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        ),
        (
            request(KeySchema=keys("a", "b")[::-1]),
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        ),
        (
            request(KeySchema=keys("a") + keys("b")),
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        ),
        (
            request("abc"),
            INVALID + "Number of attributes in KeySchema does not exactly match number of "
            "attributes defined in AttributeDefinitions",
        ),
        (
            request("abc", GlobalSecondaryIndexes=[index()]),
            INVALID + "Some AttributeDefinitions are not used. "
            "AttributeDefinitions: [a, b, c], keys used: [a, b]",
        ),
        (
            request(LocalSecondaryIndexes=[]),
            INVALID + "List of LocalSecondaryIndexes is empty",
        ),
        (
            request(KeySchema=keys("a"), LocalSecondaryIndexes=[index()]),
            INVALID + "Table KeySchema does not have a range key, which is required when "
            "specifying a LocalSecondaryIndex",
        ),
        (
            request(LocalSecondaryIndexes=[index(schema=keys("a", "z"))]),
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [a, z], AttributeDefinitions: [a, b]",
        ),
        (
            request(LocalSecondaryIndexes=[index(schema=keys("a"))]),
            INVALID + "Index KeySchema does not have a range key for index: index",
        ),
        (
            request(LocalSecondaryIndexes=[index(schema=keys("b", "a"))]),
            INVALID + "Index KeySchema does not have the same leading hash key as table KeySchema "
            "for index: index. index hash key: b, table hash key: a",
        ),
        (
            request(LocalSecondaryIndexes=[index(Projection={})]),
            INVALID + "Unknown ProjectionType: null",
        ),
        (
            request(GlobalSecondaryIndexes=[index(Projection={**ALL, "NonKeyAttributes": ["x"]})]),
            INVALID + "ProjectionType is ALL, but NonKeyAttributes is specified",
        ),
        (
            request(GlobalSecondaryIndexes=[index(Projection={"ProjectionType": "INCLUDE"})]),
            INVALID + "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
        (
            request(LocalSecondaryIndexes=[index(), index()]),
            INVALID + "Duplicate index name: index",
        ),
        (
            request(LocalSecondaryIndexes=[index()], GlobalSecondaryIndexes=[index()]),
            INVALID + "Duplicate index name: index",
        ),
        (
            request(LocalSecondaryIndexes=[index(f"index{n}") for n in range(6)]),
            INVALID + "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
        ),
        (
            request(GlobalSecondaryIndexes=[]),
            INVALID + "List of GlobalSecondaryIndexes is empty",
        ),
        (
            request(GlobalSecondaryIndexes=[index(f"index{n}") for n in range(21)]),
            INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20",
        ),
        (
            request(
                GlobalSecondaryIndexes=[
                    index(
                        f"index{n}",
                        Projection={
                            "ProjectionType": "INCLUDE",
                            "NonKeyAttributes": [f"x{m}" for m in range(20)],
                        },
                    )
                    for n in range(6)
                ]
            ),
            INVALID + "The total number of NonKeyAttributes of all secondary indexes exceeds "
            "the limit of 100",
        ),
        (
            request(GlobalSecondaryIndexes=[index(ProvisionedThroughput=units())]),
            INVALID + "ProvisionedThroughput should not be specified for index: index when "
            "BillingMode is PAY_PER_REQUEST",
        ),
        (
            provisioned(ProvisionedThroughput=units(), GlobalSecondaryIndexes=[index()]),
            INVALID + "ProvisionedThroughput is not specified for index: index",
        ),
        (
            provisioned(
                ProvisionedThroughput=units(),
                GlobalSecondaryIndexes=[index(ProvisionedThroughput=units(1_000_000_000_001))],
            ),
            "Given value 1000000000001 for ReadCapacityUnits is out of bounds for index index",
        ),
        (
            request(
                "abcde", GlobalSecondaryIndexes=[index(schema=[keys(name)[0] for name in "abcde"])]
            ),
            INVALID + "The KeySchema exceeds the maximum allowed number of HASH key attributes",
        ),
        (
            request("abcdef", GlobalSecondaryIndexes=[index(schema=keys("a", *"bcdef"))]),
            INVALID + "The KeySchema exceeds the maximum allowed number of RANGE key attributes",
        ),
        (
            request("abc", GlobalSecondaryIndexes=[index(schema=keys("a", "b") + keys("c"))]),
            INVALID + "All HASH key attributes must precede RANGE key attributes in the KeySchema",
        ),
        (
            request(StreamSpecification={"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}),
            INVALID + "Table is being created with a stream disabled, "
            "UpdateViewType should not be specified",
        ),
        (
            request(StreamSpecification={"StreamEnabled": True}),
            INVALID + "Table is being created with a stream enabled, UpdateViewType is required",
        ),
        (
            request(SSESpecification={"Enabled": True, "SSEType": "AES256"}),
            INVALID + "SSEType AES256 is not supported",
        ),
        (
            request(SSESpecification={"Enabled": False, "KMSMasterKeyId": "key"}),
            INVALID + "KMSMasterKeyId can not be specified if Enabled is false",
        ),
        (
            request(SSESpecification={"Enabled": False, "SSEType": "KMS"}),
            INVALID + "SSEType can not be specified if Enabled is false",
        ),
        (
            request(SSESpecification={"Enabled": True, "KMSMasterKeyId": "key"}),
            INVALID + "SSEType KMS is required if KMSMasterKeyId is specified",
        ),
        (
            request(
                GlobalSecondaryIndexes=[
                    index(
                        Projection={
                            "ProjectionType": "INCLUDE",
                            "NonKeyAttributes": ["x", "y", "x"],
                        }
                    )
                ]
            ),
            INVALID + "Duplicate element in NonKeyAttributes: x",
        ),
        (
            provisioned(
                ProvisionedThroughput=units(), OnDemandThroughput={"MaxWriteRequestUnits": 1}
            ),
            INVALID + "MaxWriteRequestUnits for OnDemandThroughput cannot be specified when table "
            "BillingMode is PROVISIONED.",
        ),
        (
            request(OnDemandThroughput={"MaxReadRequestUnits": -1}),
            INVALID + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside "
            "of valid range",
        ),
        (
            request(Tags=[{"Key": "a", "Value": ""}] * 2),
            "Duplicate Tag Keys provided as input: Duplicate Tag Key found a",
        ),
        (
            request(Tags=[{"Key": "aws:a", "Value": ""}]),
            "Tag Key cannot be prefixed with aws:, Key: aws:a",
        ),
        (
            request(Tags=[{"Key": "hi!", "Value": ""}]),
            "The Tag Key provided is invalid, Key: hi!",
        ),
        (
            request(Tags=[{"Key": "a b+-=._:/@\u00fc", "Value": "d%g"}]),
            "The Tag Value provided is invalid, Value: d%g",
        ),
        (
            request(Tags=[{"Key": f"a{n}", "Value": ""} for n in range(51)]),
            "Number of Tags exceed the current limit for the provided ResourceArn",
        ),
        (
            request(ResourcePolicy="{}"),
            INVALID + "Invalid policy document: Could not parse the policy: Statement is empty!",
        ),
        (
            request(VectorIndexes=[]),
            INVALID + "List of VectorIndexes is empty",
        ),
        (
            request(WarmThroughput={"ReadUnitsPerSecond": 11_999}),
            INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than "
            "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/"
            "latest/developerguide/warm-throughput.html",
        ),
        (
            provisioned(
                ProvisionedThroughput=units(),
                GlobalSecondaryIndexes=[
                    index(
                        ProvisionedThroughput=units(write=5),
                        WarmThroughput={"WriteUnitsPerSecond": 4},
                    )
                ],
            ),
            INVALID + "Requested WriteUnitsPerSecond for WarmThroughput for index index is lower "
            "than WriteCapacityUnits of ProvisionedThroughput",
        ),
    ],
)
def test_bad_declaration_is_refused_in_the_words_of_the_service(
    params: dict[str, Any], message: str
) -> None:
    assert words(lambda: created(params)) == message


# --- UpdateTable ----------------------------------------------------------------------------


def plain() -> TableDefinition:
    return created(provisioned(ProvisionedThroughput=units(5, 5)))


def on_demand(**more: Any) -> TableDefinition:
    return created(request("abc", GlobalSecondaryIndexes=[index(schema=keys("c"))], **more))


def test_update_of_nothing_is_refused() -> None:
    assert words(lambda: updated(plain(), GlobalSecondaryIndexUpdates=[])) == (
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
        "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "
        "OnDemandThroughput, WarmThroughput or TableClass is required"
    )


def test_throughput_changes_are_dated() -> None:
    table = updated(plain(), ProvisionedThroughput=units(9, 2))
    assert table.throughput == Throughput(read=9, write=2)
    assert table.notes == {
        "LastIncreaseDateTime": 1_700_000_000.0,
        "LastDecreaseDateTime": 1_700_000_000.0,
        "NumberOfDecreasesToday": 1,
    }
    again = updated(table, ProvisionedThroughput=units(8, 2))
    assert again.notes["NumberOfDecreasesToday"] == 2


def test_throughput_that_does_not_change_is_refused() -> None:
    assert words(lambda: updated(plain(), ProvisionedThroughput=units(5, 5))) == (
        "The provisioned throughput for the table will not change. The requested value equals "
        "the current value. Current ReadCapacityUnits provisioned for the table: 5. Requested "
        "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 5. Requested "
        "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits "
        "and how to request higher limits."
    )


def test_switch_to_on_demand_clears_throughput_and_back_needs_it_for_every_index() -> None:
    paid = created(
        provisioned(
            ProvisionedThroughput=units(),
            GlobalSecondaryIndexes=[index(ProvisionedThroughput=units())],
        )
    )
    table = updated(paid, BillingMode="PAY_PER_REQUEST")
    assert (table.billing_mode, table.throughput) == ("PAY_PER_REQUEST", Throughput())
    assert table.indexes[0].throughput == Throughput()
    assert updated(table, BillingMode="PAY_PER_REQUEST") == table
    back = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)}
    assert words(lambda: updated(table, **back)) == (
        INVALID + "ProvisionedThroughput must be specified for index: index"
    )
    update = {"Update": {"IndexName": "index", "ProvisionedThroughput": units(2, 2)}}
    table = updated(table, **back, GlobalSecondaryIndexUpdates=[update])
    assert (table.billing_mode, table.throughput.read) == ("PROVISIONED", 1)
    assert table.indexes[0].throughput == Throughput(read=2, write=2)


def test_billing_mode_and_throughput_must_agree() -> None:
    assert words(lambda: updated(plain(), BillingMode="PROVISIONED")) == (
        INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
    )
    assert words(lambda: updated(on_demand(), ProvisionedThroughput=units())) == (
        INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
        "BillingMode is PAY_PER_REQUEST"
    )


def create_index(name: str = "fresh", schema: Any = None, **more: Any) -> list[dict[str, Any]]:
    return [{"Create": index(name, schema or keys("d"), **more)}]


def test_new_index_is_to_be_built_and_its_attributes_are_added() -> None:
    table = updated(
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
    table = updated(before, GlobalSecondaryIndexUpdates=delete)
    assert table == created(request())
    assert words(
        lambda: updated(table, GlobalSecondaryIndexUpdates=delete), ResourceNotFoundException
    ) == ("Requested resource not found: Index index for table table")


def test_index_made_and_deleted_leaves_the_table_as_it_was() -> None:
    before = on_demand()
    made = updated(
        before,
        AttributeDefinitions=attributes("d"),
        GlobalSecondaryIndexUpdates=create_index(WarmThroughput={"ReadUnitsPerSecond": 20_000}),
    )
    delete = [{"Delete": {"IndexName": "fresh"}}]
    assert updated(made, GlobalSecondaryIndexUpdates=delete) == before


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
            INVALID + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for "
            "index: index",
        ),
    ],
)
def test_bad_index_update_is_refused(
    params: dict[str, Any], kind: type[DynamoDBError], message: str
) -> None:
    assert words(lambda: updated(on_demand(), **params), kind) == message


@pytest.mark.parametrize("verb", ["Update", "Delete"])
def test_a_local_index_stays_as_it_is(verb: str) -> None:
    table = created(request("abc", LocalSecondaryIndexes=[index("local", keys("a", "c"))]))
    units_of = {"OnDemandThroughput": {"MaxReadRequestUnits": 1}} if verb == "Update" else {}
    updates = [{verb: {"IndexName": "local", **units_of}}]
    assert words(lambda: updated(table, GlobalSecondaryIndexUpdates=updates)) == (
        f"Cannot {verb.lower()} an index that is not a GlobalSecondaryIndex: local"
    )


def test_throughput_of_an_index_that_does_not_change_is_refused() -> None:
    table = created(
        provisioned(
            ProvisionedThroughput=units(),
            GlobalSecondaryIndexes=[index(ProvisionedThroughput=units(3, 4))],
        )
    )
    update = {"Update": {"IndexName": "index", "ProvisionedThroughput": units(3, 4)}}
    assert words(lambda: updated(table, GlobalSecondaryIndexUpdates=[update])).startswith(
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
    assert words(lambda: updated(plain(), **params)) == INVALID + problem


def test_second_index_waits_until_the_first_is_built() -> None:
    before = on_demand()
    busy = replace(before, indexes=(replace(before.indexes[0], building=True),))
    create = {
        "AttributeDefinitions": attributes("d"),
        "GlobalSecondaryIndexUpdates": create_index(),
    }
    assert words(lambda: updated(busy, **create), LimitExceededException) == ONE_AT_A_TIME


def test_new_index_of_a_provisioned_table_needs_throughput() -> None:
    create = {
        "AttributeDefinitions": attributes("d"),
        "GlobalSecondaryIndexUpdates": create_index(),
    }
    assert words(lambda: updated(plain(), **create)) == (
        INVALID + "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: fresh"
    )


def test_stream_is_switched_on_and_off_and_never_twice() -> None:
    on = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}}
    off = {"StreamSpecification": {"StreamEnabled": False}}
    table = updated(plain(), **on)
    assert table.stream is not None
    assert (table.stream.enabled, table.stream.number, table.stream.label) == (True, 0, "")
    assert words(lambda: updated(table, **on)) == (
        "Table already has an enabled stream: TableName: table"
    )
    closed = updated(table, **off)
    assert closed.stream == replace(table.stream, enabled=False)
    assert words(lambda: updated(closed, **off)) == (
        "Table has no stream to disable: TableName: table"
    )
    assert updated(closed, **on).stream == table.stream


def test_view_type_goes_with_switching_on_only() -> None:
    on = {"StreamSpecification": {"StreamEnabled": True}}
    off = {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}}
    assert words(lambda: updated(plain(), **on)) == (
        INVALID + "If stream is being enabled then UpdateViewType is required"
    )
    assert words(lambda: updated(plain(), **off)) == (
        INVALID + "If stream is being disabled, then UpdateViewType must not be specified"
    )


def test_encryption_protection_and_class_change() -> None:
    key = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "key"}
    table = updated(plain(), SSESpecification=key)
    table = updated(table, DeletionProtectionEnabled=True)
    table = updated(table, TableClass="STANDARD_INFREQUENT_ACCESS")
    assert table.sse == {"SSEType": "KMS", "KMSMasterKeyId": "key"}
    assert table.deletion_protected
    assert table.table_class == "STANDARD_INFREQUENT_ACCESS"
    assert not updated(table, DeletionProtectionEnabled=False).deletion_protected
    same = {"SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "key"}}
    assert words(lambda: updated(table, **same)) == (
        INVALID + "Table is already encrypted with given KMSMasterKeyId. "
        "Use KMSMasterKeyId parameter if you want to change Master Key"
    )
    assert words(lambda: updated(plain(), SSESpecification={"Enabled": False})) == (
        INVALID + "Table is already encrypted by default"
    )


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
    assert words(lambda: updated(on_demand(), **params)) == INVALID + problem


def test_warm_throughput_only_grows() -> None:
    table = updated(on_demand(), WarmThroughput={"ReadUnitsPerSecond": 20_000})
    assert table.notes["WarmThroughput"] == {
        "ReadUnitsPerSecond": 20_000,
        "WriteUnitsPerSecond": 4_000,
    }
    assert words(lambda: updated(table, WarmThroughput={"ReadUnitsPerSecond": 19_999})) == (
        INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than "
        "current WarmThroughput, decreasing WarmThroughput is not supported"
    )
    update = {"Update": {"IndexName": "index", "WarmThroughput": {"WriteUnitsPerSecond": 3_999}}}
    assert words(lambda: updated(table, GlobalSecondaryIndexUpdates=[update])) == (
        INVALID + "Requested WriteUnitsPerSecond for WarmThroughput for index index is lower than "
        "current WarmThroughput, decreasing WarmThroughput is not supported"
    )


def test_on_demand_ceilings_merge_and_minus_one_takes_one_away() -> None:
    table = on_demand(OnDemandThroughput={"MaxReadRequestUnits": 20, "MaxWriteRequestUnits": 15})
    table = updated(table, OnDemandThroughput={"MaxReadRequestUnits": 40})
    both = {"MaxReadRequestUnits": 40, "MaxWriteRequestUnits": 15}
    assert table.notes["OnDemandThroughput"] == both
    table = updated(table, OnDemandThroughput={"MaxWriteRequestUnits": -1})
    assert table.notes["OnDemandThroughput"] == {"MaxReadRequestUnits": 40}
    update = {"Update": {"IndexName": "index", "OnDemandThroughput": both}}
    table = updated(table, GlobalSecondaryIndexUpdates=[update])
    assert table.notes["indexes"] == {"index": {"OnDemandThroughput": both}}
    assert words(lambda: updated(plain(), OnDemandThroughput=both)) == (
        INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "
        "BillingMode is PROVISIONED"
    )
    assert words(lambda: updated(table, OnDemandThroughput={"MaxReadRequestUnits": 0})) == (
        INVALID
        + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range"
    )


def test_provisioned_billing_ends_on_demand_ceilings() -> None:
    table = created(request(OnDemandThroughput={"MaxReadRequestUnits": 20}))
    table = updated(table, BillingMode="PROVISIONED", ProvisionedThroughput=units())
    assert "OnDemandThroughput" not in table.notes


# --- TTL and tags ---------------------------------------------------------------------------


def test_time_to_live_is_switched_on_and_off_and_never_twice() -> None:
    on = {"Enabled": True, "AttributeName": "ttl"}
    off = {"Enabled": False, "AttributeName": "ttl"}
    table = with_time_to_live(plain(), on)
    assert table.ttl_attribute == "ttl"
    assert with_time_to_live(table, off) == plain()
    assert words(lambda: with_time_to_live(table, on)) == "TimeToLive is already enabled"
    assert words(lambda: with_time_to_live(plain(), off)) == "TimeToLive is already disabled"
    other = {"Enabled": True, "AttributeName": "other"}
    assert words(lambda: with_time_to_live(table, other)) == (
        "TimeToLive is active on a different AttributeName: current AttributeName is ttl"
    )


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.text("d e-\u00fc", max_size=3)))
def test_tags_come_and_go(tags: dict[str, str]) -> None:
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    assert with_tags(plain(), listed).tags == tags
    assert without_tags(with_tags(plain(), listed), list(tags)) == plain()


def test_tagging_replaces_and_stops_at_fifty() -> None:
    table = with_tags(plain(), [{"Key": f"k{n}", "Value": "old"} for n in range(50)])
    assert with_tags(table, [{"Key": "k0", "Value": "new"}]).tags["k0"] == "new"
    assert words(lambda: with_tags(table, [{"Key": "more", "Value": ""}])) == (
        "Number of Tags exceed the current limit for the provided ResourceArn"
    )


ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/table"


@pytest.mark.parametrize(
    ("operation", "params", "kind", "message"),
    [
        ("ListTagsOfResource", {}, ValidationException, "Invalid TableArn"),
        (
            "TagResource",
            {"ResourceArn": "abc"},
            ValidationException,
            INVALID + "ARNs must start with 'arn:': abc",
        ),
        (
            "ListTagsOfResource",
            {"ResourceArn": f"{ARN}/index/by-name"},
            ValidationException,
            INVALID + "Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {ARN}/index/by-name",
        ),
        (
            "TagResource",
            {"ResourceArn": ARN},
            ValidationException,
            "1 validation error detected: Value null at 'tags' failed to satisfy constraint: "
            "Member must not be null",
        ),
        (
            "UntagResource",
            {"ResourceArn": "arn:b:c:d:e:f/g", "TagKeys": []},
            ValidationException,
            "Invalid TableArn: Invalid ResourceArn provided as input arn:b:c:d:e:f/g",
        ),
        (
            "TagResource",
            {"ResourceArn": ARN, "Tags": []},
            ValidationException,
            "Atleast one Tag needs to be provided as Input.",
        ),
        (
            "UntagResource",
            {"ResourceArn": ARN, "TagKeys": []},
            ValidationException,
            "Atleast one Tag Key needs to be provided as Input.",
        ),
    ],
)
def test_bad_tag_call_is_refused(
    operation: str, params: dict[str, Any], kind: type[DynamoDBError], message: str
) -> None:
    checked = check(operation, params)
    assert words(lambda: tagged_resource(operation, checked), kind) == message


def test_tag_call_names_its_table() -> None:
    assert tagged_resource("ListTagsOfResource", {"ResourceArn": ARN}) == "table"
