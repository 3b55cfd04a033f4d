"""Many items at once: order, chunks, and asking again for what was left undone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.batch import Unfinished, delete_many, get_many, put_many
from bigtime.model.operations.scan import scan_all
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.table import Table, number
from bigtime.store import Store
from bigtime.wire import Request, Response
from tests.model.designs import (
    BIG_TIME_DEALS,
    NOON,
    PLACES,
    TRENDING,
    Brand,
    Shop,
    TrendingDeal,
    User,
    open_tables,
    requests,
)
from tests.model.invariants import Customer


@pytest.fixture
def store(engine: Engine) -> Store:
    return open_tables(engine, BIG_TIME_DEALS, TRENDING)


def users(count: int) -> list[User]:
    return [User(username=f"user{n}") for n in range(count)]


def test_items_come_in_the_order_of_their_keys(store: Store) -> None:
    store.run(put_many(users(3)))
    asked = [User.key(name) for name in ("user2", "nobody", "user0", "user2")]
    found = store.run(get_many(asked))
    assert [each and each.username for each in found] == ["user2", None, "user0", "user2"]


@given(st.lists(st.integers(0, 300), max_size=260))
def test_any_number_of_keys(numbers: list[int]) -> None:
    with Engine.memory() as engine:
        store = open_tables(engine, BIG_TIME_DEALS)
        store.run(put_many(users(300)))
        requests(store)
        found = store.run(get_many([User.key(f"user{n}") for n in numbers]))
        assert [each and each.username for each in found] == [
            f"user{n}" if n < 300 else None for n in numbers
        ]
        assert len(requests(store)) == -(-len(set(numbers)) // 100)


def test_writes_go_in_chunks_of_twenty_five(store: Store) -> None:
    assert store.run(put_many(users(60))) == users(60)
    assert len(requests(store)) == 3
    store.run(delete_many([User.key(f"user{n}") for n in range(55)]))
    assert len(requests(store)) == 3
    assert len(store.run(scan_all(User))) == 5


def test_nothing_is_asked_for_nothing(store: Store) -> None:
    assert store.run(get_many(list[Any]())) == []
    store.run(put_many([]))
    store.run(delete_many([]))
    assert requests(store) == []


def test_of_two_with_one_key_the_later_stays(store: Store) -> None:
    store.run(put_many([Brand(brand="A", like_count=1), Brand(brand="A", like_count=2)]))
    (brand,) = store.run(get_many([Brand.key("A")]))
    assert brand is not None
    assert brand.like_count == 2


def test_several_tables_and_entities(store: Store) -> None:
    trending = TrendingDeal(category_id="tv", engagement_score=5)
    store.run(put_many([User(username="u"), Brand(brand="B"), trending]))
    keys: list[Any] = [trending.own_key(), Brand.key("B"), User.key("u")]
    assert store.run(get_many(keys)) == [trending, Brand(brand="B"), User(username="u")]
    assert len(requests(store)) == 2


def test_a_number_is_found_in_whatever_spelling(engine: Engine) -> None:
    table = Table("Prices", number("amount"))

    class Price(Entity, table=table):
        keys = Keys(main="{amount}")
        amount: Decimal

    store = open_tables(engine, table)
    store.run(put_many([Price(amount=Decimal("1.50"))]))
    found = store.run(get_many([Price.key(Decimal("1.5")), Price.key(Decimal("1.500"))]))
    assert [each and each.amount for each in found] == [Decimal("1.5")] * 2


def test_consistent_reads_say_so(store: Store) -> None:
    store.run(get_many([User.key("u")], consistent=True))
    (request,) = requests(store)
    assert request.params["RequestItems"]["BigTimeDeals"]["ConsistentRead"] is True


def test_what_was_deleted_softly_counts_as_missing(engine: Engine) -> None:
    store = open_tables(engine, PLACES)
    shop = Shop(country="US", state="NE", city="Omaha", zip_code="1", closed_at=NOON)
    store.run(put_many([shop]))
    assert store.run(get_many([shop.own_key()])) == [None]
    assert store.run(get_many([shop.own_key()], deleted=True)) == [shop]


def test_times_are_filled_in(engine: Engine) -> None:
    table = Table("Notes", "PK")

    class Note(Entity, table=table, created="at"):
        keys = Keys(main="NOTE#{number:04}")
        number: int
        at: datetime | None = None

    store = open_tables(engine, table)
    stored = store.run(put_many([Note(number=1), Note(number=2)]))
    assert [note.at for note in stored] == [NOON, NOON]
    assert store.run(get_many([note.own_key() for note in stored])) == stored


def test_a_version_cannot_be_checked_in_a_batch() -> None:
    class Page(Entity, table=Table("Pages", "PK"), version="version"):
        keys = Keys(main="PAGE#{name}")
        name: str
        version: int = 0

    with pytest.raises(DesignError, match="Page has a version, which a batch cannot check"):
        next(put_many([Page(name="x")]))


class TestUnprocessed:
    def test_is_asked_again_until_it_is_done(self, engine: Engine) -> None:
        transport = Sparing(engine, at_a_time=7)
        open_tables(engine, BIG_TIME_DEALS)
        store = Store(transport, clock=lambda: NOON, sleep=lambda seconds: None)
        store.run(put_many(users(40)))
        transport.calls = 0
        found = store.run(get_many([User.key(f"user{n}") for n in range(40)]))
        assert found == users(40)
        assert transport.calls == 6
        store.run(delete_many([User.key(f"user{n}") for n in range(40)]))
        assert store.run(scan_all(User)) == []

    @pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
    def test_is_waited_for_up_to_a_bound_that_doubles(self, engine: Engine, share: float) -> None:
        slept = refused_for_ever(engine, round(share * (2**32 - 1)).to_bytes(4))
        bounds = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5, 5]
        assert slept == pytest.approx([share * bound for bound in bounds])
        assert sum(bounds) < 30

    def test_is_never_waited_for_when_there_is_none(self, engine: Engine) -> None:
        slept: list[float] = []
        open_tables(engine, BIG_TIME_DEALS)
        store = Store(engine, randomness=no_randomness, sleep=slept.append)
        store.run(put_many(users(120)))
        store.run(get_many([User.key(f"user{n}") for n in range(120)]))
        store.run(delete_many([User.key(f"user{n}") for n in range(120)]))
        assert slept == []

    @pytest.mark.parametrize(
        "steps",
        [
            lambda: get_many([User.key(name) for name in "abc"]),
            lambda: put_many(users(3)),
            lambda: delete_many([User.key(name) for name in "abc"]),
        ],
    )
    def test_is_an_error_in_the_end(self, engine: Engine, steps: Callable[[], Any]) -> None:
        open_tables(engine, BIG_TIME_DEALS)
        transport = Sparing(engine, at_a_time=0)
        with pytest.raises(Unfinished, match=r"3 are still undone .* Run the same again") as caught:
            Store(transport, sleep=lambda seconds: None).run(steps())
        assert transport.calls == 12
        assert "too busy" in str(caught.value)

    def test_is_left_by_the_engine_that_is_told_to(self, engine: Engine) -> None:
        open_tables(engine, BIG_TIME_DEALS)
        engine.faults.seed(1)
        engine.faults.leave_unprocessed(rate=0.4)
        slept: list[float] = []
        store = Store(engine, sleep=slept.append)
        store.run(put_many(users(60)))
        assert store.run(get_many([User.key(f"user{n}") for n in range(60)])) == users(60)
        assert slept


def refused_for_ever(engine: Engine, drawn: bytes) -> list[float]:
    """The pauses of a batch of which nothing is ever done."""
    open_tables(engine, BIG_TIME_DEALS)
    slept: list[float] = []
    store = Store(Sparing(engine, at_a_time=0), randomness=lambda _: drawn, sleep=slept.append)
    with pytest.raises(Unfinished):
        store.run(put_many(users(1)))
    return slept


def no_randomness(count: int) -> bytes:
    raise AssertionError("nobody has to draw anything")


class Sparing:
    """An engine that does only so many of a batch at a time."""

    def __init__(self, engine: Engine, at_a_time: int) -> None:
        self.engine = engine
        self.at_a_time = at_a_time
        self.calls = 0

    def __call__(self, request: Request) -> Response:
        if not request.operation.startswith("Batch"):
            return self.engine(request)
        self.calls += 1
        ((table, asked),) = request.params["RequestItems"].items()
        reads = request.operation == "BatchGetItem"
        entries = asked["Keys"] if reads else asked
        now, later = entries[: self.at_a_time], entries[self.at_a_time :]
        undone = {table: {**asked, "Keys": later} if reads else later} if later else {}
        if not now:
            return {"Responses": {}, "UnprocessedKeys": undone, "UnprocessedItems": undone}
        done = {table: {**asked, "Keys": now} if reads else now}
        response = self.engine(Request(request.operation, {"RequestItems": done}))
        return {**response, "UnprocessedKeys": undone, "UnprocessedItems": undone}


def test_a_batch_refuses_to_delete_what_is_deleted_softly() -> None:
    class Member(Entity, table=Table("Members", "id"), deleted="left_at"):
        keys = Keys(main="{id}")
        id: str
        left_at: datetime | None = None

    with pytest.raises(DesignError, match="deleted softly"):
        next(iter(delete_many([Member.key("a")])))


def test_a_batch_refuses_an_entity_with_an_invariant() -> None:
    customer = Customer(username="alex", email="alex@example.com")
    with pytest.raises(DesignError, match="has an invariant"):
        next(iter(put_many([customer])))
    with pytest.raises(DesignError, match="has an invariant"):
        next(iter(delete_many([Customer.key("alex")])))
