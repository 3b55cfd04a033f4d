"""Vector indexes and SearchVectors, beside scores that are computed one by one."""

from __future__ import annotations

import builtins
import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtime.engine import Engine, Principal, scrub_file
from bigtime.wire import (
    AccessDeniedException,
    Item,
    LimitExceededException,
    ResourceNotFoundException,
    Response,
    TransactionCanceledException,
)
from tests.cli.program import server
from tests.engine.calls import call, described, index, key_schema, make_table, n, refused, s

pytest.importorskip("numpy", reason="vector indexes need numpy: pip install bigtime[vectors]")

INVALID = "One or more parameter values were invalid: "
DIMENSIONS = 3


def vector(*numbers: object) -> Any:
    return {"L": [n(number) for number in numbers]}


def vector_index(name: str = "near", **changes: Any) -> Any:
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": "v"},
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": DIMENSIONS,
        "DistanceFunction": "COSINE",
        **changes,
    }


def schema(hash_key: str | None = None, *filters: str) -> list[dict[str, str]]:
    roles = {**({hash_key: "HASH"} if hash_key else {}), **dict.fromkeys(filters, "INLINE_FILTER")}
    return [{"AttributeName": a, "SearchSchemaElementType": role} for a, role in roles.items()]


def make(engine: Any, *indexes: Any, attributes: dict[str, str] | None = None) -> str:
    keys = {"id": "S", **(attributes or {})}
    listed: Any = {"VectorIndexes": list(indexes)} if indexes else {}
    return make_table(engine, keys, keys=("id",), **listed)


def put(engine: Any, table: str, id: str, *numbers: object, **others: Any) -> None:
    item = {"id": s(id), **({"v": vector(*numbers)} if numbers else {}), **others}
    call(engine, "PutItem", TableName=table, Item=item)


def search(engine: Any, table: str, *numbers: object, **params: Any) -> list[Response]:
    given = {"IndexName": "near", "TopK": 100, **params}
    found = call(
        engine, "SearchVectors", TableName=table, SearchVector=vector(*numbers)["L"], **given
    )
    results: list[Response] = found["SearchResults"]
    return results


def ids(results: list[Response]) -> list[str]:
    return [result["Item"]["id"]["S"] for result in results]


@pytest.fixture
def engine() -> Any:
    with Engine.memory(housekeeping=False) as engine:
        yield engine


# --- Scores -------------------------------------------------------------------------------------


def as_float32(number: float) -> float:
    (rounded,) = struct.unpack("<f", struct.pack("<f", number))
    return float(rounded)


def dot(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: list[float], b: list[float]) -> float:
    lengths = math.sqrt(dot(a, a)) * math.sqrt(dot(b, b))
    return 1 - dot(a, b) / lengths if lengths else 1.0


NAIVE: dict[str, Callable[[list[float], list[float]], float]] = {
    "COSINE": cosine,
    "EUCLIDEAN": math.dist,
    "DOT_PRODUCT": dot,
}
numbers = st.floats(-1000, 1000, width=32).map(lambda number: round(number, 3))
vectors = st.lists(numbers, min_size=DIMENSIONS, max_size=DIMENSIONS)


@pytest.mark.parametrize("function", sorted(NAIVE))
@settings(max_examples=25, deadline=None)
@given(stored=st.lists(vectors, min_size=1, max_size=30), asked=vectors, top=st.integers(1, 40))
def test_the_nearest_are_those_of_a_naive_search(
    function: str, stored: list[list[float]], asked: list[float], top: int
) -> None:
    with Engine.memory(housekeeping=False) as engine:
        table = make(engine, vector_index(DistanceFunction=function))
        for place, each in enumerate(stored):
            put(engine, table, str(place), *each)
        found = search(engine, table, *asked, TopK=top)
    rounded = [[as_float32(number) for number in each] for each in stored]
    query = [as_float32(number) for number in asked]
    scores = [NAIVE[function](each, query) for each in rounded]
    sign = -1 if function == "DOT_PRODUCT" else 1
    best = sorted(sign * score for score in scores)[:top]
    assert [sign * each["Score"] for each in found] == pytest.approx(best, rel=1e-6, abs=1e-6)
    for result in found:
        score = scores[int(result["Item"]["id"]["S"])]
        assert result["Score"] == pytest.approx(score, rel=1e-6, abs=1e-4)


