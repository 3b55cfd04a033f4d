"""What vector indexes refuse, and what beside them changes."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import boto3
import pytest

from bigtime.engine import Engine, Principal, scrub_file
from bigtime.wire import (
    AccessDeniedException,
    Item,
    LimitExceededException,
    ResourceNotFoundException,
)
from tests.cli.program import server
from tests.engine.calls import call, describe_table, index, key_schema, make_table, n, refusal_of, s
from tests.engine.vectors import add, ids, make, put, schema, search, vector, vector_index

INVALID = "One or more parameter values were invalid: "

pytest.importorskip("numpy", reason="vector indexes need numpy: pip install bigtime[vectors]")


@pytest.fixture
def engine() -> Any:
    with Engine.memory(housekeeping=False) as engine:
        yield engine


# --- Refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (vector(1, 2), "Invalid size for parameter v, Expected: 3, Actual: 2. IndexName: near"),
        (s("x"), "Invalid type for parameter v, Expected: L, Actual: S. IndexName: near"),
        (
            {"L": [n(1), s("x"), n(2)]},
            "Invalid type for parameter v[1], Expected: N, Actual: S. IndexName: near",
        ),
        (
            vector(1, 2, "1E100"),
            "Invalid value for parameter v, an element exceeds the range of 32-bit floating point "
            "numbers. IndexName: near",
        ),
    ],
)
def test_a_vector_that_does_not_fit_is_refused(engine: Engine, value: Item, message: str) -> None:
    table = make(engine, vector_index())
    assert refusal_of(engine, "PutItem", TableName=table, Item={"id": s("a"), "v": value}) == (
        INVALID + message
    )
    update = {
        "Key": {"id": s("a")},
        "UpdateExpression": "SET v = :v",
        "ExpressionAttributeValues": {":v": value},
    }
    assert refusal_of(engine, "UpdateItem", TableName=table, **update) == INVALID + message
    assert call(engine, "Scan", TableName=table)["Items"] == []


def test_a_vector_with_no_number_in_it_is_refused(engine: Engine) -> None:
    table = make(engine, vector_index())
    item = {"id": s("a"), "v": vector("NaN", 1, 2)}
    assert "NaN" in refusal_of(engine, "PutItem", TableName=table, Item=item)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"TopK": 101}, "Provided TopK value '101' is out of valid range. "
         "The value must be between 1 and 100 inclusive"),
        (
            {"SearchVector": vector(1)["L"]},
            "Input search vector dimension 1 does not match vector index dimension 3",
        ),
        ({"IndexName": "none"}, "The table does not have the specified index: none"),
        (
            {"SearchConditionExpression": None, "ExpressionAttributeValues": None},
            "SearchConditionExpression must be provided when SearchSchema has a HASH key",
        ),
        (
            {"SearchConditionExpression": "kind > :k"},
            "Invalid SearchConditionExpression: Invalid comparator used in "
            "SearchConditionExpression",
        ),
        (
            {"SearchConditionExpression": "brand = :k"},
            "SearchConditionExpression must be provided when SearchSchema has a HASH key",
        ),
        (
            {"ExpressionAttributeValues": {":k": n(1)}},
            INVALID + "Condition parameter type does not match schema type",
        ),
        (
            {"ExpressionAttributeValues": {":k": s("x"), ":z": s("x")}},
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:z}",
        ),
    ],
)  # fmt: skip
def test_a_search_is_refused_in_the_words_of_the_service(
    engine: Engine, params: dict[str, Any], message: str
) -> None:
    table = make(engine, vector_index(SearchSchema=schema("kind")), attributes={"kind": "S"})
    asked = {
        "TableName": table,
        "IndexName": "near",
        "TopK": 1,
        "SearchVector": vector(1, 0, 0)["L"],
        "SearchConditionExpression": "kind = :k",
        "ExpressionAttributeValues": {":k": s("x")},
        **params,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    assert refusal_of(engine, "SearchVectors", **given) == message


def test_a_declaration_that_does_not_fit_is_refused(engine: Engine) -> None:
    def refusal_with(*indexes: Any, **params: Any) -> str:
        table = {
            "TableName": "Refused",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": key_schema("id"),
            "BillingMode": "PAY_PER_REQUEST",
            "VectorIndexes": list(indexes),
            **params,
        }
        return refusal_of(engine, "CreateTable", **table).removeprefix(INVALID)

    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    provisioned: Any = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    assert "on-demand capacity mode" in refusal_with(vector_index(), **provisioned)
    assert refusal_with(vector_index(SearchSchema=schema("kind"))) == (
        "One element in SearchSchema is not defined in attribute definitions"
    )
    assert refusal_with(vector_index(), vector_index()) == "Duplicate index name: near"
    many = [vector_index(f"near-{place}") for place in range(6)]
    assert refusal_with(*many) == "VectorIndex count exceeds the per-table limit of 5"
    assert "4096" in refusal_with(vector_index(Dimensions=4097))
    assert "same number of dimensions" in refusal_with(
        vector_index(), vector_index("other", Dimensions=4)
    )


def test_a_table_with_vector_indexes_stays_on_demand(engine: Engine) -> None:
    table = make(engine, vector_index())
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    change: Any = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    assert "on-demand" in refusal_of(engine, "UpdateTable", TableName=table, **change)


def test_updates_of_indexes_are_one_at_a_time(engine: Engine) -> None:
    table = make(engine)
    updates = [{"Create": vector_index("one")}, {"Create": vector_index("two")}]
    with pytest.raises(LimitExceededException):
        call(engine, "UpdateTable", TableName=table, VectorIndexUpdates=updates)
    gone = [{"Delete": {"IndexName": "none"}}]
    with pytest.raises(ResourceNotFoundException):
        call(engine, "UpdateTable", TableName=table, VectorIndexUpdates=gone)


def test_query_and_scan_do_not_read_a_vector_index(engine: Engine) -> None:
    table = make(engine, vector_index())
    asked: Any = {"TableName": table, "IndexName": "near"}
    condition = {
        "KeyConditionExpression": "id = :i",
        "ExpressionAttributeValues": {":i": s("a")},
    }
    assert refusal_of(engine, "Query", **asked, **condition) == (
        "Query operation not supported on this index type."
    )
    assert refusal_of(engine, "Scan", **asked) == "Scan operation not supported on this index type"


def test_secondary_and_vector_indexes_share_their_names(engine: Engine) -> None:
    table = make_table(
        engine,
        {"id": "S", "k": "S"},
        keys=("id",),
        globally=(index("by-k", key_schema("k")),),
        VectorIndexes=[vector_index()],
    )
    new = [{"Create": vector_index("by-k")}]
    message = "Attempting to create an index which already exists"
    assert refusal_of(engine, "UpdateTable", TableName=table, VectorIndexUpdates=new) == message


def test_without_numpy_the_error_names_the_extra(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "numpy":
            raise ModuleNotFoundError(name, name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    table = make(engine)
    updates = [{"Create": vector_index()}]
    message = refusal_of(engine, "UpdateTable", TableName=table, VectorIndexUpdates=updates)
    assert "install the extra [vectors]" in message


# --- Capacity, policies, boto3 ------------------------------------------------------------------


def test_capacity_is_in_bytes(engine: Engine) -> None:
    table = make(engine, vector_index())
    written = call(
        engine,
        "PutItem",
        TableName=table,
        Item={"id": s("a"), "v": vector(1, 0, 0), "note": s("n" * 2000)},
        ReturnConsumedCapacity="INDEXES",
    )["ConsumedCapacity"]
    assert written["VectorIndexes"] == {"near": {"VectorWriteRequestBytes": 2000 + 4 + 3 + 12}}
    found = call(
        engine,
        "SearchVectors",
        TableName=table,
        IndexName="near",
        TopK=1,
        SearchVector=vector(1, 0, 0)["L"],
        ReturnConsumedCapacity="TOTAL",
    )
    examined = 12 + 2000 + 4 + 3
    assert found["ConsumedCapacity"] == {
        "VectorSearchRequestBytes": examined,
        "VectorSearchUnits": examined,
    }


def test_a_write_costs_at_least_1_kb_and_twice_if_it_moves_the_entry(engine: Engine) -> None:
    near = vector_index(SearchSchema=schema("tenant"))
    table = make(engine, near, attributes={"tenant": "S"})

    def cost(tenant: str, **others: Any) -> Any:
        item = {"id": s("a"), "v": vector(1, 0, 0), "tenant": s(tenant), **others}
        options = {"ReturnConsumedCapacity": "INDEXES"}
        written = call(engine, "PutItem", TableName=table, Item=item, **options)
        used = written["ConsumedCapacity"].get("VectorIndexes", {"near": {}})
        return used["near"].get("VectorWriteRequestBytes")

    assert cost("x") == 1024
    assert cost("x") is None
    assert cost("y") == 2 * 1024
    assert cost("y", note=s("n" * 2000)) == 12 + 2 + 1 + 6 + 1 + 4 + 2000


def test_a_policy_on_leading_keys_denies_a_search(engine: Engine) -> None:
    table = make(engine, vector_index())
    put(engine, table, "a", 1, 0, 0)
    arn = describe_table(engine, table)["TableArn"]
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Action": "dynamodb:*",
        "Resource": [arn, f"{arn}/index/*"],
    }
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    assert ids(search(engine.as_user(Principal.role("all", [policy])), table, 1, 0, 0)) == ["a"]
    get = {"TableName": table, "Key": {"id": s("a")}, "ProjectionExpression": "id"}
    for condition in (
        {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["a"]}},
        {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": "*"}},
        {"ForAllValues:StringNotEquals": {"dynamodb:FirstPartitionKeyValues": ["b"]}},
        {"StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}},
        {"StringNotEquals": {"dynamodb:Attributes": "embedding"}},
        {"Null": {"dynamodb:Attributes": "false"}},
    ):
        statement["Condition"] = condition
        own = engine.as_user(Principal.role("own", [policy]))
        assert call(own, "GetItem", **get)["Item"]["id"] == s("a")
        with pytest.raises(AccessDeniedException):
            search(own, table, 1, 0, 0)


def test_a_denial_by_leading_keys_is_none_of_a_search(engine: Engine) -> None:
    table = make(engine, vector_index())
    put(engine, table, "a", 1, 0, 0)
    everything: dict[str, Any] = {"Action": "*", "Resource": "*"}
    by_key = {"StringNotEquals": {"dynamodb:LeadingKeys": "b"}}
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", **everything},
            {"Effect": "Deny", **everything, "Condition": by_key},
        ],
    }
    reader = engine.as_user(Principal.role("reader", [policy]))
    with pytest.raises(AccessDeniedException):
        call(reader, "GetItem", TableName=table, Key={"id": s("a")})
    assert ids(search(reader, table, 1, 0, 0)) == ["a"]


def test_boto3_declares_and_searches_over_http() -> None:
    with server("--memory") as running:
        client: Any = boto3.client(
            "dynamodb",
            endpoint_url=running.url,
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )
        if not hasattr(client, "search_vectors"):
            pytest.skip("this boto3 does not know SearchVectors")
        client.create_table(
            TableName="Products",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=key_schema("id"),
            BillingMode="PAY_PER_REQUEST",
            VectorIndexes=[vector_index()],
        )
        client.put_item(TableName="Products", Item={"id": s("a"), "v": vector(1, 0, 0)})
        client.put_item(TableName="Products", Item={"id": s("b"), "v": vector(0, 1, 0)})
        found = client.search_vectors(
            TableName="Products", IndexName="near", SearchVector=vector(0, 2, 0)["L"], TopK=2
        )
        assert [(each["Item"]["id"], each["Score"]) for each in found["SearchResults"]] == [
            (s("b"), 0.0),
            (s("a"), 1.0),
        ]


def test_scrub_mends_a_vector_index(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        table = make(engine, vector_index())
        for id, numbers in (("a", (1, 0, 0)), ("b", (0, 1, 0)), ("c", (0, 0, 1))):
            put(engine, table, id, *numbers)
        rows = f"e{number_of(engine, table)}"

        def spoil(transaction: Any) -> None:
            transaction.execute(f"DELETE FROM {rows} WHERE base = 1")
            transaction.execute(f"UPDATE {rows} SET vector = zeroblob(12) WHERE base = 2")
            transaction.execute(f"UPDATE {rows} SET base = 99 WHERE base = 3")

        engine._database.committer.run(spoil)
    assert len(scrub_file(path).faults) == 5
    scrub_file(path, repair=True)
    assert scrub_file(path).faults == []
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        assert ids(search(engine, table, 0, 1, 0)) == ["b", "a", "c"]


def number_of(engine: Engine, table: str) -> int:
    return engine._database.catalogue.tables[table].vectors[0].number


def test_replicas_share_vector_indexes(tmp_path: Path) -> None:
    path, region = tmp_path / "vectors.db", "eu-west-1"
    with Engine.open(path, durability="relaxed", housekeeping=False, regions=[region]) as engine:
        images = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        table = make_table(
            engine,
            {"id": "S"},
            keys=("id",),
            StreamSpecification=images,
            VectorIndexes=[vector_index()],
        )
        put(engine, table, "a", 1, 0, 0)
        created = [{"Create": {"RegionName": region}}]
        call(engine, "UpdateTable", TableName=table, ReplicaUpdates=created)
        engine.tidy()
        put(engine, table, "b", 0, 1, 0)
        add(engine, table, vector_index("late", DistanceFunction="EUCLIDEAN"))
        for _ in range(4):
            engine.tidy()
        replica = engine.in_region(region)
        assert ids(search(replica, table, 0, 1, 0)) == ["b", "a"]
        assert ids(search(replica, table, 0, 1, 0, IndexName="late")) == ["b", "a"]
