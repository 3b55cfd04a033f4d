"""Time buckets: the walk over days, hours and months as one query."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.buckets import buckets, newest_first, oldest_first
from bigtime.model.operations.delete import delete
from bigtime.model.operations.page import CursorError, Position
from bigtime.model.operations.put import put
from bigtime.model.schema.condition import attr
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.key_range import at_least
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table
from bigtime.store import Store
from tests.model.churn import Churn
from tests.model.designs import (
    BIG_TIME_DEALS,
    NOON,
    READINGS,
    Brand,
    Deal,
    DealCard,
    Measurement,
    deal,
    fill,
    ksuid,
    opened,
    requests,
)

APPLE = buckets(Deal, "GSI2", brand="APPLE")


def days_ago(days: int, n: int = 0, **fields: Any) -> Deal:
    return deal(NOON - timedelta(days=days), n, **fields)


def days(store: Store) -> list[str]:
    """The days that were asked, and for how many deals."""
    return [
        f"{one.params['ExpressionAttributeValues'][':v0']['S'][-19:-9]} {one.params['Limit']}"
        for one in requests(store)
    ]


@pytest.fixture
def store(engine: Engine) -> Store:
    return opened(engine, BIG_TIME_DEALS)


def test_the_walk_begins_today_and_asks_each_day_for_what_is_missing(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(0, 2), days_ago(2, 3), days_ago(3, 4), days_ago(3, 5)])
    page = store.run(newest_first(APPLE, limit=4))
    assert [int(one.title[-1]) for one in page] == [2, 1, 3, 5]
    assert days(store) == ["2026-03-10 4", "2026-03-09 2", "2026-03-08 2", "2026-03-07 1"]


def test_the_next_page_begins_on_the_day_of_the_last_item_and_bounds_only_that(
    store: Store,
) -> None:
    fill(store, [days_ago(0, 1), days_ago(1, 2), days_ago(1, 3), days_ago(2, 4), days_ago(2, 5)])
    first = store.run(newest_first(APPLE, limit=2))
    requests(store)
    second = store.run(newest_first(APPLE, limit=3, after=first.position))
    assert [int(one.title[-1]) for one in [*first, *second]] == [1, 3, 2, 5, 4]
    asked = requests(store)
    assert ["ExclusiveStartKey" in one.params for one in asked] == [True, False]


def test_patience_ends_the_walk_with_a_position(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(9, 2)])
    page = store.run(newest_first(APPLE, limit=5))
    assert len(page) == 1
    assert len(requests(store)) == 6
    assert page.position is not None
    assert page.position.place == {"bucket": "2026-03-04T00:00:00", "key": None}
    page = store.run(newest_first(APPLE, limit=5, after=page.position))
    assert [one.title for one in page] == ["deal 2"]


def test_patience_counts_empty_days_in_a_row(store: Store) -> None:
    fill(store, [days_ago(days, days) for days in (2, 5, 8)])
    page = store.run(newest_first(APPLE, limit=3, patience=3))
    assert [one.title for one in page] == ["deal 2", "deal 5", "deal 8"]


def test_a_walk_with_an_end_comes_to_know_it(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(2, 2)])
    page = store.run(newest_first(APPLE, limit=5, since=date(2026, 3, 8)))
    assert len(page) == 2
    assert page.position is None
    assert len(requests(store)) == 3


def test_a_full_page_may_be_the_last_without_saying_so(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(2, 2)])
    page = store.run(newest_first(APPLE, limit=2, since=date(2026, 3, 8)))
    assert (len(page), page.position is None) == (2, False)
    page = store.run(newest_first(APPLE, limit=2, since=date(2026, 3, 8), after=page.position))
    assert (len(page), page.position) == (0, None)


def test_an_end_before_the_beginning_is_nothing(store: Store) -> None:
    fill(store, [days_ago(0, 1)])
    page = store.run(newest_first(APPLE, limit=5, since=date(2027, 1, 1)))
    assert (page.items, page.position) == ([], None)
    page = store.run(oldest_first(APPLE, limit=5, since=date(2027, 1, 1)))
    assert (page.items, page.position) == ([], None)


def test_time_ends_with_a_last_day(engine: Engine) -> None:
    last = datetime(9999, 12, 31, 23, tzinfo=UTC)
    store = opened(engine, BIG_TIME_DEALS, now=last)
    page = store.run(oldest_first(APPLE, since=last.date(), limit=5))
    assert page.items == [] and page.position is None


def test_time_begins_with_a_first_day(engine: Engine) -> None:
    first = datetime(1, 1, 1, 23, tzinfo=UTC)
    store = opened(engine, BIG_TIME_DEALS, now=first)
    page = store.run(newest_first(APPLE, since=first.date(), limit=5))
    assert page.items == [] and page.position is None


def test_oldest_first_walks_from_a_day_to_today(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(1, 2), days_ago(1, 3), days_ago(3, 4)])
    since = NOON - timedelta(days=3)
    first = store.run(oldest_first(APPLE, since=since, limit=2))
    second = store.run(oldest_first(APPLE, since=since, limit=5, after=first.position))
    assert [int(one.title[-1]) for one in [*first, *second]] == [4, 2, 3, 1]
    assert second.position is None


def test_oldest_first_sees_what_came_after_a_full_page_of_today(store: Store) -> None:
    fill(store, [days_ago(1, 1), days_ago(1, 2)])
    since = NOON - timedelta(days=1)
    first = store.run(oldest_first(APPLE, since=since, limit=2))
    fill(store, [days_ago(1, 3)])
    second = store.run(oldest_first(APPLE, since=since, limit=2, after=first.position))
    assert [one.title for one in second] == ["deal 3"]


def test_other_partitions_are_not_walked(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(0, 2, brand="SONY"), days_ago(1, 3, brand="SONY")])
    page = store.run(newest_first(buckets(Deal, "GSI2", brand="SONY"), limit=5))
    assert [one.title for one in page] == ["deal 2", "deal 3"]
    assert len(store.run(newest_first(buckets(Deal, "GSI1"), limit=5))) == 3


def test_a_filter_and_a_view(store: Store) -> None:
    fill(store, [days_ago(n % 3, n, price=n) for n in range(9)])
    page = store.run(newest_first(APPLE, limit=4, filter=attr("price") >= 4, only=DealCard))
    assert [type(one) for one in page] == [DealCard] * 4
    assert [one.title for one in page] == ["deal 6", "deal 7", "deal 4", "deal 8"]


def test_a_position_of_another_walk_is_refused(store: Store) -> None:
    fill(store, [days_ago(0, n) for n in range(3)])
    position = store.run(newest_first(APPLE, limit=1)).position
    for other in (
        newest_first(buckets(Deal, "GSI2", brand="SONY"), limit=1, after=position),
        newest_first(buckets(Deal, "GSI1"), limit=1, after=position),
        oldest_first(APPLE, since=NOON, limit=1, after=position),
    ):
        with pytest.raises(CursorError):
            store.run(other)


def test_a_walk_goes_on_after_the_id_of_the_last_deal_seen(store: Store) -> None:
    deals = [days_ago(days, n) for n, days in enumerate((0, 1, 1, 2))]
    fill(store, deals)
    seen = deals[2].deal_id
    page = store.run(
        newest_first(APPLE, limit=9, after=APPLE.after(deal_id=seen, created_at=seen.at))
    )
    assert page.items == [deals[1], deals[3]]
    first = store.run(newest_first(APPLE, limit=2))
    assert first.position == APPLE.after(deal_id=seen, created_at=deals[2].created_at)
    with pytest.raises(DesignError, match="after also needs created_at"):
        APPLE.after(deal_id=seen)


def test_hours_and_a_stretch_of_each(engine: Engine) -> None:
    moments = [NOON - timedelta(minutes=25 * n) for n in range(8)]
    store = opened(engine, READINGS, now=NOON)
    fill(store, [Measurement(sensor="s", at=at, value=n) for n, at in enumerate(moments)])
    page = store.run(newest_first(buckets(Measurement, "main", sensor="s"), limit=5))
    assert [one.value for one in page] == [0, 1, 2, 3, 4]


ARCHIVE = Table("Archive", "PK", "SK")


class Entry(Entity, table=ARCHIVE):
    keys = Keys(main=("{shelf}#{day:month}", "{day}#{number:04}"))
    shelf: str
    day: date
    number: int


def test_months_of_dates(engine: Engine) -> None:
    store = opened(engine, ARCHIVE)
    entries = [Entry(shelf="a", day=date(2026, month, 5), number=month) for month in (1, 2, 3)]
    fill(store, entries)
    page = store.run(newest_first(buckets(Entry, "main", shelf="a"), limit=9))
    assert page.items == entries[::-1]
    page = store.run(oldest_first(buckets(Entry, "main", shelf="a"), since=entries[1].day, limit=9))
    assert page.items == entries[1:]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: buckets(Brand, "main"), "has 0 buckets, and a walk needs one"),
        (lambda: buckets(Deal, "GSI1", created_at=NOON), "use Deal.within"),
        (lambda: buckets(Deal, "GSI2").at(NOON), "also needs brand"),
        (lambda: buckets(Deal, "GSI1", title="x").at(NOON), "not 'title'"),
    ],
)
def test_what_cannot_be_walked_is_refused(make: Any, words: str) -> None:
    with pytest.raises(DesignError, match=words):
        make()


def test_a_stretch_within_each_bucket(store: Store) -> None:
    deals = [days_ago(0, n) for n in range(4)]
    fill(store, deals)
    bounded = buckets(Deal, "GSI1", deal_id=at_least(deals[2].deal_id))
    assert store.run(newest_first(bounded, limit=9)).items == [deals[3], deals[2]]


SPAN = 6
moments = st.integers(0, SPAN * 24 * 4 - 1)
"""Quarters of hours before NOON: several a day, over some days."""
changes = st.lists(st.tuples(st.booleans(), moments), max_size=5)


def quarter(n: int) -> Deal:
    return deal(NOON - timedelta(minutes=15 * n), n)


@given(
    st.sets(moments, max_size=20),
    st.lists(st.tuples(st.integers(1, 6), changes), min_size=1, max_size=9),
    st.booleans(),
    st.integers(1, 3),
)
def test_pages_join_to_the_whole_while_items_come_and_go(
    there: set[int],
    pages: list[tuple[int, list[tuple[bool, int]]]],
    from_newest: bool,
    patience: int,
) -> None:
    since = NOON - timedelta(days=SPAN)
    walk: Any = newest_first if from_newest else oldest_first
    with Engine.memory(housekeeping=False) as engine:
        store = opened(engine, BIG_TIME_DEALS)
        fill(store, [quarter(n) for n in there])
        churn = Churn(there)
        seen: list[int] = []
        position: Position | None = None
        ended = False
        script = iter(pages)
        while not ended:
            size, happening = next(script, (4, []))
            page = store.run(
                walk(APPLE, limit=size, after=position, since=since, patience=patience)
            )
            assert len(page) <= size
            seen += [int(one.title[5:]) for one in page]
            position, ended = page.position, page.position is None
            for comes, n in happening if not ended else ():
                churn.happens(n, comes=comes)
                store.run(put(quarter(n)) if comes else delete(quarter(n).own_key()))
    assert seen == sorted(seen, reverse=not from_newest)
    churn.check(seen)


@given(st.integers(1, 40), st.integers(1, 12))
def test_pages_are_exactly_as_long_as_asked(count: int, size: int) -> None:
    with Engine.memory(housekeeping=False) as engine:
        store = opened(engine, BIG_TIME_DEALS)
        fill(store, [quarter(9 * n) for n in range(count)])
        position: Position | None = None
        sizes: list[int] = []
        while sum(sizes) < count:
            page = store.run(newest_first(APPLE, limit=size, after=position))
            sizes.append(len(page))
            position = page.position
    assert sizes[:-1] == [size] * (len(sizes) - 1)
    assert sum(sizes) == count


def test_the_clock_is_asked_only_for_the_first_page(store: Store) -> None:
    fill(store, [days_ago(0, n) for n in range(3)])
    first = store.run(newest_first(APPLE, limit=2))
    tomorrow = Store(store.transport, clock=lambda: NOON + timedelta(days=1))
    rest = tomorrow.run(newest_first(APPLE, limit=2, after=first.position))
    assert [one.deal_id for one in rest] == [ksuid(NOON, 0)]