def test_scores_have_the_direction_that_their_function_has(engine: Engine) -> None:
    functions = ("COSINE", "EUCLIDEAN", "DOT_PRODUCT")
    table = make(engine, *(vector_index(f"by-{f}", DistanceFunction=f) for f in functions))
    put(engine, table, "same", 1, 0, 0)
    put(engine, table, "long", 10, 0, 0)
    put(engine, table, "opposite", -1, 0, 0)
    found = {
        f: [
            (r["Item"]["id"]["S"], r["Score"])
            for r in search(engine, table, 1, 0, 0, IndexName=f"by-{f}")
        ]
        for f in functions
    }
    assert found["COSINE"] == [("same", 0.0), ("long", 0.0), ("opposite", 2.0)]
    assert found["EUCLIDEAN"] == [("same", 0.0), ("opposite", 2.0), ("long", 9.0)]
    assert found["DOT_PRODUCT"] == [("long", 10.0), ("same", 1.0), ("opposite", -1.0)]


def test_vectors_that_32_bits_cannot_tell_apart_in_a_product_are_still_in_order(
    engine: Engine,
) -> None:
    table = make(engine, vector_index(DistanceFunction="EUCLIDEAN"))
    for place in range(200):
        put(engine, table, f"{place:03}", 10_000, 10_000, as_float32(place / 1000))
    found = search(engine, table, 10_000, 10_000, 0, TopK=5)
    assert ids(found) == ["000", "001", "002", "003", "004"]


# --- The index follows the items ----------------------------------------------------------------

actions = st.tuples(
    st.sampled_from(["put", "put", "plain", "update", "touch", "remove", "delete", "fail"]),
    st.integers(0, 5),
    vectors,
)


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.lists(actions, min_size=1, max_size=6), min_size=1, max_size=6))
def test_the_index_has_what_the_items_have(steps: list[list[Any]]) -> None:
    """Whatever is written, taken back or deleted between searches."""
    with Engine.memory(housekeeping=False) as engine:
        table = make(engine, vector_index(DistanceFunction="EUCLIDEAN"))
        for step in steps:
            for action in step:
                write(engine, table, *action)
            assert_index_is_base(engine, table)
        count = sum("v" in item for item in call(engine, "Scan", TableName=table)["Items"])
        (shown,) = described(engine, table)["VectorIndexes"]
        assert shown["ItemCount"] == count


def write(engine: Engine, table: str, what: str, place: int, numbers: list[float]) -> None:
    key = {"id": s(str(place))}
    update = {"TableName": table, "Key": key}
    match what:
        case "put":
            put(engine, table, str(place), *numbers)
        case "plain":
            put(engine, table, str(place))
        case "update":
            call(
                engine,
                "UpdateItem",
                UpdateExpression="SET v = :v",
                ExpressionAttributeValues={":v": vector(*numbers)},
                **update,
            )
        case "touch":
            call(
                engine,
                "UpdateItem",
                UpdateExpression="SET note = :n",
                ExpressionAttributeValues={":n": s("n" * place)},
                **update,
            )
        case "remove":
            call(engine, "UpdateItem", UpdateExpression="REMOVE v", **update)
        case "delete":
            call(engine, "DeleteItem", **update)
        case "fail":
            condition = {"ConditionExpression": "attribute_exists(nothing)"}
            puts = [
                {"TableName": table, "Item": {"id": s(str(place)), "v": vector(*numbers)}},
                {"TableName": table, "Item": {"id": s("other")}, **condition},
            ]
            with pytest.raises(TransactionCanceledException):
                call(engine, "TransactWriteItems", TransactItems=[{"Put": each} for each in puts])


def assert_index_is_base(engine: Engine, table: str) -> None:
    items = call(engine, "Scan", TableName=table)["Items"]
    expected = sorted(
        (item["id"]["S"], round(math.dist(floats(item), [0, 0, 0]), 3))
        for item in items
        if "v" in item
    )
    found = search(engine, table, 0, 0, 0)
    assert sorted((each["Item"]["id"]["S"], round(each["Score"], 3)) for each in found) == expected


def floats(item: Item) -> list[float]:
    return [as_float32(float(number["N"])) for number in item["v"]["L"]]


def test_other_processes_see_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    with (
        Engine.open(path, durability="relaxed", housekeeping=False) as one,
        Engine.open(path, durability="relaxed", housekeeping=False) as other,
    ):
        table = make(one, vector_index())
        put(one, table, "a", 1, 0, 0)
        put(one, table, "b", 0, 1, 0)
        assert ids(search(other, table, 1, 0, 0)) == ["a", "b"]
        call(one, "DeleteItem", TableName=table, Key={"id": s("a")})
        put(one, table, "c", 1, 1, 0)
        assert ids(search(other, table, 1, 0, 0)) == ["c", "b"]


def test_an_item_without_its_hash_attribute_is_not_in_the_index(engine: Engine) -> None:
    table = make(engine, vector_index(SearchSchema=schema("kind")), attributes={"kind": "S"})
    put(engine, table, "a", 1, 0, 0, kind=s("x"))
    put(engine, table, "b", 1, 0, 0)
    put(engine, table, "c", 1, 0, 0, kind=s("y"))
    asked: Any = {
        "SearchConditionExpression": "kind = :k",
        "ExpressionAttributeValues": {":k": s("x")},
    }
    assert ids(search(engine, table, 1, 0, 0, **asked)) == ["a"]
    call(
        engine,
        "UpdateItem",
        TableName=table,
        Key={"id": s("a")},
        UpdateExpression="REMOVE kind",
    )
    assert search(engine, table, 1, 0, 0, **asked) == []


