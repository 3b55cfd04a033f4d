"""What a query shows and costs: Select, projections of indexes, capacity."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import Response, ValidationException
from tests.engine.calls import call, n, refusal_of, s
from tests.engine.queries import INVALID, legacy, make_library

# --- What is refused, in AWS's order ------------------------------------------------------------


@pytest.fixture
def library(engine: Engine) -> Engine:
    return make_library(engine)


# --- Select -------------------------------------------------------------------------------------


@pytest.fixture
def shelves(library: Engine) -> Engine:
    """Five items of 5 KB in one partition and in every index."""
    for number in range(5):
        item = {
            "p": s("x"),
            "s": n(number),
            "l": s("same"),
            "g": s("x"),
            "h": n(1),
            "shown": s("i"),
            "story": s("b" * 5000),
        }
        call(library, "PutItem", TableName="books", Item=item)
    return library


def ask(engine: Engine, index_name: str | None, **params: Any) -> Response:
    partition = "g" if index_name in ("global", "lone") else "p"
    return call(
        engine,
        "Query",
        TableName="books",
        KeyConditionExpression=f"{partition} = :x",
        ExpressionAttributeValues={":x": s("x")},
        **({"IndexName": index_name} if index_name else {}),
        **params,
    )


ONE_ERROR = "1 validation error detected: "
WHOLE = {"p", "s", "l", "g", "h", "shown", "story"}


@pytest.mark.parametrize(
    ("index_name", "params", "names"),
    [
        (None, {}, WHOLE),
        (None, {"Select": "ALL_ATTRIBUTES"}, WHOLE),
        (None, {"ProjectionExpression": "s, nowhere"}, {"s"}),
        (None, {"Select": "SPECIFIC_ATTRIBUTES", "ProjectionExpression": "s"}, {"s"}),
        ("local", {}, {"p", "s", "l"}),
        ("local", {"Select": "ALL_PROJECTED_ATTRIBUTES"}, {"p", "s", "l"}),
        ("local", {"Select": "ALL_ATTRIBUTES"}, WHOLE),
        ("local", {"ProjectionExpression": "l, story"}, {"l", "story"}),
        ("global", {}, {"p", "s", "g", "h", "shown"}),
        ("global", {"Select": "ALL_PROJECTED_ATTRIBUTES"}, {"p", "s", "g", "h", "shown"}),
        ("global", {"ProjectionExpression": "shown"}, {"shown"}),
        ("lone", {"Select": "ALL_ATTRIBUTES"}, WHOLE),
    ],
)
def test_selections_show_what_they_name(
    shelves: Engine, index_name: str | None, params: Any, names: set[str]
) -> None:
    found = ask(shelves, index_name, **params)
    assert found["Count"] == 5
    assert all(set(item) == names for item in found["Items"])


@pytest.mark.parametrize(
    ("index_name", "params", "message"),
    [
        (
            None,
            {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "p"},
            ONE_ERROR
            + "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        ),
        (
            "local",
            {"Select": "ALL_PROJECTED_ATTRIBUTES", "ProjectionExpression": "p"},
            ONE_ERROR + "Cannot specify the ProjectionExpression when choosing to get "
            "ALL_PROJECTED_ATTRIBUTES",
        ),
        (
            None,
            {"Select": "COUNT", "ProjectionExpression": "p"},
            ONE_ERROR
            + "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
        (
            None,
            {"Select": "SPECIFIC_ATTRIBUTES"},
            ONE_ERROR + "Must specify the AttributesToGet or ProjectionExpression "
            "when choosing to get SPECIFIC_ATTRIBUTES",
        ),
        (
            None,
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            ONE_ERROR
            + "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
        (
            "global",
            {"Select": "ALL_ATTRIBUTES"},
            INVALID
            + "Select type ALL_ATTRIBUTES is not supported for global secondary index global "
            "because its projection type is not ALL",
        ),
        (
            "global",
            {"ProjectionExpression": "shown, story, l"},
            INVALID + "Global secondary index global does not project [l, story]",
        ),
    ],
)
def test_selections_that_contradict_are_refused(
    shelves: Engine, index_name: str | None, params: Any, message: str
) -> None:
    with pytest.raises(ValidationException) as caught:
        ask(shelves, index_name, **params)
    assert caught.value.message == message


def test_attributes_to_get_contradicts_as_a_projection_does(shelves: Engine) -> None:
    assert (
        refusal_of(
            shelves,
            TableName="books",
            KeyConditions={"p": legacy("EQ", s("x"))},
            AttributesToGet=["p"],
            Select="COUNT",
        )
        == f"{ONE_ERROR}Cannot specify the AttributesToGet when choosing to get only the Count"
    )


def test_counting_gives_no_items(shelves: Engine) -> None:
    assert ask(shelves, None, Select="COUNT") == {"Count": 5, "ScannedCount": 5}
    filtered = call(
        shelves,
        "Query",
        TableName="books",
        KeyConditionExpression="p = :x",
        FilterExpression="h = :h",
        ExpressionAttributeValues={":x": s("x"), ":h": n(2)},
        Select="COUNT",
    )
    assert filtered == {"Count": 0, "ScannedCount": 5}


def count_with_story(engine: Engine, index_name: str, **params: Any) -> int:
    return int(
        ask(engine, index_name, FilterExpression="attribute_exists(story)", **params)["Count"]
    )


@pytest.mark.parametrize("index_name", ["global", "local"])
def test_a_filter_names_only_what_the_index_projects(shelves: Engine, index_name: str) -> None:
    problem = f"Secondary index {index_name} does not project one or more filter attributes: "
    partition = "g" if index_name == "global" else "p"
    with pytest.raises(ValidationException) as caught:
        count_with_story(shelves, index_name)
    assert caught.value.message == f"{INVALID}{problem}[story]"
    assert (
        refusal_of(
            shelves,
            TableName="books",
            IndexName=index_name,
            KeyConditions={partition: legacy("EQ", s("x"))},
            QueryFilter={"story": legacy("EQ", s("b")), "chapters": legacy("EQ", n(1))},
        )
        == f"{INVALID}{problem}[chapters, story]"
    )


def test_a_filter_finds_what_is_projected_or_fetched(shelves: Engine) -> None:
    assert count_with_story(shelves, "lone") == 5
    assert count_with_story(shelves, "local", Select="ALL_ATTRIBUTES") == 5
    assert count_with_story(shelves, "local", ProjectionExpression="story") == 5


@pytest.mark.parametrize("index_name", ["global", "local"])
def test_the_filter_of_a_scan_finds_nothing_that_is_not_projected(
    shelves: Engine, index_name: str
) -> None:
    found = call(
        shelves,
        "Scan",
        TableName="books",
        IndexName=index_name,
        FilterExpression="attribute_exists(story)",
    )
    assert (found["Count"], found["ScannedCount"]) == (0, 5)


# --- Capacity -----------------------------------------------------------------------------------


def consumed_capacity(engine: Engine, index_name: str | None, **params: Any) -> Any:
    asked = ask(engine, index_name, ReturnConsumedCapacity="INDEXES", **params)
    return asked["ConsumedCapacity"]


def test_sizes_are_summed_before_they_are_rounded(shelves: Engine) -> None:
    # Five items of about 5,050 bytes are 25,250: seven blocks of 4 KB.
    assert consumed_capacity(shelves, None) == {
        "TableName": "books",
        "CapacityUnits": 3.5,
        "Table": {"CapacityUnits": 3.5},
    }
    assert consumed_capacity(shelves, None, ConsistentRead=True)["CapacityUnits"] == 7
    assert consumed_capacity(shelves, None, Select="COUNT")["CapacityUnits"] == 3.5
    total = ask(shelves, None, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    assert total == {"TableName": "books", "CapacityUnits": 3.5}


def test_an_index_is_paid_for_what_it_projects(shelves: Engine) -> None:
    assert consumed_capacity(shelves, "global") == {
        "TableName": "books",
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "GlobalSecondaryIndexes": {"global": {"CapacityUnits": 0.5}},
    }


def test_a_local_index_pays_for_each_item_it_fetches(shelves: Engine) -> None:
    # Each item of 5 KB is two blocks, whatever the others are.
    assert consumed_capacity(shelves, "local", ProjectionExpression="story") == {
        "TableName": "books",
        "CapacityUnits": 5.5,
        "Table": {"CapacityUnits": 5.0},
        "LocalSecondaryIndexes": {"local": {"CapacityUnits": 0.5}},
    }
    assert consumed_capacity(shelves, "local", ProjectionExpression="l")["Table"] == {
        "CapacityUnits": 0.0
    }


def test_an_empty_answer_costs_the_least_read(library: Engine) -> None:
    assert consumed_capacity(library, None)["CapacityUnits"] == 0.5
    assert consumed_capacity(library, None, ConsistentRead=True)["CapacityUnits"] == 1.0
