"""The charts, tables and requests of the catalogue are those of its schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bigtime.advisor import chart, check_system, explain, open_findings
from bigtime.advisor.sample import sample_arguments
from bigtime.systems.catalog import SYSTEM
from tests.store.places import Place

EXPECTED = Path(__file__).with_name("chart.md")
PATTERNS, BEYOND = "## Access patterns", "## Patterns beyond the contract"


def charts_in(markdown: str) -> dict[str, list[list[str]]]:
    """The rows of each chart, by its heading."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in markdown.splitlines():
        if line.startswith("#"):
            heading = line
        elif line.startswith("|") and not line.startswith("|---"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found.setdefault(heading, []).append(cells)
    return found


def is_as_noted(note: str, expected: str) -> bool:
    """Whatever the case of the first letter and the end; `...` stands for any beginning."""
    note, expected = note.rstrip("."), expected.rstrip(".")
    if expected.startswith("..."):
        return note.endswith(expected.removeprefix("...").strip())
    return note[:1].lower() + note[1:] == expected[:1].lower() + expected[1:]


def test_charts_of_entities_and_indexes_are_the_contracts() -> None:
    expected = charts_in(EXPECTED.read_text())
    made = charts_in(chart(SYSTEM))
    patterns = made.pop(PATTERNS)

    assert [*made, PATTERNS, BEYOND] == [*expected]
    assert {heading: expected[heading] for heading in made} == made
    assert len(patterns) == len(expected[PATTERNS]) + len(expected[BEYOND]) - 1


@pytest.mark.parametrize("heading", [PATTERNS, BEYOND])
def test_chart_of_patterns_is_the_contracts(heading: str) -> None:
    _, *expected = charts_in(EXPECTED.read_text())[heading]
    made = {row[0]: row for row in charts_in(chart(SYSTEM))[PATTERNS]}

    for title, *cells, note in expected:
        assert made[title][1:-1] == cells
        assert is_as_noted(made[title][-1], note), title


# The schema's tables: name, keys, and for each index its keys and what it projects.
TABLES: dict[str, tuple[dict[str, str], dict[str, tuple[list[str], str, list[str]]]]] = {
    "Deals": (
        {"deal_id": "HASH"},
        {
            "DealsByBrand": (["brand_id", "created_at"], "ALL", []),
            "DealsByCategory": (
                ["category_id", "created_at"],
                "INCLUDE",
                ["brand_name", "price", "title"],
            ),
        },
    ),
    "Users": ({"user_id": "HASH"}, {}),
    "Brands": ({"brand_id": "HASH"}, {}),
    "UserWatches": (
        {"user_id": "HASH", "watch_key": "RANGE"},
        {
            "WatchesByBrand": (["brand_id", "user_id"], "KEYS_ONLY", []),
            "WatchesByCategory": (["category_id"], "INCLUDE", ["created_at", "target_name"]),
            "WatchesByType": (["watch_type", "created_at"], "INCLUDE", ["target_name"]),
        },
    ),
    "UserActivities": ({"user_id": "HASH", "sk": "RANGE"}, {}),
    "TrendingDeals": (
        {"category_id": "HASH", "engagement_score": "RANGE"},
        {"TrendingByDiscount": (["brand_id", "discount_percentage"], "ALL", [])},
    ),
}


def index_facts(index: dict[str, Any]) -> tuple[list[str], str, list[str]]:
    projection = index["Projection"]
    return (
        [each["AttributeName"] for each in index["KeySchema"]],
        projection["ProjectionType"],
        sorted(projection.get("NonKeyAttributes", [])),
    )


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_made_with_the_keys_indexes_and_projections_of_the_schema(
    alone: Place, name: str
) -> None:
    made = alone.ask("DescribeTable", TableName=name)["Table"]
    keys, indexes = TABLES[name]

    assert {each["AttributeName"]: each["KeyType"] for each in made["KeySchema"]} == keys
    found = {
        index["IndexName"]: index_facts(index) for index in made.get("GlobalSecondaryIndexes", [])
    }
    assert found == indexes
    types = {
        attribute_definition["AttributeName"]: attribute_definition["AttributeType"]
        for attribute_definition in made["AttributeDefinitions"]
    }
    numbers = {"engagement_score", "discount_percentage"}
    assert types == {name: "N" if name in numbers else "S" for name in types}


def test_there_are_six_tables() -> None:
    assert [table.name for table in SYSTEM.tables] == [*TABLES]


# The schema's operation of each numbered pattern, and whether it compares with `>=`.
OPERATIONS = {
    "get_deal_by_id": ("GetItem", False),
    "create_deal": ("PutItem", False),
    "get_deals_by_brand": ("Query", False),
    "get_deals_by_category": ("Query", False),
    "get_recent_deals_by_brand": ("Query", True),
    "get_user_by_id": ("GetItem", False),
    "create_user": ("PutItem", False),
    "get_brand_by_id": ("GetItem", False),
    "create_brand": ("PutItem", False),
    "get_user_watches": ("Query", False),
    "get_brand_watchers": ("Query", False),
    "get_category_watchers": ("Query", False),
    "get_user_activities": ("Query", False),
    "get_user_activities_after": ("Query", True),
    "get_trending_by_category": ("Query", False),
    "get_highly_engaged_deals": ("Query", True),
    "get_high_discount_deals": ("Query", True),
    "get_watches_by_type": ("Query", False),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_numbered_pattern_is_one_request_of_the_schemas_kind(name: str) -> None:
    pattern = SYSTEM.pattern(name)
    explanation = explain(pattern(**sample_arguments(pattern)), tables=SYSTEM.tables)

    (only,) = explanation.requests
    operation, compares = OPERATIONS[name]
    assert only.request.operation == operation
    assert (">=" in only.request.params.get("KeyConditionExpression", "")) is compares


def test_the_numbered_patterns_are_1_to_18_each_once() -> None:
    titles = {
        pattern.title: pattern.name for pattern in SYSTEM.patterns.values() if "#" in pattern.title
    }

    numbered = {int(title.split()[1].removeprefix("#")): title.split()[2] for title in titles}
    assert [*sorted(numbered)] == [*range(1, 19)]
    assert {*numbered.values()} == {*titles.values()} == {*OPERATIONS}


def test_nothing_is_left_to_say_about_the_design() -> None:
    """The hot partitions of WatchesByType are as the schema has them (D19)."""
    assert open_findings(SYSTEM) == []
    assert [each.key for each in check_system(SYSTEM)] == ["hot-partition UserWatch.WatchesByType"]
