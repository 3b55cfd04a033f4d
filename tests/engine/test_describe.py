"""Tables as DescribeTable shows them: the request comes back, with what the engine knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine.operations.alter_table import updated_table
from bigtime.engine.operations.create_table import new_table
from bigtime.engine.storage.definition import TableDefinition
from bigtime.engine.storage.describe import (
    index_arn,
    stream_arn,
    table_arn,
    table_description,
    table_name,
)
from bigtime.engine.validation.shapes import check
from bigtime.wire import Response

ARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/"
NAMES = st.text("abcdefgh", min_size=3, max_size=6)


def describe(
    table: TableDefinition,
    status: str = "ACTIVE",
    counts: Mapping[int, tuple[int, int]] = MappingProxyType({}),
) -> Response:
    return table_description(
        table, status=status, counts=counts, region="eu-west-1", account="123456789012", now=0.0
    )


def keys(hash_key: list[str], range_key: list[str]) -> list[dict[str, str]]:
    partition = [{"AttributeName": name, "KeyType": "HASH"} for name in hash_key]
    return partition + [{"AttributeName": name, "KeyType": "RANGE"} for name in range_key]


@st.composite
def projections(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["ALL", "KEYS_ONLY", "INCLUDE"]))
    if kind != "INCLUDE":
        return {"ProjectionType": kind}
    included = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    return {"ProjectionType": kind, "NonKeyAttributes": sorted(included)}


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """Any good CreateTable request."""
    attributes = draw(st.lists(NAMES, min_size=2, max_size=8, unique=True))
    first, second = attributes[:2]
    on_demand = draw(st.booleans())
    units = st.fixed_dictionaries(
        {name: st.integers(1, 9) for name in ("ReadCapacityUnits", "WriteCapacityUnits")}
    )
    names = draw(st.lists(NAMES, min_size=len(attributes), max_size=12, unique=True))
    request: dict[str, Any] = {
        "TableName": draw(NAMES),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": draw(st.sampled_from("SNB"))}
            for name in attributes
        ],
        "KeySchema": keys([first], [second]),
        "BillingMode": "PAY_PER_REQUEST" if on_demand else "PROVISIONED",
        "DeletionProtectionEnabled": draw(st.booleans()),
    }
    if not on_demand:
        request["ProvisionedThroughput"] = draw(units)
    # Every attribute must be used: each of the others has an index of its own.
    for attribute, name in zip(attributes[2:], names, strict=False):
        projection = draw(projections())
        local = len(request.get("LocalSecondaryIndexes", ())) < 5 and draw(st.booleans())
        index: dict[str, Any] = {"IndexName": name, "Projection": projection}
        if local:
            index["KeySchema"] = keys([first], [attribute])
        else:
            index["KeySchema"] = keys([attribute, second], draw(st.sampled_from([[], [first]])))
            if not on_demand:
                index["ProvisionedThroughput"] = draw(units)
        request.setdefault(
            "LocalSecondaryIndexes" if local else "GlobalSecondaryIndexes", []
        ).append(index)
    if draw(st.booleans()):
        view = draw(st.sampled_from(["KEYS_ONLY", "NEW_AND_OLD_IMAGES"]))
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    if draw(st.booleans()):
        request["TableClass"] = "STANDARD"
    return request


@given(requests())
def test_description_echoes_the_request(request: dict[str, Any]) -> None:
    table = new_table(check("CreateTable", request))
    shown = describe(table)
    for member in ("TableName", "KeySchema", "DeletionProtectionEnabled"):
        assert shown[member] == request[member]
    defined = {each["AttributeName"]: each for each in request["AttributeDefinitions"]}
    assert shown["AttributeDefinitions"] == [defined[name] for name in sorted(defined)]
    assert shown.get("StreamSpecification") == request.get("StreamSpecification")
    assert shown.get("TableClassSummary", {}).get("TableClass") == request.get("TableClass")
    assert (
        shown.get("BillingModeSummary", {"BillingMode": "PROVISIONED"})["BillingMode"]
        == (request["BillingMode"])
    )
    for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        assert indexes_as_asked(shown, kind) == request.get(kind, [])
    assert TableDefinition.from_json(table.to_json()) == table


def indexes_as_asked(shown: Response, kind: str) -> list[dict[str, Any]]:
    asked = ("IndexName", "KeySchema", "Projection")
    found = []
    for index in shown.get(kind, []):
        one = {name: index[name] for name in asked}
        units = index.get("ProvisionedThroughput")
        if units and units["ReadCapacityUnits"]:
            one["ProvisionedThroughput"] = {
                name: units[name] for name in ("ReadCapacityUnits", "WriteCapacityUnits")
            }
        found.append(one)
    return found


def sample(**more: Any) -> TableDefinition:
    request = {
        "TableName": "table",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")
        ],
        "KeySchema": keys(["pk"], ["sk"]),
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "index",
                "KeySchema": keys(["sk"], ["pk"]),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        **more,
    }
    table = new_table(check("CreateTable", request))
    (index,) = table.indexes
    return replace(table, id="an-id", created_at=1.5, number=7, indexes=(replace(index, number=8),))


def test_whole_description_of_an_on_demand_table() -> None:
    nothing = {"NumberOfDecreasesToday": 0, "ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    warm = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000, "Status": "ACTIVE"}
    assert describe(sample(), counts={7: (2, 100), 8: (1, 40)}) == {
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        "TableName": "table",
        "KeySchema": keys(["pk"], ["sk"]),
        "TableStatus": "ACTIVE",
        "CreationDateTime": 1.5,
        "ProvisionedThroughput": nothing,
        "TableSizeBytes": 100,
        "ItemCount": 2,
        "TableArn": ARN + "table",
        "TableId": "an-id",
        "BillingModeSummary": {
            "BillingMode": "PAY_PER_REQUEST",
            "LastUpdateToPayPerRequestDateTime": 1.5,
        },
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "index",
                "KeySchema": keys(["sk"], ["pk"]),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
                "IndexStatus": "ACTIVE",
                "ProvisionedThroughput": nothing,
                "IndexSizeBytes": 40,
                "ItemCount": 1,
                "IndexArn": ARN + "table/index/index",
                "WarmThroughput": warm,
            }
        ],
        "DeletionProtectionEnabled": False,
        "WarmThroughput": warm,
    }


def test_table_being_created_has_indexes_being_created() -> None:
    shown = describe(sample(), "CREATING")
    assert shown["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    (index,) = shown["GlobalSecondaryIndexes"]
    assert index["IndexStatus"] == "CREATING"
    assert "Backfilling" not in index


def test_index_being_built_says_so() -> None:
    table = sample()
    table = replace(table, indexes=(replace(table.indexes[0], building=True),))
    (index,) = describe(table, "UPDATING")["GlobalSecondaryIndexes"]
    assert (index["IndexStatus"], index["Backfilling"]) == ("CREATING", True)


def test_table_being_deleted_has_lost_its_global_indexes() -> None:
    assert "GlobalSecondaryIndexes" not in describe(sample(), "DELETING")


def test_stream_keeps_its_name_after_it_is_switched_off() -> None:
    table = sample(StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    assert table.stream is not None
    table = replace(table, stream=replace(table.stream, label="2026-01-01T00:00:00.000"))
    shown = describe(table)
    assert shown["LatestStreamArn"] == ARN + "table/stream/2026-01-01T00:00:00.000"
    off = describe(updated_table(table, {"StreamSpecification": {"StreamEnabled": False}}))
    assert "StreamSpecification" not in off
    assert off["LatestStreamLabel"] == "2026-01-01T00:00:00.000"


@pytest.mark.parametrize(
    ("key", "arn"),
    [
        (None, "arn:aws:kms:eu-west-1:123456789012:alias/aws/dynamodb"),
        ("1234", "arn:aws:kms:eu-west-1:123456789012:key/1234"),
        ("arn:aws:kms:eu-west-1:1:key/5", "arn:aws:kms:eu-west-1:1:key/5"),
    ],
)
def test_encryption_names_its_key(key: str | None, arn: str) -> None:
    named = {"SSEType": "KMS", "KMSMasterKeyId": key} if key else {}
    specification = {"Enabled": True, **named}
    assert describe(sample(SSESpecification=specification))["SSEDescription"] == {
        "Status": "ENABLED",
        "SSEType": "KMS",
        "KMSMasterKeyArn": arn,
    }
    assert "SSEDescription" not in describe(sample())


def test_changes_of_billing_and_class_are_dated() -> None:
    table = new_table(
        check(
            "CreateTable",
            {
                "TableName": "table",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": keys(["pk"], []),
                "ProvisionedThroughput": {"ReadCapacityUnits": 4, "WriteCapacityUnits": 2},
            },
        )
    )
    assert "BillingModeSummary" not in describe(table)
    assert describe(table)["WarmThroughput"] == {
        "ReadUnitsPerSecond": 4,
        "WriteUnitsPerSecond": 2,
        "Status": "ACTIVE",
    }
    table = updated_table(table, {"BillingMode": "PAY_PER_REQUEST"}, now=10.0)
    back = {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
    }
    table = updated_table(table, back, now=15.0)
    rare = {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    shown = describe(updated_table(table, rare, now=20.0))
    assert shown["BillingModeSummary"] == {
        "BillingMode": "PROVISIONED",
        "LastUpdateToPayPerRequestDateTime": 10.0,
    }
    assert shown["TableClassSummary"] == {
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "LastUpdateDateTime": 20.0,
    }


@given(NAMES, NAMES)
def test_every_arn_of_a_table_gives_its_name(name: str, other: str) -> None:
    place = ("eu-west-1", "123456789012")
    assert table_name(name) == name
    assert table_name(table_arn(name, *place)) == name
    assert table_name(index_arn(name, other, *place)) == name
    assert table_name(stream_arn(name, "2026-01-01T00:00:00.000", *place)) == name


def test_attributes_are_described_in_the_order_of_their_names() -> None:
    """(DDB-TABLE-125 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    kept = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["zz", "aa", "mm", "sk"]}
    index = {"IndexName": "index", "KeySchema": keys(["z"], ["a"]), "Projection": kept}
    request = {
        "TableName": "table",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("z", "a", "sk", "pk")
        ],
        "KeySchema": keys(["pk"], ["sk"]),
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [index],
    }
    shown = describe(new_table(check("CreateTable", request)))
    names = [each["AttributeName"] for each in shown["AttributeDefinitions"]]
    assert names == ["a", "pk", "sk", "z"]
    (described,) = shown["GlobalSecondaryIndexes"]
    assert described["Projection"]["NonKeyAttributes"] == ["aa", "mm", "sk", "zz"]
    assert described["KeySchema"] == keys(["z"], ["a"])
