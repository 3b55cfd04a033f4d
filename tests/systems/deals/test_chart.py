"""The charts that the code makes are those of the contract, cell by cell."""

from __future__ import annotations

import re
from pathlib import Path

from bigtime.advisor.charts import entity_chart, index_chart, pattern_chart
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.design import BIG_TIME_DEALS

EXPECTED = Path(__file__).with_name("chart.md").read_text()
REMARK = re.compile(r"\s*\([^)]*\)")
FIELD = re.compile("<[^>]*>")


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if not set(row[0]) <= {"-"} and row[0] not in ("entity", HEAD)]


HEAD = "access pattern"


def section(heading: str) -> list[list[str]]:
    _, _, rest = EXPECTED.partition(f"## {heading}\n")
    return rows(rest.partition("\n## ")[0])


def entity(row: list[str]) -> tuple[str, ...]:
    """An entity's row without remarks: what is in brackets, and what no key is."""
    name, pk, sk, others = row
    keys = others if "`" in others else ""
    told = (REMARK.sub("", name), pk, pk if sk == "same as PK" else sk, REMARK.sub("", keys))
    return tuple(FIELD.sub(lambda field: field[0].lower(), each) for each in told)


def patterns(row: list[str]) -> list[tuple[str, ...]]:
    """One row for each of the patterns that it names."""
    titles, index, parameters, notes = row
    note = (notes[:1].lower() + notes[1:]).removesuffix(".")
    return [(title, index, parameters, note) for title in titles.split(", ")]


def test_every_entity_has_the_keys_of_the_contract() -> None:
    made = [entity(row) for row in rows(entity_chart(BIG_TIME_DEALS))]
    contract, beyond = section("Entities of the contract"), section("Entities beyond the contract")
    assert made == [entity(row) for row in contract + beyond]
    assert len(contract) == 13


def test_every_index_holds_the_entities_of_the_contract() -> None:
    held = {
        index.name: [row[0] for row in rows(index_chart(BIG_TIME_DEALS, index))]
        for index in BIG_TIME_DEALS.indexes
    }
    assert held == {
        "GSI1": ["Deal", "Message"],
        "GSI2": ["Deal"],
        "GSI3": ["Deal"],
        "UserIndex": ["User"],
    }


def test_every_access_pattern_is_that_of_the_contract() -> None:
    made = {
        pattern
        for row in rows(pattern_chart(SYSTEM.patterns.values()))
        for pattern in patterns(row)
    }
    contract = [
        pattern for row in section("Access patterns of the contract") for pattern in patterns(row)
    ]
    beyond = [
        pattern
        for row in section("Access patterns beyond the contract")
        for pattern in patterns(row)
    ]
    assert made == {*contract, *beyond}
    assert (len(contract), len(SYSTEM.patterns)) == (29, 54)


def test_the_table_is_that_of_the_contract() -> None:
    table = BIG_TIME_DEALS
    assert table.name == "BigTimeDeals"
    assert [attribute.name for attribute in table.main.attributes] == ["PK", "SK"]
    assert {index.name: [a.name for a in index.attributes] for index in table.indexes} == {
        "GSI1": ["GSI1PK", "GSI1SK"],
        "GSI2": ["GSI2PK", "GSI2SK"],
        "GSI3": ["GSI3PK", "GSI3SK"],
        "UserIndex": ["UserIndex"],
    }
    assert {index.projection for index in table.indexes} == {"ALL"}
    assert (table.stream, table.type_attribute) == ("NEW_AND_OLD_IMAGES", "Type")
