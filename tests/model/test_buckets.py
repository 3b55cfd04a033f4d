"""Time buckets: the walk over days, hours and months as one query."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.bucket_list import list_buckets
from bigtime.model.operations.bucket_query import buckets, newest_first, oldest_first
from bigtime.model.operations.delete import delete
from bigtime.model.operations.page import PATIENCE, CursorError, Position
from bigtime.model.operations.put import put
from bigtime.model.schema.condition import attr
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.key_range import at_least
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.secret import SecretText
from bigtime.model.schema.table import Table
from bigtime.store import Store
from bigtime.wire import Request
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
    open_tables,
    requests,
)

APPLE = buckets(Deal, "GSI2", brand="APPLE")


def days_ago(days: int, n: int = 0, **fields: Any) -> Deal:
    return deal(NOON - timedelta(days=days), n, **fields)


def asked_partitions(store: Store) -> list[str]:
    """The partitions that were asked, without their list, and for how many deals."""
    made = requests(store)
    assert [each.operation for each in made] == ["Query"] * len(made)
    return [
        f"{partition(each)[-19:-9]} {each.params['Limit']}" for each in made if not is_of_list(each)
    ]


def partition(request: Request) -> str:
    text: str = request.params["ExpressionAttributeValues"][":v0"]["S"]
    return text


def is_of_list(request: Request) -> bool:
    return partition(request).startswith("BUCKETS#")


@pytest.fixture
def store(engine: Engine) -> Store:
    return open_tables(engine, BIG_TIME_DEALS)


def test_only_days_that_have_deals_are_asked_for_what_is_missing_and_one_more(
    store: Store,
) -> None:
    fill(store, [days_ago(0, 1), days_ago(0, 2), days_ago(2, 3), days_ago(30, 4), days_ago(30, 5)])
    page = store.run(newest_first(APPLE, limit=4))
    assert [int(each.title[-1]) for each in page] == [2, 1, 3, 5]
    assert asked_partitions(store) == ["2026-03-10 5", "2026-03-08 3", "2026-02-08 2"]


def test_the_list_is_read_from_today(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(9, 2)])
    store.run(newest_first(APPLE, limit=4))
    first = requests(store)[0].params
    assert first["ExpressionAttributeValues"] == {
        ":v0": {"S": "BUCKETS#Deal.GSI2#BRAND#APPLE#day"},
        ":v1": {"S": "BUCKET#2026-03-10T00:00:00"},
    }
    assert first["KeyConditionExpression"] == "#n0 = :v0 AND #n1 <= :v1"
    assert first["Limit"] == 5


def test_the_next_page_begins_on_the_day_of_the_last_item_and_bounds_only_that(
    store: Store,
) -> None:
    fill(store, [days_ago(0, 1), days_ago(1, 2), days_ago(1, 3), days_ago(2, 4), days_ago(2, 5)])
    first = store.run(newest_first(APPLE, limit=2))
    requests(store)
    second = store.run(newest_first(APPLE, limit=3, after=first.position))
    assert [int(each.title[-1]) for each in [*first, *second]] == [1, 3, 2, 5, 4]
    made = requests(store)
    assert ["ExclusiveStartKey" in each.params for each in made] == [False, True, False]


def test_a_page_is_full_however_many_days_lie_between(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(900, 2)])
    page = store.run(newest_first(APPLE, limit=5))
    assert [each.title for each in page] == ["deal 1", "deal 2"]
    assert page.position is None
    assert len(requests(store)) == 3


def test_a_walk_ends_with_the_day_that_it_is_told(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(2, 2), days_ago(3, 3)])
    page = store.run(newest_first(APPLE, limit=5, since=date(2026, 3, 8)))
    assert [each.title for each in page] == ["deal 1", "deal 2"]
    assert page.position is None


def test_a_full_page_is_the_last_one_where_nothing_follows(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(2, 2)])
    page = store.run(newest_first(APPLE, limit=2))
    assert (len(page), page.position) == (2, None)
    assert len(requests(store)) == 3


def test_a_page_that_is_full_at_the_end_of_a_day_looks_at_the_next(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(0, 2), days_ago(7, 3)])
    page = store.run(newest_first(APPLE, limit=2))
    assert asked_partitions(store) == ["2026-03-10 3", "2026-03-03 1"]
    assert page.position is not None
    assert page.position.place == {"bucket": "2026-03-03T00:00:00", "key": None}


def test_a_day_whose_deals_are_gone_is_passed_over(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(1, 2), days_ago(2, 3), days_ago(3, 4)])
    for gone in (days_ago(1, 2), days_ago(3, 4)):
        store.run(delete(gone.own_key()))
    page = store.run(newest_first(APPLE, limit=1))
    assert page.position is not None
    page = store.run(newest_first(APPLE, limit=1, after=page.position))
    assert ([each.title for each in page], page.position) == (["deal 3"], None)


def test_many_empty_days_are_passed_over_with_more_of_the_list(store: Store) -> None:
    fill(store, [days_ago(days, days) for days in range(9)])
    for days in range(8):
        store.run(delete(days_ago(days, days).own_key()))
    requests(store)
    page = store.run(newest_first(APPLE, limit=1))
    assert ([each.title for each in page], page.position) == (["deal 8"], None)


def test_a_filter_that_refuses_whole_days_ends_a_page_early(store: Store) -> None:
    fill(store, [days_ago(days, days, price=days) for days in range(25)])
    page = store.run(newest_first(APPLE, limit=2, filter=attr("price") == 24))
    assert (page.items, page.position is None) == ([], False)
    assert len(asked_partitions(store)) == PATIENCE
    found: list[str] = []
    while page.position is not None:
        page = store.run(
            newest_first(APPLE, limit=2, filter=attr("price") == 24, after=page.position)
        )
        found += [each.title for each in page]
    assert found == ["deal 24"]


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_walk_between_two_days_says_whether_more_follows_there(store: Store, limit: int) -> None:
    fill(store, [days_ago(days, days) for days in (0, 2, 3, 9)])
    between: dict[str, Any] = {"since": date(2026, 3, 7), "until": date(2026, 3, 8)}
    for walk, wanted in ((newest_first, [2, 3]), (oldest_first, [3, 2])):
        page = store.run(walk(APPLE, limit=limit, **between))
        assert [int(each.title[-1]) for each in page] == wanted[:limit]
        assert (page.position is None) is (limit >= 2)
        if page.position is not None:
            rest = store.run(walk(APPLE, limit=5, after=page.position, **between))
            assert ([int(each.title[-1]) for each in rest], rest.position) == (wanted[1:], None)


def test_an_end_after_today_is_today(store: Store) -> None:
    fill(store, [days_ago(-1, 1), days_ago(0, 2)])
    for walk in (newest_first, oldest_first):
        page = store.run(walk(APPLE, limit=5, until=date(2026, 4, 1)))
        assert [each.title for each in page] == ["deal 2"]


def test_an_end_before_the_beginning_is_nothing(store: Store) -> None:
    fill(store, [days_ago(0, 1)])
    page = store.run(newest_first(APPLE, limit=5, since=date(2027, 1, 1)))
    assert (page.items, page.position) == ([], None)
    page = store.run(oldest_first(APPLE, limit=5, since=date(2027, 1, 1)))
    assert (page.items, page.position) == ([], None)


def test_time_ends_with_a_last_day(engine: Engine) -> None:
    last = datetime(9999, 12, 31, 23, tzinfo=UTC)
    store = open_tables(engine, BIG_TIME_DEALS, now=last)
    page = store.run(oldest_first(APPLE, since=last.date(), limit=5))
    assert page.items == [] and page.position is None


def test_time_begins_with_a_first_day(engine: Engine) -> None:
    first = datetime(1, 1, 1, 23, tzinfo=UTC)
    store = open_tables(engine, BIG_TIME_DEALS, now=first)
    page = store.run(newest_first(APPLE, since=first.date(), limit=5))
    assert page.items == [] and page.position is None


def test_oldest_first_walks_from_a_day_to_today(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(1, 2), days_ago(1, 3), days_ago(3, 4)])
    since = NOON - timedelta(days=3)
    first = store.run(oldest_first(APPLE, since=since, limit=2))
    second = store.run(oldest_first(APPLE, since=since, limit=5, after=first.position))
    assert [int(each.title[-1]) for each in [*first, *second]] == [4, 2, 3, 1]
    assert second.position is None


def test_oldest_first_begins_with_the_oldest(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(800, 2)])
    page = store.run(oldest_first(APPLE, limit=2))
    assert [each.title for each in page] == ["deal 2", "deal 1"]


def test_oldest_first_sees_what_came_after_a_full_page(store: Store) -> None:
    fill(store, [days_ago(1, 1), days_ago(1, 2), days_ago(1, 3)])
    first = store.run(oldest_first(APPLE, limit=2))
    fill(store, [days_ago(1, 4)])
    second = store.run(oldest_first(APPLE, limit=2, after=first.position))
    assert [each.title for each in second] == ["deal 3", "deal 4"]


def test_what_is_of_tomorrow_is_not_there_yet(store: Store) -> None:
    fill(store, [days_ago(-1, 1), days_ago(0, 2)])
    for walk in (newest_first, oldest_first):
        page = store.run(walk(APPLE, limit=2))
        assert ([each.title for each in page], page.position) == (["deal 2"], None)


def test_other_partitions_are_not_walked(store: Store) -> None:
    fill(store, [days_ago(0, 1), days_ago(0, 2, brand="SONY"), days_ago(1, 3, brand="SONY")])
    page = store.run(newest_first(buckets(Deal, "GSI2", brand="SONY"), limit=5))
    assert [each.title for each in page] == ["deal 2", "deal 3"]
    assert len(store.run(newest_first(buckets(Deal, "GSI1"), limit=5))) == 3


def test_a_filter_and_a_view(store: Store) -> None:
    fill(store, [days_ago(n % 3, n, price=n) for n in range(9)])
    page = store.run(newest_first(APPLE, limit=4, filter=attr("price") >= 4, only=DealCard))
    assert [type(each) for each in page] == [DealCard] * 4
    assert [each.title for each in page] == ["deal 6", "deal 7", "deal 4", "deal 8"]


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
    store = open_tables(engine, READINGS, now=NOON)
    fill(store, [Measurement(sensor="s", at=at, value=n) for n, at in enumerate(moments)])
    page = store.run(newest_first(buckets(Measurement, "main", sensor="s"), limit=5))
    assert [each.value for each in page] == [0, 1, 2, 3, 4]


ARCHIVE = Table("Archive", "PK", "SK")


class Entry(Entity, table=ARCHIVE):
    keys = Keys(main=("{shelf}#{day:month}", "{day}#{number:04}"))
    shelf: str
    day: date
    number: int


list_buckets(Entry, "main")


def test_months_of_dates(engine: Engine) -> None:
    store = open_tables(engine, ARCHIVE)
    entries = [Entry(shelf="a", day=date(2026, month, 5), number=month) for month in (1, 2, 3)]
    fill(store, entries)
    page = store.run(newest_first(buckets(Entry, "main", shelf="a"), limit=9))
    assert page.items == entries[::-1]
    page = store.run(oldest_first(buckets(Entry, "main", shelf="a"), since=entries[1].day, limit=9))
    assert page.items == entries[1:]


class Unlisted(Entity, table=Table("Unlisted", "PK", "SK")):
    keys = Keys(main=("{shelf}#{day:month}", "{day}"))
    shelf: str
    day: date


class Hidden(Entity, table=Table("Hidden", "PK", "SK")):
    keys = Keys(main=("{shelf}#{day:month}", "{day}"))
    shelf: SecretText
    day: date


class Loose(Entity, table=Table("Loose", "PK")):
    keys = Keys(main="{shelf}#{day:month}")
    shelf: str
    day: date


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: buckets(Brand, "main"), "has 0 buckets, and a walk needs one"),
        (lambda: buckets(Unlisted, "main"), r"declare it beside the entity: list_buckets\(Unl"),
        (lambda: list_buckets(Unlisted, "ByOther"), "no index 'ByOther'"),
        (lambda: list_buckets(Hidden, "main"), "holds a secret"),
        (lambda: list_buckets(Loose, "main"), "give it a partition key and a sort key of type S"),
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
)
def test_pages_join_to_the_whole_while_items_come_and_go(
    there: set[int], pages: list[tuple[int, list[tuple[bool, int]]]], from_newest: bool
) -> None:
    """Two stores write, which do not know of each other what they have listed."""
    walk: Any = newest_first if from_newest else oldest_first
    with Engine.memory(housekeeping=False) as engine:
        store, other = open_tables(engine, BIG_TIME_DEALS), Store(engine, clock=lambda: NOON)
        fill(store, [quarter(n) for n in there])
        churn = Churn(there)
        seen: list[int] = []
        position: Position | None = None
        ended = False
        script = iter(pages)
        while not ended:
            size, happening = next(script, (4, []))
            page = store.run(walk(APPLE, limit=size, after=position))
            assert len(page) <= size
            seen += [int(each.title[5:]) for each in page]
            ended, position = page.position is None, page.position
            following = {n for n in churn.present if is_after(n, seen, from_newest=from_newest)}
            assert ended == (not following)
            assert ended or len(page) == size
            for turn, (comes, n) in enumerate(happening if not ended else ()):
                churn.happens(n, comes=comes)
                writer = store if turn % 2 else other
                writer.run(put(quarter(n)) if comes else delete(quarter(n).own_key()))
    assert seen == sorted(seen, reverse=not from_newest)
    churn.check(seen)


def is_after(n: int, seen: list[int], *, from_newest: bool) -> bool:
    """Whether an item comes after those seen."""
    return not seen or (n > max(seen) if from_newest else n < min(seen))


@given(st.sets(moments, min_size=1, max_size=20), st.integers(1, 8), st.booleans())
def test_a_page_costs_at_most_two_requests_more_than_the_days_of_its_items(
    there: set[int], size: int, from_newest: bool
) -> None:
    walk: Any = newest_first if from_newest else oldest_first
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, BIG_TIME_DEALS)
        fill(store, [quarter(n) for n in there])
        position: Position | None = None
        seen = 0
        while seen < len(there):
            page = store.run(walk(APPLE, limit=size, after=position))
            days = {each.created_at.date() for each in page}
            assert len(requests(store)) <= len(days) + 2
            seen, position = seen + len(page), page.position
            assert len(page) == size or position is None
            assert (position is None) == (seen == len(there))


@given(st.integers(1, 40), st.integers(1, 12))
def test_pages_are_exactly_as_long_as_asked(count: int, size: int) -> None:
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, BIG_TIME_DEALS)
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
    assert [each.deal_id for each in rest] == [ksuid(NOON, 0)]
