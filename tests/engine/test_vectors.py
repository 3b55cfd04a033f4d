"""Vector indexes and SearchVectors, beside scores that are computed one by one."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtime.engine import Engine, scrub_file
from bigtime.engine.storage import vector_search
from bigtime.wire import Item, TransactionCanceledException
from tests.engine.calls import call, describe_table, n, refusal_of, s
from tests.engine.vectors import (
    DIMENSIONS,
    add,
    ids,
    make,
    put,
    schema,
    search,
    vector,
    vector_index,
)

pytest.importorskip("numpy", reason="vector indexes need numpy: pip install bigtime[vectors]")


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
        (shown,) = describe_table(engine, table)["VectorIndexes"]
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


def test_values_that_are_no_longer_in_the_index_are_forgotten(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_search, "LEAST_ROOM", 4)
    table = make(engine, vector_index(SearchSchema=schema("kind")), attributes={"kind": "S"})
    for number in range(30):
        put(engine, table, "a", 1, 0, 0, kind=s(f"kind {number}"))
        found = search(
            engine,
            table,
            *(1, 0, 0),
            SearchConditionExpression="kind = :k",
            ExpressionAttributeValues={":k": s(f"kind {number}")},
        )
        assert ids(found) == ["a"]
    (matrix,) = engine._database.vectors._matrices.values()
    assert len(matrix._numbers[0]) < 10


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

    def nearest_item(name: str, **params: Any) -> Item:
        (result,) = search(engine, table, 1, 0, 0, IndexName=name, **params)
        item: Item = result["Item"]
        return item

    assert nearest_item("all") == whole
    assert nearest_item("keys") == {"id": s("a")}
    assert nearest_item("some") == {"id": s("a"), "title": s("t")}
    assert nearest_item("some", ProjectionExpression="title, extra") == {"title": s("t")}
    assert nearest_item("keys", ProjectionExpression="id, v") == {
        "id": s("a"),
        "v": vector(1, 0, 0),
    }


def test_an_index_is_added_to_items_that_are_there_and_deleted(engine: Engine) -> None:
    table = make(engine)
    put(engine, table, "a", 1, 0, 0)
    put(engine, table, "b", 1, 0)
    put(engine, table, "c", 0, 1, 0)
    call(engine, "PutItem", TableName=table, Item={"id": s("d"), "v": s("no vector")})
    added = add(engine, table, vector_index())["TableDescription"]["VectorIndexes"]
    assert [(each["IndexStatus"], each["Backfilling"]) for each in added] == [("CREATING", True)]
    assert ids(search(engine, table, 1, 0, 0)) == ["a", "c"]
    (shown,) = describe_table(engine, table)["VectorIndexes"]
    assert shown["IndexStatus"] == "ACTIVE" and "Backfilling" not in shown
    assert shown["ItemCount"] == 2
    updates = [{"Delete": {"IndexName": "near"}}]
    call(engine, "UpdateTable", TableName=table, VectorIndexUpdates=updates)
    assert "VectorIndexes" not in describe_table(engine, table)
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
    assert (
        refusal_of(engine, "SearchVectors", SearchVector=vector(1, 0, 0)["L"], **asked) == message
    )
    put(engine, table, "0", 0, 0, 1)
    call(engine, "DeleteItem", TableName=table, Key={"id": s("1199")})
    engine.tidy()
    assert ids(search(engine, table, 1, 0, 0, TopK=1)) == ["1198"]
    (shown,) = describe_table(engine, table)["VectorIndexes"]
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
        (shown,) = describe_table(engine, "again")["VectorIndexes"]
        assert shown["ItemCount"] == 2
        without = {"TargetTableName": "without", "VectorIndexOverride": []}
        call(engine, "RestoreTableFromBackup", BackupArn=arn, **without)
        engine.tidy()
        assert "VectorIndexes" not in describe_table(engine, "without")
    assert scrub_file(path).faults == []
