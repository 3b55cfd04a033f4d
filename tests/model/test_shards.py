"""Write shards: items spread over partitions, and gathered in their order."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.delete import delete
from bigtime.model.operations.page import CursorError, Position
from bigtime.model.operations.put import put
from bigtime.model.operations.shard_query import any_shard, gather, shards
from bigtime.model.schema.condition import attr
from bigtime.model.schema.declaration import shard_field
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, number
from bigtime.model.schema.view import View
from bigtime.store import AsyncStore, Store, engine_transport
from tests.model.churn import Churn
from tests.model.designs import NOON, POLLS, SHARDS, Deal, Vote, fill, open_tables, requests

BEST = shards(Vote, "ByTime", poll="best")


def vote(n: int, poll: str = "best") -> Vote:
    return Vote(poll=poll, voter=f"voter{n}", cast_at=NOON + timedelta(seconds=n))


@pytest.fixture
def store(engine: Engine) -> Store:
    return open_tables(engine, POLLS)


def voters(page: Any) -> list[int]:
    return [int(each.voter[5:]) for each in page]


class TestSharding:
    def test_is_the_same_for_the_same_fields(self) -> None:
        assert vote(1).shard == vote(1, "worst").shard
        assert vote(1).shard == 3, "a stored shard must be found again by every later release"

    def test_spreads(self) -> None:
        counts = Counter(vote(n).shard for n in range(4000))
        assert set(counts) == set(range(SHARDS))
        assert min(counts.values()) > 850

    def test_is_kept_by_what_was_stored(self) -> None:
        assert Vote(poll="p", voter="v", cast_at=NOON, shard=3).shard == 3

    def test_goes_round_by_a_number(self) -> None:
        class Ticket(Entity, table=Table("Tickets", "PK", number("ticket"))):
            keys = Keys(main=("TICKETS#{shard}", "{ticket}"))
            ticket: int
            shard: int = shard_field(3, by="ticket", round_robin=True)

        assert [Ticket(ticket=n).shard for n in range(5)] == [0, 1, 2, 0, 1]

    @pytest.mark.parametrize("wrong", [{"count": 0, "by": "a"}, {"count": 2, "by": ()}])
    def test_no_shards_at_all_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(DesignError):
            shard_field(wrong["count"], by=wrong["by"])


def test_all_shards_come_in_one_order(store: Store) -> None:
    fill(store, [vote(n) for n in range(20)] + [vote(99, "worst")])
    page = store.run(gather(BEST, limit=30))
    assert voters(page) == list(range(20))
    assert page.position is None
    page = store.run(gather(BEST, limit=5, newest_first=True))
    assert voters(page) == [19, 18, 17, 16, 15]


def test_each_shard_is_asked_for_its_share(store: Store) -> None:
    fill(store, [vote(n) for n in range(40)])
    store.run(gather(BEST, limit=8))
    asked = requests(store)
    assert {each.params["Limit"] for each in asked} == {3}
    assert SHARDS <= len(asked) <= 2 * SHARDS


def test_a_filter_and_a_view(store: Store) -> None:
    class Ballot(View, of=Vote, index="ByTime"):
        voter: str
        cast_at: datetime

    fill(store, [vote(n) for n in range(20)])
    page = store.run(gather(BEST, limit=3, only=Ballot, filter=attr("voter").exists()))
    assert [type(each) for each in page] == [Ballot] * 3
    assert voters(page) == [0, 1, 2]


def test_numbers_merge_as_numbers(engine: Engine) -> None:
    table = Table("Scores", "PK", number("points"))

    class Score(Entity, table=table):
        keys = Keys(main=("SCORES#{shard}", "{points}"))
        points: int
        shard: int = shard_field(2, by="points", round_robin=True)

    store = open_tables(engine, table)
    fill(store, [Score(points=n) for n in (9, 10, 100, 2, 33)])
    page = store.run(gather(shards(Score, "main"), limit=9))
    assert [each.points for each in page] == [2, 9, 10, 33, 100]


def test_a_position_of_another_gathering_is_refused(store: Store) -> None:
    fill(store, [vote(n) for n in range(9)])
    position = store.run(gather(BEST, limit=1)).position
    assert position is not None
    for other in (
        gather(shards(Vote, "ByTime", poll="worst"), limit=1, after=position),
        gather(BEST, limit=1, newest_first=True, after=position),
    ):
        with pytest.raises(CursorError):
            store.run(other)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shards(Deal, "GSI1"), "has 0 shard fields"),
        (lambda: shards(Vote, "ByTime", poll="p", shard=1), "use Vote.within"),
        (lambda: shards(Vote, "ByTime").at(0), "also needs poll"),
    ],
)
def test_what_cannot_be_gathered_is_refused(make: Any, words: str) -> None:
    with pytest.raises(DesignError, match=words):
        make()


def test_shards_are_gathered_the_same_way_by_a_store_that_awaits(engine: Engine) -> None:
    fill(open_tables(engine, POLLS), [vote(n) for n in range(20)])
    store = AsyncStore(engine_transport(engine))
    page = asyncio.run(store.run(gather(BEST, limit=7)))
    assert voters(page) == list(range(7))


def test_any_shard_is_one_of_them(store: Store) -> None:
    assert {store.run(any_shard(3)) for _ in range(60)} == {0, 1, 2}


changes = st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=5)


@given(
    st.sets(st.integers(0, 40), max_size=25),
    st.lists(st.tuples(st.integers(1, 7), changes), min_size=1, max_size=8),
    st.booleans(),
    st.booleans(),
)
def test_pages_join_to_the_whole_while_items_come_and_go(
    there: set[int],
    pages: list[tuple[int, list[tuple[bool, int]]]],
    newest_first: bool,
    ties: bool,
) -> None:
    def cast(n: int) -> Vote:
        second = n // 5 if ties else n
        return Vote(poll="best", voter=f"voter{n}", cast_at=NOON + timedelta(seconds=second))

    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, POLLS)
        fill(store, [cast(n) for n in there])
        churn = Churn(there)
        seen: list[int] = []
        position: Position | None = None
        script = iter(pages)
        while True:
            size, happening = next(script, (5, []))
            page = store.run(gather(BEST, limit=size, newest_first=newest_first, after=position))
            assert len(page) == size or page.position is None
            seen += voters(page)
            position = page.position
            if position is None:
                break
            for comes, n in happening:
                churn.happens(n, comes=comes)
                store.run(put(cast(n)) if comes else delete(cast(n).own_key()))
    moments = [cast(n).cast_at for n in seen]
    churn.check(seen)
    if churn.always == churn.ever:
        assert moments == sorted(moments, reverse=newest_first)
