"""Scan: the whole of a table or index, or its disjoint segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.storage.keys import segment_range, with_hash_prefix
from bigtime.wire import Item
from tests.engine.calls import call, index, key_schema, make_table, n, refusal_of, s

ITEMS = 120
MOST_SEGMENTS = 1_000_000


@pytest.fixture(scope="module")
def crowd() -> Iterator[Engine]:
    """The table `crowd` of many partitions, half of them in the index `global`."""
    with Engine.memory(housekeeping=False) as engine:
        make_table(
            engine,
            {"p": "S", "g": "N"},
            name="crowd",
            keys=("p",),
            globally=(index("global", key_schema("g"), "KEYS_ONLY"),),
        )
        for number in range(ITEMS):
            item: Item = {"p": s(f"item {number}"), "x": n(number % 5)}
            if number % 2:
                item["g"] = n(number % 30)
            call(engine, "PutItem", TableName="crowd", Item=item)
        yield engine


def scan_all(engine: Engine, **params: Any) -> list[str]:
    found: list[str] = []
    while True:
        page = call(engine, "Scan", TableName="crowd", **params)
        found.extend(item["p"]["S"] for item in page["Items"])
        if "LastEvaluatedKey" not in page:
            return found
        params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


@given(st.integers(1, 60), st.sampled_from([None, 1, 7]), st.booleans())
def test_segments_are_disjoint_and_complete(
    crowd: Engine, total: int, limit: int | None, by_index: bool
) -> None:
    params: dict[str, Any] = {"Limit": limit} if limit else {}
    if by_index:
        params["IndexName"] = "global"
    whole = scan_all(crowd, **params)
    parts = [
        scan_all(crowd, TotalSegments=total, Segment=segment, **params) for segment in range(total)
    ]
    assert Counter(key for part in parts for key in part) == Counter(whole)
    assert len(whole) == len(set(whole)) == (ITEMS // 2 if by_index else ITEMS)
    # Segments cut the order of the whole into stretches.
    assert [key for part in parts for key in part] == whole


@given(st.integers(1, MOST_SEGMENTS), st.integers(0, 2**32 - 1))
def test_a_million_segments_still_meet_without_gap_or_overlap(total: int, point: int) -> None:
    segment = point * total // 2**32
    low, high = segment_range(segment, total)
    place = point.to_bytes(4, "big")
    assert low is not None and low <= place and (high is None or place < high)
    if segment + 1 < total:
        assert segment_range(segment + 1, total).low == high
    assert (segment_range(0, total).low, segment_range(total - 1, total).high) == (bytes(4), None)


def test_a_million_segments_hold_each_item_once(crowd: Engine) -> None:
    for key in scan_all(crowd)[::20]:
        point = int.from_bytes(with_hash_prefix(key.encode())[:4], "big")
        segment = point * MOST_SEGMENTS // 2**32
        held = [
            key in scan_all(crowd, TotalSegments=MOST_SEGMENTS, Segment=each)
            for each in (max(segment - 1, 0), segment, min(segment + 1, MOST_SEGMENTS - 1))
        ]
        assert held == [False, True, False]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"Segment": 1},
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present",
        ),
        (
            {"TotalSegments": 4},
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present",
        ),
        (
            {"TotalSegments": 4, "Segment": 4},
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            "Segment: 4 is not less than TotalSegments: 4",
        ),
        (
            {"TotalSegments": MOST_SEGMENTS + 1, "Segment": 0},
            "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy "
            "constraint: Member must have value less than or equal to 1000000",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression "
            "when choosing to get SPECIFIC_ATTRIBUTES",
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "x"},
            "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
        (
            {"IndexName": "global", "Select": "ALL_ATTRIBUTES"},
            "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not "
            "supported for global secondary index global because its projection type is not ALL",
        ),
        (
            {"IndexName": "global", "ProjectionExpression": "x"},
            "One or more parameter values were invalid: "
            "Global secondary index global does not project [x]",
        ),
        (
            {"IndexName": "global", "ConsistentRead": True},
            "Consistent reads are not supported on global secondary indexes",
        ),
        ({"IndexName": "absent"}, "The table does not have the specified index: absent"),
        (
            {"FilterExpression": "é" * 2049},
            "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; "
            "expression size: 4098",
        ),
        (
            {"ProjectionExpression": "x" * 4097},
            "Invalid ProjectionExpression: Expression size has exceeded the maximum allowed size;",
        ),
    ],
)
def test_a_scan_that_makes_no_sense_is_refused(crowd: Engine, params: Any, message: str) -> None:
    assert refusal_of(crowd, "Scan", TableName="crowd", **params) == message


def test_a_start_key_belongs_to_its_segment(crowd: Engine) -> None:
    elsewhere = call(crowd, "Scan", TableName="crowd", TotalSegments=2, Segment=1, Limit=1)
    message = refusal_of(
        crowd,
        "Scan",
        TableName="crowd",
        TotalSegments=2,
        Segment=0,
        ExclusiveStartKey=elsewhere["LastEvaluatedKey"],
    )
    assert message == (
        "The provided starting key is invalid: Invalid ExclusiveStartKey. "
        "Please use ExclusiveStartKey with correct Segment. TotalSegments: 2 Segment: 0"
    )


def test_filters_choose_among_what_was_scanned(crowd: Engine) -> None:
    found = call(
        crowd,
        "Scan",
        TableName="crowd",
        FilterExpression="x = :x AND begins_with(p, :p)",
        ExpressionAttributeValues={":x": n(3), ":p": s("item")},
        ReturnConsumedCapacity="TOTAL",
    )
    assert (found["Count"], found["ScannedCount"]) == (ITEMS // 5, ITEMS)
    legacy = call(
        crowd,
        "Scan",
        TableName="crowd",
        ScanFilter={"x": {"ComparisonOperator": "EQ", "AttributeValueList": [n(3)]}},
        Select="COUNT",
        ReturnConsumedCapacity="TOTAL",
    )
    assert (legacy["Count"], legacy["ScannedCount"]) == (ITEMS // 5, ITEMS)
    assert legacy["ConsumedCapacity"] == found["ConsumedCapacity"]


def test_an_index_holds_only_the_items_that_have_its_keys(crowd: Engine) -> None:
    found = call(crowd, "Scan", TableName="crowd", IndexName="global")
    assert found["Count"] == ITEMS // 2
    assert all(set(item) == {"p", "g"} for item in found["Items"])


def test_items_of_one_partition_stay_together_and_sorted(engine: Engine) -> None:
    table = make_table(engine, {"p": "S", "s": "N"})
    for number in range(30):
        item = {"p": s(f"p{number % 3}"), "s": n(30 - number)}
        call(engine, "PutItem", TableName=table, Item=item)
    found = call(engine, "Scan", TableName=table)["Items"]
    runs = [found[start : start + 10] for start in (0, 10, 20)]
    assert all(len({item["p"]["S"] for item in run}) == 1 for run in runs)
    for run in runs:
        numbers = [int(item["s"]["N"]) for item in run]
        assert numbers == sorted(numbers)
