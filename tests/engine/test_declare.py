"""Declaring tables: what comes of a request, and AWS's words when nothing does."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine.storage.definition import KeyAttribute, TableDefinition, Throughput
from tests.engine.declarations import (
    ALL,
    INVALID,
    create_definition,
    index,
    keys,
    provisioned_request,
    request,
    units,
    words,
)


def test_simple_table_has_its_key_and_nothing_else() -> None:
    table = create_definition(
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
    table = create_definition(
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
    table = create_definition(
        request(
            "abcd",
            LocalSecondaryIndexes=[index("local", keys("a", "c"), Projection=include)],
            GlobalSecondaryIndexes=[index("global", schema)],
        )
    )
    local, wide = table.indexes
    assert (local.is_global, local.included, local.number) == (False, ("x", "y"), 0)
    assert [each.name for each in wide.hash_key] == ["c", "d"]
    assert [each.name for each in wide.range_key] == ["b", "a"]
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
            provisioned_request(),
            INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
            "BillingMode is PROVISIONED",
        ),
        (
            provisioned_request(ProvisionedThroughput=units(read=1_000_000_000_001)),
            "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
        ),
        (
            provisioned_request(ProvisionedThroughput=units(write=1_000_000_000_001)),
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
        (  # DDB-TABLE-127 of aws-controllers-k8s/dynamodb-controller: before its other faults
            request("abc", GlobalSecondaryIndexes=[index(Projection={}), index()]),
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
            provisioned_request(ProvisionedThroughput=units(), GlobalSecondaryIndexes=[index()]),
            INVALID + "ProvisionedThroughput is not specified for index: index",
        ),
        (
            provisioned_request(
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
            request(SSESpecification={"Enabled": False, "SSEType": "AES256"}),
            INVALID + "SSEType can not be specified if Enabled is false",
        ),
        (
            request(SSESpecification={"SSEType": "KMS", "KMSMasterKeyId": ""}),
            "1 validation error detected: Value '' at 'sSESpecification.kMSMasterKeyId' failed to "
            "satisfy constraint: Member must have length greater than or equal to 1",
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
            provisioned_request(
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
            INVALID + "Invalid policy document: Syntax error at position (1,3)",
        ),
        (
            request(VectorIndexes=[]),
            INVALID + "List of VectorIndexes is empty",
        ),
        (
            request(WarmThroughput={"ReadUnitsPerSecond": 11_999}),
            INVALID + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than "
            "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/"
            "latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial",
        ),
        (
            provisioned_request(
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
    assert words(lambda: create_definition(params)) == message
