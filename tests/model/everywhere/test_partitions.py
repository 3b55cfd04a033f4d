"""One query over many partitions: buckets of time, and shards."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from bigtime.model import (
    Cursors,
    Page,
    any_shard,
    attr,
    buckets,
    gather,
    newest_first,
    now,
    oldest_first,
    pause,
    put_many,
    shards,
)
from bigtime.wire import Steps
from tests.model.designs import (
    BIG_TIME_DEALS,
    POLLS,
    READINGS,
    SHARDS,
    Deal,
    DealCard,
    Measurement,
    Vote,
    deal,
)
from tests.model.everywhere.scenario import everywhere, refusal
from tests.store.places import START

CURSORS = Cursors(["a secret of sixteen bytes or more"])
APPLE = buckets(Deal, "GSI2", brand="APPLE")
BEST = shards(Vote, "ByTime", poll="best")
DAYS_AGO = (0, 0, 0, 1, 3, 3, 4, 8)
SINCE = (START - timedelta(days=8)).date()


def deals() -> list[Deal]:
    """Newest first; a moment is a day's, and none of another's."""
    return [deal(START - timedelta(days=days, seconds=n), n) for n, days in enumerate(DAYS_AGO)]


def votes(count: int) -> list[Vote]:
    return [
        Vote(poll="best", voter=f"voter{n}", cast_at=START + timedelta(seconds=n))
        for n in range(count)
    ]


def walk_pages(ask: Any, **asked: Any) -> Steps[list[Any]]:
    """The items of all pages, each asked for with the cursor of the one before."""
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page: Page[Any] = yield from ask(after=CURSORS.read(cursor), **asked)
        found += page.items
        cursor = CURSORS.write(page.position)
        if cursor is None:
            return found


@everywhere(BIG_TIME_DEALS)
def test_days_are_walked_newest_first_with_one_cursor() -> Steps[object]:
    others = [deal(START - timedelta(days=n), 100 + n, brand="SONY") for n in range(3)]
    yield from put_many([*deals(), *others])

    def latest(**asked: Any) -> Steps[Page[Deal]]:
        return newest_first(APPLE, **asked)

    for limit in (1, 2, 3, 8, 20):
        assert (yield from walk_pages(latest, limit=limit)) == deals()
    odd = attr("title").one_of("deal 1", "deal 5", "deal 7")
    assert (yield from walk_pages(latest, limit=2, filter=odd)) == [deals()[n] for n in (1, 5, 7)]
    cards = yield from walk_pages(latest, limit=5, only=DealCard)
    assert [card.title for card in cards] == [each.title for each in deals()]
    return cards


@everywhere(BIG_TIME_DEALS)
def test_days_are_walked_oldest_first() -> Steps[object]:
    yield from put_many(deals())

    def oldest(**asked: Any) -> Steps[Page[Deal]]:
        return oldest_first(APPLE, since=SINCE, **asked)

    for limit in (1, 3, 20):
        assert (yield from walk_pages(oldest, limit=limit)) == deals()[::-1]
    return (yield from oldest(limit=3)).items


@everywhere(BIG_TIME_DEALS)
def test_a_walk_says_whether_more_follows_and_can_go_on() -> Steps[object]:
    yield from put_many(deals())
    page = yield from newest_first(APPLE, limit=7)
    assert page.items == deals()[:7]
    assert page.position is not None
    more = yield from newest_first(APPLE, limit=1, after=page.position)
    assert (more.items, more.position) == (deals()[7:], None)
    known = APPLE.after(deal_id=deals()[2].deal_id, created_at=deals()[2].created_at)
    assert (yield from newest_first(APPLE, limit=2, after=known)).items == deals()[3:5]
    other = newest_first(buckets(Deal, "GSI2", brand="SONY"), limit=1, after=known)
    assert (yield from refusal(other)) == "cursor-error"
    return page.items


@everywhere(BIG_TIME_DEALS)
def test_a_walk_begins_on_the_day_that_it_is() -> Steps[object]:
    yield from put_many(deals())
    yield from pause(24 * 3600)
    tomorrow = deal((yield from now()), 50)
    yield from put_many([tomorrow])
    return (yield from newest_first(APPLE, limit=2)).items == [tomorrow, deals()[0]]


@everywhere(READINGS)
def test_hours_are_walked_too() -> Steps[object]:
    readings = [
        Measurement(sensor="s", at=START - timedelta(minutes=25 * n), value=n) for n in range(9)
    ]
    yield from put_many([*readings, Measurement(sensor="t", at=START)])
    sensor = buckets(Measurement, "main", sensor="s")
    found: list[Measurement] = []
    position = None
    while len(found) < 9:
        page = yield from newest_first(sensor, limit=2, after=position)
        found += page
        position = page.position
    assert found == readings
    early = yield from oldest_first(sensor, since=date(2026, 11, 15), limit=4)
    assert early.items == readings[:4:-1]
    return found


@everywhere(POLLS)
def test_shards_are_gathered_in_one_order_with_one_cursor() -> Steps[object]:
    cast = votes(23)
    yield from put_many([*cast, Vote(poll="worst", voter="x", cast_at=START)])
    assert {each.shard for each in cast} == set(range(SHARDS))

    def gather_best(**asked: Any) -> Steps[Page[Vote]]:
        return gather(BEST, **asked)

    for limit in (1, 5, 30):
        assert (yield from walk_pages(gather_best, limit=limit)) == cast
        assert (yield from walk_pages(gather_best, limit=limit, newest_first=True)) == cast[::-1]
    few = attr("voter").one_of("voter3", "voter17")
    assert (yield from walk_pages(gather_best, limit=1, filter=few)) == [cast[3], cast[17]]
    page = yield from gather(BEST, limit=5)
    other = gather(shards(Vote, "ByTime", poll="worst"), limit=5, after=page.position)
    assert (yield from refusal(other)) == "cursor-error"
    return page.items


@everywhere()
def test_any_shard_is_drawn_from_the_store_s_randomness() -> Steps[object]:
    drawn: list[int] = []
    for _ in range(40):
        drawn += [(yield from any_shard(SHARDS))]
    assert set(drawn) == set(range(SHARDS))
    return drawn
