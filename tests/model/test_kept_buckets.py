"""Buckets that are kept: the same pages, with fewer requests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.buckets import buckets, newest_first
from bigtime.model.operations.page import Position
from bigtime.model.schema.condition import attr
from bigtime.store import Store
from tests.model.designs import BIG_TIME_DEALS, NOON, Deal, DealCard, deal, fill, opened, requests

APPLE = buckets(Deal, "GSI2", brand="APPLE")
SPAN = 6


class Days:
    """Keeps every day that it is given."""

    def __init__(self) -> None:
        self.days: dict[Any, Sequence[Deal]] = {}

    def get(self, bucket: Any) -> Sequence[Deal] | None:
        return self.days.get(bucket)

    def put(self, bucket: Any, items: Sequence[Deal]) -> None:
        self.days[bucket] = tuple(items)


@pytest.fixture
def store(engine: Engine) -> Store:
    return opened(engine, BIG_TIME_DEALS)


def days_ago(days: int, n: int) -> Deal:
    return deal(NOON - timedelta(days=days), n)


def test_a_day_that_was_read_whole_is_not_asked_again(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(2, 2), days_ago(2, 3), days_ago(2, 4)])
    kept = Days()
    first = store.run(newest_first(APPLE, limit=3, kept=kept))
    assert len(requests(store)) == 3
    again = store.run(newest_first(APPLE, limit=3, kept=kept))
    assert again == first
    (asked,) = requests(store)  # the last day has more than the page took
    assert asked.params["Limit"] == 2


def test_what_is_forgotten_is_read_anew(store: Store) -> None:
    fill(store, [days_ago(1, 1)])
    kept = Days()
    store.run(newest_first(APPLE, limit=3, kept=kept))
    fill(store, [days_ago(1, 2)])
    assert len(store.run(newest_first(APPLE, limit=3, kept=kept))) == 1
    kept.days.clear()
    assert len(store.run(newest_first(APPLE, limit=3, kept=kept))) == 2


def test_a_day_that_is_begun_in_its_middle_is_asked_and_not_kept(store: Store) -> None:
    fill(store, [days_ago(0, n) for n in range(5)])
    first = store.run(newest_first(APPLE, limit=2))
    kept = Days()
    rest = store.run(newest_first(APPLE, limit=9, after=first.position, kept=kept))
    assert len(rest) == 3
    assert NOON.replace(hour=0) not in kept.days
    assert NOON.replace(hour=0) - timedelta(days=1) in kept.days


@pytest.mark.parametrize("asked", [{"filter": attr("title") == "x"}, {"only": DealCard}])
def test_a_part_of_a_bucket_is_not_kept(store: Store, asked: Any) -> None:
    with pytest.raises(DesignError, match="kept has whole buckets"):
        store.run(newest_first(APPLE, limit=2, kept=Days(), **asked))


@given(
    st.sets(st.integers(0, SPAN * 24 - 1), max_size=20),
    st.lists(st.integers(1, 7), min_size=1, max_size=6),
    st.integers(1, 4),
)
def test_pages_and_their_positions_are_the_same(
    hours: set[int], sizes: list[int], patience: int
) -> None:
    since = NOON - timedelta(days=SPAN)
    kept = Days()
    with Engine.memory(housekeeping=False) as engine:
        store = opened(engine, BIG_TIME_DEALS)
        fill(store, [deal(NOON - timedelta(hours=n), n) for n in hours])
        for size in sizes:
            position: Position | None = None
            while True:
                asked: Any = {"limit": size, "after": position, "since": since}
                plain = store.run(newest_first(APPLE, patience=patience, **asked))
                page = store.run(newest_first(APPLE, patience=patience, kept=kept, **asked))
                assert page == plain
                position = page.position
                if position is None:
                    break


def test_a_walk_stops_after_so_many_days_with_a_position(store: Store) -> None:
    fill(store, [days_ago(days, days) for days in (0, 2, 4, 6)])
    first = store.run(newest_first(APPLE, limit=9, most=4))
    assert [one.title for one in first] == ["deal 0", "deal 2"]
    assert len(requests(store)) == 4
    second = store.run(newest_first(APPLE, limit=9, most=4, after=first.position))
    assert [one.title for one in second] == ["deal 4", "deal 6"]


def test_the_last_day_of_a_walk_is_no_reason_to_stop_before_its_end(store: Store) -> None:
    since = NOON - timedelta(days=2)
    page = store.run(newest_first(APPLE, limit=9, most=3, since=since))
    assert (page.items, page.position) == ([], None)


def test_a_walk_of_no_day_is_refused(store: Store) -> None:
    with pytest.raises(DesignError, match="most is the number of buckets"):
        store.run(newest_first(APPLE, limit=9, most=0))
