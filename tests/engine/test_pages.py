"""Pages: where they end, where the next one starts, and that joined they are the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import DynamoDBError, Item, Response
from tests.engine.calls import b, call, index, key_schema, make_table, n, refusal_of, s

INVALID = "The provided starting key is invalid"
SCHEMA = "The provided key element does not match the schema"


def indexed_table(engine: Engine) -> str:
    """By p and s; locally by l; globally by g and l, by g alone, and by (g, l) and s."""
    long_key = [
        {"AttributeName": name, "KeyType": role}
        for name, role in (("g", "HASH"), ("l", "HASH"), ("s", "RANGE"))
    ]
    return make_table(
        engine,
        {"p": "S", "s": "N", "l": "S", "g": "S"},
        local=(index("local", key_schema("p", "l"), "KEYS_ONLY"),),
        globally=(
            index("global", key_schema("g", "l"), ["x"]),
            index("lone", key_schema("g")),
            index("long", long_key),
        ),
    )


small_items = st.fixed_dictionaries(
    {
        "p": st.sampled_from("aab").map(s),
        "s": st.integers(-3, 9).map(n),
        "x": st.sampled_from([0, 1, 1]).map(n),
    },
    optional={"l": st.sampled_from("uuv").map(s), "g": st.sampled_from("yyz").map(s)},
)
many_items = st.lists(small_items, min_size=5, max_size=24)
limits = st.sampled_from([1, 1, 2, 3, 7])

QUERIES: list[dict[str, Any]] = [
    {"KeyConditionExpression": "p = :p", "ExpressionAttributeValues": {":p": s("a")}},
    {
        "KeyConditionExpression": "p = :p AND s BETWEEN :low AND :high",
        "ExpressionAttributeValues": {":p": s("a"), ":low": n(-1), ":high": n(6)},
    },
    {
        "IndexName": "local",
        "KeyConditionExpression": "p = :p",
        "ExpressionAttributeValues": {":p": s("a")},
    },
    {
        "IndexName": "global",
        "KeyConditionExpression": "g = :g AND l = :l",
        "ExpressionAttributeValues": {":g": s("y"), ":l": s("u")},
    },
    {
        "IndexName": "lone",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": s("y")},
    },
    {
        "IndexName": "long",
        "KeyConditionExpression": "g = :g AND l = :l AND s > :s",
        "ExpressionAttributeValues": {":g": s("y"), ":l": s("u"), ":s": n(-2)},
    },
]
FILTERED = [asked for asked in QUERIES if asked.get("IndexName") != "local"]
"""Those that a filter by `x` is allowed for: the local index does not project it."""
SCANS: list[dict[str, Any]] = [{}, {"IndexName": "local"}, {"IndexName": "global"}]


def with_filter(request: dict[str, Any]) -> dict[str, Any]:
    values = {**request.get("ExpressionAttributeValues", {}), ":x": n(1)}
    return {**request, "FilterExpression": "x <> :x", "ExpressionAttributeValues": values}


queries = st.one_of(
    st.builds(
        lambda asked, forward: ("Query", {**asked, "ScanIndexForward": forward}),
        st.sampled_from([*QUERIES, *map(with_filter, FILTERED)]),
        st.booleans(),
    ),
    st.tuples(st.just("Scan"), st.sampled_from([*SCANS, *map(with_filter, SCANS)])),
)


def pages(engine: Engine, operation: str, **params: Any) -> Iterator[Response]:
    while True:
        page = call(engine, operation, **params)
        yield page
        if "LastEvaluatedKey" not in page:
            return
        params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def primary_key(item: Item) -> tuple[str, str]:
    return item["p"]["S"], item["s"]["N"]


def fill(engine: Engine, table: str, items: list[Item]) -> None:
    for item in items:
        call(engine, "PutItem", TableName=table, Item=item)


@given(many_items, queries, limits)
def test_pages_joined_are_the_whole(
    shared_engine: Engine, items: list[Item], asked: tuple[str, dict[str, Any]], limit: int
) -> None:
    operation, params = asked
    table = indexed_table(shared_engine)
    fill(shared_engine, table, items)
    whole = call(shared_engine, operation, TableName=table, **params)
    assert "LastEvaluatedKey" not in whole
    parts = list(pages(shared_engine, operation, TableName=table, Limit=limit, **params))
    assert [item for part in parts for item in part["Items"]] == whole["Items"]
    assert sum(part["ScannedCount"] for part in parts) == whole["ScannedCount"]
    assert all(part["ScannedCount"] == limit for part in parts[:-1])
    assert all(part["Count"] == len(part["Items"]) for part in parts)


@given(many_items, queries, limits, st.data())
def test_deletions_between_pages_lose_and_repeat_nothing_else(
    shared_engine: Engine,
    items: list[Item],
    asked: tuple[str, dict[str, Any]],
    limit: int,
    data: st.DataObject,
) -> None:
    operation, params = asked
    table = indexed_table(shared_engine)
    fill(shared_engine, table, items)
    before = [
        primary_key(item)
        for item in call(shared_engine, operation, TableName=table, **params)["Items"]
    ]
    seen: list[tuple[str, str]] = []
    gone: set[tuple[str, str]] = set()
    for page in pages(shared_engine, operation, TableName=table, Limit=limit, **params):
        seen.extend(primary_key(item) for item in page["Items"])
        # The last item looked at is where the next page starts, so it goes most often.
        last = page.get("LastEvaluatedKey")
        doomed = data.draw(st.sets(st.sampled_from(before), max_size=2)) if before else set()
        if last and data.draw(st.booleans()):
            doomed.add(primary_key(last))
        for p, number in doomed:
            call(shared_engine, "DeleteItem", TableName=table, Key={"p": s(p), "s": n(number)})
        gone |= doomed
    assert seen == [key for key in before if key in seen]
    assert [key for key in before if key not in gone] == [key for key in seen if key not in gone]


def test_a_page_ends_with_the_item_that_reaches_a_megabyte(engine: Engine) -> None:
    table = make_table(engine, {"p": "S", "s": "N"})
    for number in range(5):
        item = {"p": s("a"), "s": n(number), "text": s("x" * 300_000)}
        call(engine, "PutItem", TableName=table, Item=item)
    asked = {
        "TableName": table,
        "KeyConditionExpression": "p = :p",
        "ExpressionAttributeValues": {":p": s("a")},
    }
    first, second = pages(engine, "Query", **asked)
    assert [item["s"]["N"] for item in first["Items"]] == ["0", "1", "2", "3"]
    assert first["LastEvaluatedKey"] == {"p": s("a"), "s": n(3)}
    assert [item["s"]["N"] for item in second["Items"]] == ["4"]
    # A filter that keeps nothing, and a count, look at no more than that either.
    values = {":p": s("a"), ":z": s("z")}
    nothing = call(
        engine,
        "Query",
        **{**asked, "ExpressionAttributeValues": values},
        FilterExpression="#text = :z",
        ExpressionAttributeNames={"#text": "text"},
    )
    assert (nothing["Items"], nothing["ScannedCount"]) == ([], 4)
    assert nothing["LastEvaluatedKey"] == {"p": s("a"), "s": n(3)}
    assert call(engine, "Query", **asked, Select="COUNT")["Count"] == 4
    assert call(engine, "Scan", TableName=table)["Count"] == 4


def test_an_index_page_is_measured_by_what_it_projects(engine: Engine) -> None:
    table = make_table(
        engine,
        {"p": "S", "s": "N", "g": "S"},
        globally=(index("keys", key_schema("g"), "KEYS_ONLY"), index("whole", key_schema("g"))),
    )
    for number in range(5):
        item = {"p": s("a"), "s": n(number), "g": s("b"), "text": s("x" * 300_000)}
        call(engine, "PutItem", TableName=table, Item=item)

    def count(index_name: str) -> int:
        return int(call(engine, "Scan", TableName=table, IndexName=index_name)["Count"])

    assert (count("keys"), count("whole")) == (5, 4)


def test_a_page_of_which_nothing_was_kept_leads_on(engine: Engine) -> None:
    table = indexed_table(engine)
    fill(engine, table, [{"p": s("a"), "s": n(number), "x": n(number)} for number in (1, 2)])
    first, second, third = pages(
        engine, "Query", TableName=table, Limit=1, **with_filter(QUERIES[0])
    )
    assert first == {
        "Count": 0,
        "ScannedCount": 1,
        "Items": [],
        "LastEvaluatedKey": {"p": s("a"), "s": n(1)},
    }
    assert (second["Count"], third["ScannedCount"]) == (1, 0)


def test_a_full_page_may_be_the_last_and_not_know_it(engine: Engine) -> None:
    table = make_table(engine, {"p": "S", "s": "N"})
    call(engine, "PutItem", TableName=table, Item={"p": s("a"), "s": n(1)})
    first, second = pages(engine, "Scan", TableName=table, Limit=1)
    assert (first["Count"], second["Count"]) == (1, 0)
    assert first["LastEvaluatedKey"] == {"p": s("a"), "s": n(1)}


def test_a_last_key_has_the_keys_of_the_table_and_of_the_index(engine: Engine) -> None:
    table = indexed_table(engine)
    item = {"p": s("a"), "s": n(1), "l": s("u"), "g": s("y"), "x": n(1)}
    call(engine, "PutItem", TableName=table, Item=item)
    keys = {
        name: set(
            call(engine, "Scan", TableName=table, IndexName=name, Limit=1)["LastEvaluatedKey"]
        )
        for name in ("local", "global", "lone", "long")
    }
    assert keys == {
        "local": {"p", "s", "l"},
        "global": {"p", "s", "g", "l"},
        "lone": {"p", "s", "g"},
        "long": {"p", "s", "g", "l"},
    }


def test_a_page_may_start_at_a_key_made_by_hand(engine: Engine) -> None:
    table = indexed_table(engine)
    fill(engine, table, [{"p": s("a"), "s": n(i), "l": s("u"), "g": s("y")} for i in range(6)])
    found = call(
        engine,
        "Query",
        TableName=table,
        KeyConditionExpression="p = :p",
        ExpressionAttributeValues={":p": s("a")},
        ExclusiveStartKey={"p": s("a"), "s": n("2.5")},
    )
    assert [item["s"]["N"] for item in found["Items"]] == ["3", "4", "5"]
    found = call(
        engine,
        "Query",
        TableName=table,
        IndexName="local",
        KeyConditionExpression="p = :p",
        ExpressionAttributeValues={":p": s("a")},
        ExclusiveStartKey={"p": s("a"), "s": n(100), "l": s("t")},
        ScanIndexForward=True,
    )
    assert found["Count"] == 6


# --- Start keys that are refused ----------------------------------------------------------------


@pytest.fixture
def library(engine: Engine) -> Engine:
    make_table(
        engine,
        {"p": "S", "s": "N", "g": "S", "h": "B"},
        name="books",
        globally=(index("global", key_schema("g", "h")),),
    )
    return engine


OUTSIDE = "The provided starting key is outside query boundaries based on provided conditions"
LONG = (
    "One or more parameter values were invalid: "
    "Size of hashkey has exceeded the maximum size limit of2048 bytes"
)
EMPTY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute "
    "cannot contain an empty string value. Key: p"
)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({}, INVALID),
        ({"p": s("a")}, INVALID),
        ({"p": s("a"), "x": n(1)}, INVALID),
        ({"p": s("a"), "s": n(1), "x": n(1)}, INVALID),
        ({"p": n(1), "s": n(1)}, SCHEMA),
        ({"p": s("a"), "s": s("1")}, SCHEMA),
        ({"p": s(""), "s": n(1)}, EMPTY),
        ({"p": s("a" * 2049), "s": n(1)}, LONG),
        ({"p": s("b"), "s": n(1)}, OUTSIDE),
        (
            {"p": s("a"), "s": {"N": "x"}},
            "The parameter cannot be converted to a numeric value: x",
        ),
        (
            {"p": s("a"), "s": {"SS": []}},
            f"{INVALID}: One or more parameter values were invalid: "
            "An string set  may not be empty",
        ),
    ],
)
def test_a_start_key_must_be_a_key_of_the_partition(
    library: Engine, start: Item, message: str
) -> None:
    assert message == refusal_of(
        library,
        TableName="books",
        KeyConditionExpression="p = :p",
        ExpressionAttributeValues={":p": s("a")},
        ExclusiveStartKey=start,
    )


def test_a_start_key_must_lie_in_the_range_asked_for(library: Engine) -> None:
    def starting(p: str, number: int) -> str:
        return refusal_of(
            library,
            TableName="books",
            KeyConditionExpression="p = :p AND s > :s",
            ExpressionAttributeValues={":p": s("a"), ":s": n(5)},
            ExclusiveStartKey={"p": s(p), "s": n(number)},
        )

    assert starting("a", 5) == "The provided starting key does not match the range key predicate"
    assert starting("b", 6) == "The query can return at most one row and cannot be restarted"


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"p": s("a"), "s": n(1), "g": s("y")}, INVALID),
        ({"p": s("a"), "s": n(1), "g": s("y"), "x": b(b"h")}, INVALID),
        ({"p": s("a"), "s": n(1), "g": s("y"), "h": s("h")}, SCHEMA),
        ({"p": n(1), "s": n(1), "g": s("y"), "h": b(b"h")}, f"{INVALID}: {SCHEMA}"),
        ({"p": s("a"), "s": n(1), "g": s("z"), "h": b(b"h")}, OUTSIDE),
    ],
)
def test_a_start_key_of_an_index_has_its_keys_and_the_tables(
    library: Engine, start: Item, message: str
) -> None:
    assert message == refusal_of(
        library,
        TableName="books",
        IndexName="global",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": s("y")},
        ExclusiveStartKey=start,
    )


def test_key_conditions_and_start_key_are_checked_attribute_by_attribute(library: Engine) -> None:
    # The partition's condition is wrong, and then the start key's sort part.
    def starting(p: Any) -> str:
        return refusal_of(
            library,
            TableName="books",
            KeyConditionExpression="p > :p",
            ExpressionAttributeValues={":p": s("a")},
            ExclusiveStartKey={"p": p, "s": s("no number")},
        )

    assert starting(s("a")) == "Query key condition not supported"
    assert starting(n(1)) == SCHEMA


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ExclusiveStartKey": {"p": s("a")}}, f"{INVALID}: {SCHEMA}"),
        ({"ExclusiveStartKey": {"p": s("a"), "s": s("1")}}, f"{INVALID}: {SCHEMA}"),
        ({"ExclusiveStartKey": {"p": s(""), "s": n(1)}}, f"{INVALID}: {EMPTY}"),
        ({"IndexName": "global", "ExclusiveStartKey": {"p": s("a"), "s": n(1)}}, INVALID),
    ],
)
def test_a_scan_has_its_own_words_for_a_wrong_start(
    library: Engine, params: Any, message: str
) -> None:
    assert refusal_of(library, "Scan", TableName="books", **params) == message


def test_a_page_does_not_outlast_half_a_second(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(engine, {"p": "S", "s": "N"})
    fill(engine, table, [{"p": s("a"), "s": n(number)} for number in range(200)])
    monkeypatch.setattr("bigtime.engine.operations.page.PAGE_SECONDS", -1.0)
    parts = list(pages(engine, "Scan", TableName=table))
    assert [part["Count"] for part in parts] == [64, 64, 64, 8]


def test_a_bad_page_request_is_always_dynamodbs_own_error(library: Engine) -> None:
    odd: list[Any] = [1, "x", [], {"p": None}, {"p": {"S": "\ud800"}}, {"p": {}}, {"p": {"S": 1}}]
    for start in odd:
        for operation in ("Query", "Scan"):
            with pytest.raises(DynamoDBError):
                call(library, operation, TableName="books", ExclusiveStartKey=start)


def test_legacy_faults_are_found_before_those_of_the_start_key(library: Engine) -> None:
    duplicate = "One or more parameter values were invalid: Duplicate value in attribute name: x"
    start = {"p": s("a"), "s": {"N": "x"}}
    for operation in ("Query", "Scan"):
        asked = {"AttributesToGet": ["x", "x"], "ExclusiveStartKey": start}
        assert refusal_of(library, operation, TableName="books", **asked) == duplicate
