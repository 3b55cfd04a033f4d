"""The tests that decide, by their numbers: two that belong to no system, and that all are there."""

from __future__ import annotations

import re
import sys
from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bigtime.advisor import check_system
from bigtime.advisor.prices import rate
from bigtime.model import (
    DesignError,
    Entity,
    Keys,
    Page,
    System,
    Table,
    at_least,
    global_index,
    pattern,
    query,
)
from bigtime.wire import Steps

TESTS = Path(__file__).parents[1]
DECIDING = range(1, 17)


# A month of the portal


REQUESTS = {
    "product reads": (1_000_000, 0, "0.250000"),
    "campaign reads": (10_000, 0, "0.002500"),
    "tenant lookups": (100_000, 0, "0.025000"),
    "order writes": (0, 100_000, "0.125000"),
    "tenant writes": (0, 50_000, "0.062500"),
    "admin operations": (0, 500, "0.000625"),
    "index writes": (0, 200_000, "0.250000"),
}


def test_a_month_of_the_portal_costs_72_cents_and_not_715_dollars() -> None:
    """Deciding test 8 (T47): at a quarter dollar a million reads, and five quarters the writes."""
    prices = rate("us-east-1", on=date(2024, 10, 31))
    assert (prices.read, prices.write) == (Decimal("0.25"), Decimal("1.25"))

    costs = [prices.dollars(reads, writes) for reads, writes, _ in REQUESTS.values()]

    assert costs == [Decimal(told) for *_, told in REQUESTS.values()]
    assert sum(costs) == Decimal("0.715625")


# Declarations that cannot work


def design(main: Any) -> System:
    """Things in a table with a sort key and an index, where they have only this key."""
    table = Table("Things", "PK", "SK", indexes=[global_index("ByName", "NamePK", "NameSK")])

    class Thing(Entity, table=table):
        keys = Keys(main=main)
        name: str

    return System("things", (table,))


WRONG: dict[str, tuple[Any, str]] = {
    "an unknown field": (("THING#{colour}", "THING#{name}"), "colour"),
    "an unmatched brace": (("THING#{name", "THING#{name}"), "this brace has no partner"),
    "a missing sort-key template": ("THING#{name}", "SK"),
    "an index nobody maps": (("THING#{name}", "THING#{name}"), "no entity maps index ByName"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_declaration_that_cannot_work_is_an_error_at_import(what: str) -> None:
    """Deciding test 16: it says what to change."""
    main, told = WRONG[what]
    with pytest.raises(DesignError, match=told):
        design(main)


PLAIN = Table("Plain", "PK")


class Plain(Entity, table=PLAIN):
    keys = Keys(main="{name}")
    name: str


@pattern("List Things after a Name", index="Main table")
def list_after(name: str) -> Steps[Page[Plain]]:
    """There is no sort key to range over."""
    return (yield from query(Plain.within("main", name=at_least(name))))


def test_a_range_on_a_key_without_a_sort_key_is_an_error_before_any_request() -> None:
    """Deciding test 16, its last part: `check`, which runs in the tests, meets it too."""
    with pytest.raises(DesignError, match="name"):
        next(list_after("a"))

    found = check_system(System("plain", (PLAIN,), modules=(sys.modules[__name__],)))
    assert [each.code for each in found] == ["dry-run"]


# All of them


def test_each_of_the_sixteen_is_there_under_its_number() -> None:
    told = Counter(
        int(number)
        for file in TESTS.rglob("test_*.py")
        for number in re.findall(r'"""Deciding test (\d+)', file.read_text())
    )
    assert [*sorted(told)] == [*DECIDING]