def test_inline_filters_are_compared_by_value(engine: Engine) -> None:
    near = vector_index(SearchSchema=schema("kind", "year", "brand"))
    table = make(engine, near, attributes={"kind": "S", "year": "N", "brand": "S"})
    put(engine, table, "a", 1, 0, 0, kind=s("x"), year=n("1999"), brand=s("b"))
    put(engine, table, "b", 1, 1, 0, kind=s("x"), year=n("1999.0"))
    put(engine, table, "c", 1, 1, 1, kind=s("x"), year=n("2000"))
    both: Any = {
        "SearchConditionExpression": "#k = :k AND :y = #y",
        "ExpressionAttributeNames": {"#k": "kind", "#y": "year"},
        "ExpressionAttributeValues": {":k": s("x"), ":y": n("1.999E3")},
    }
    assert ids(search(engine, table, 1, 0, 0, **both)) == ["a", "b"]


# --- Projections --------------------------------------------------------------------------------


def test_an_index_shows_what_is_projected_and_the_vector_when_it_is_named(engine: Engine) -> None:
    included = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]}
    table = make(
        engine,
        vector_index("all"),
        vector_index("keys", Projection={"ProjectionType": "KEYS_ONLY"}),
        vector_index("some", Projection=included),
    )
    put(engine, table, "a", 1, 0, 0, title=s("t"), extra=s("o"))
    whole = {"id": s("a"), "title": s("t"), "extra": s("o")}

    def shown(name: str, **params: Any) -> Item:
        (result,) = search(engine, table, 1, 0, 0, IndexName=name, **params)
        item: Item = result["Item"]
        return item

    assert shown("all") == whole
    assert shown("keys") == {"id": s("a")}
    assert shown("some") == {"id": s("a"), "title": s("t")}
    assert shown("some", ProjectionExpression="title, extra") == {"title": s("t")}
    assert shown("keys", ProjectionExpression="id, v") == {"id": s("a"), "v": vector(1, 0, 0)}


# --- Backfill, restore --------------------------------------------------------------------------


def add(engine: Engine, table: str, new: Any, **params: Any) -> Any:
    updates = [{"Create": new}]
    return call(engine, "UpdateTable", TableName=table, VectorIndexUpdates=updates, **params)


def test_an_index_is_added_to_items_that_are_there_and_deleted(engine: Engine) -> None:
    table = make(engine)
    put(engine, table, "a", 1, 0, 0)
    put(engine, table, "b", 1, 0)
    put(engine, table, "c", 0, 1, 0)
    call(engine, "PutItem", TableName=table, Item={"id": s("d"), "v": s("no vector")})
    added = add(engine, table, vector_index())["TableDescription"]["VectorIndexes"]
    assert [(each["IndexStatus"], each["Backfilling"]) for each in added] == [("CREATING", True)]
    assert ids(search(engine, table, 1, 0, 0)) == ["a", "c"]
    (shown,) = described(engine, table)["VectorIndexes"]
    assert shown["IndexStatus"] == "ACTIVE" and "Backfilling" not in shown
    assert shown["ItemCount"] == 2
    updates = [{"Delete": {"IndexName": "near"}}]
    call(engine, "UpdateTable", TableName=table, VectorIndexUpdates=updates)
    assert "VectorIndexes" not in described(engine, table)
    put(engine, table, "e", 1)


def test_a_long_backfill_goes_on_in_the_background(engine: Engine) -> None:
    table = make(engine)
    for start in range(0, 1_200, 25):
        puts = [
            {"PutRequest": {"Item": {"id": s(str(place)), "v": vector(place, 1, 0)}}}
            for place in range(start, start + 25)
        ]
        call(engine, "BatchWriteItem", RequestItems={table: puts})
    add(engine, table, vector_index())
    asked = {"TableName": table, "IndexName": "near", "TopK": 1}
    message = "Cannot search backfilling vector index: near"
    assert refused(engine, "SearchVectors", SearchVector=vector(1, 0, 0)["L"], **asked) == message
    put(engine, table, "0", 0, 0, 1)
    call(engine, "DeleteItem", TableName=table, Key={"id": s("1199")})
    engine.tidy()
    assert ids(search(engine, table, 1, 0, 0, TopK=1)) == ["1198"]
    (shown,) = described(engine, table)["VectorIndexes"]
    assert shown["ItemCount"] == 1_199


def test_a_restored_table_has_its_vector_indexes(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        table = make(engine, vector_index())
        put(engine, table, "a", 1, 0, 0)
        put(engine, table, "b", 0, 1, 0)
        backup = call(engine, "CreateBackup", TableName=table, BackupName="whole")["BackupDetails"]
        engine.tidy()
        arn = backup["BackupArn"]
        features = call(engine, "DescribeBackup", BackupArn=arn)["BackupDescription"]
        assert features["SourceTableFeatureDetails"]["VectorIndexes"] == [vector_index()]
        call(engine, "RestoreTableFromBackup", TargetTableName="again", BackupArn=arn)
        engine.tidy()
        assert ids(search(engine, "again", 0, 1, 0)) == ["b", "a"]
        (shown,) = described(engine, "again")["VectorIndexes"]
        assert shown["ItemCount"] == 2
        without = {"TargetTableName": "without", "VectorIndexOverride": []}
        call(engine, "RestoreTableFromBackup", BackupArn=arn, **without)
        engine.tidy()
        assert "VectorIndexes" not in described(engine, "without")
    assert scrub_file(path).faults == []


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
    assert refused(engine, "PutItem", TableName=table, Item={"id": s("a"), "v": value}) == (
        INVALID + message
    )
    update = {
        "Key": {"id": s("a")},
        "UpdateExpression": "SET v = :v",
        "ExpressionAttributeValues": {":v": value},
    }
    assert refused(engine, "UpdateItem", TableName=table, **update) == INVALID + message
    assert call(engine, "Scan", TableName=table)["Items"] == []


def test_a_vector_with_no_number_in_it_is_refused(engine: Engine) -> None:
    table = make(engine, vector_index())
    item = {"id": s("a"), "v": vector("NaN", 1, 2)}
    assert "NaN" in refused(engine, "PutItem", TableName=table, Item=item)


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
    assert refused(engine, "SearchVectors", **given) == message


def test_a_declaration_that_does_not_fit_is_refused(engine: Engine) -> None:
    def declared(*indexes: Any, **params: Any) -> str:
        table = {
            "TableName": "Refused",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": key_schema("id"),
            "BillingMode": "PAY_PER_REQUEST",
            "VectorIndexes": list(indexes),
            **params,
        }
        return refused(engine, "CreateTable", **table).removeprefix(INVALID)

    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    provisioned: Any = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    assert "on-demand capacity mode" in declared(vector_index(), **provisioned)
    assert declared(vector_index(SearchSchema=schema("kind"))) == (
        "One element in SearchSchema is not defined in attribute definitions"
    )
    assert declared(vector_index(), vector_index()) == "Duplicate index name: near"
    many = [vector_index(f"near-{place}") for place in range(6)]
    assert declared(*many) == "VectorIndex count exceeds the per-table limit of 5"
    assert "4096" in declared(vector_index(Dimensions=4097))
    assert "same number of dimensions" in declared(
        vector_index(), vector_index("other", Dimensions=4)
    )


def test_a_table_with_vector_indexes_stays_on_demand(engine: Engine) -> None:
    table = make(engine, vector_index())
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    change: Any = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
    assert "on-demand" in refused(engine, "UpdateTable", TableName=table, **change)


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
    message = "Query operation not supported on this index type."
    assert refused(engine, "Query", **asked, **condition) == message
    assert refused(engine, "Scan", **asked) == message.replace("Query", "Scan")


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
    assert refused(engine, "UpdateTable", TableName=table, VectorIndexUpdates=new) == message


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
    message = refused(engine, "UpdateTable", TableName=table, VectorIndexUpdates=updates)
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
    assert written["VectorIndexes"] == {"near": {"VectorWriteRequestBytes": 2000 + 4 + 3 + 1 + 12}}
    found = call(
        engine,
        "SearchVectors",
        TableName=table,
        IndexName="near",
        TopK=1,
        SearchVector=vector(1, 0, 0)["L"],
        ReturnConsumedCapacity="TOTAL",
    )
    assert found["ConsumedCapacity"] == {"VectorSearchRequestBytes": 12 + 2000 + 4 + 3}


def test_a_policy_on_leading_keys_denies_a_search(engine: Engine) -> None:
    table = make(engine, vector_index())
    put(engine, table, "a", 1, 0, 0)
    arn = described(engine, table)["TableArn"]
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Action": "dynamodb:*",
        "Resource": [arn, f"{arn}/index/*"],
    }
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    assert ids(search(engine.as_user(Principal.role("all", [policy])), table, 1, 0, 0)) == ["a"]
    statement["Condition"] = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["a"]}}
    own = engine.as_user(Principal.role("own", [policy]))
    assert call(own, "GetItem", TableName=table, Key={"id": s("a")})["Item"]["id"] == s("a")
    with pytest.raises(AccessDeniedException):
        search(own, table, 1, 0, 0)


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
