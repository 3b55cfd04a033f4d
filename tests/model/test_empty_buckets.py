"""Empty buckets leave their list, whatever stores remember, and no item is ever unlisted."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bigtime.engine import Engine
from bigtime.model import (
    Entity,
    Keys,
    System,
    Table,
    all_of,
    between,
    buckets,
    delete,
    get,
    global_index,
    list_buckets,
    newest_first,
    put,
    restore,
    unlist_empty_buckets,
    update,
    verify,
)
from bigtime.model.operations import bucket_lists_of
from bigtime.model.operations.bucket_list import MARKED_FOR, REMEMBERED_FOR
from bigtime.store import Store
from bigtime.wire import Request, Response
from tests.model.designs import NOON, open_tables, requests

PARCELS = Table("Parcels", "PK", "SK", indexes=[global_index("ByStatus", "StatusPK", "StatusSK")])
MOMENT = timedelta(seconds=1)


class Parcel(Entity, table=PARCELS, deleted="lost_at"):
    keys = Keys(
        main=("PARCEL#{name}", "PARCEL"),
        ByStatus=("STATUS#{status}#{sent_at:day}", "{name}"),
    )
    name: str
    status: str
    sent_at: datetime
    lost_at: datetime | None = None


list_buckets(Parcel, "ByStatus")
SYSTEM = System("parcels", (PARCELS,))
ENTRY = bucket_lists_of(Parcel.layout)[0].entry
SENT = buckets(Parcel, "ByStatus", status="sent")


class World:
    """Several stores of one engine at one time, each with a memory of its own."""

    def __init__(self, engine: Engine, stores: int) -> None:
        self.engine = engine
        self.moment = NOON
        self.minutes_before_a_write = 0
        self.before_a_delete: list[Parcel] = []
        open_tables(engine, PARCELS)
        self.stores = [Store(self.send, clock=lambda: self.moment) for _ in range(stores)]

    def send(self, request: Request) -> Response:
        """Time passes and empty buckets are looked for just before a slow write of an item."""
        if request.operation in ("PutItem", "UpdateItem") and self.minutes_before_a_write:
            minutes, self.minutes_before_a_write = self.minutes_before_a_write, 0
            self.moment += timedelta(minutes=minutes)
            self.unlist()
        if request.operation == "DeleteItem" and self.before_a_delete:
            self.stores[0].run(put(self.before_a_delete.pop()))
        return self.engine(request)

    def unlist(self, status: str = "sent") -> int:
        walked = buckets(Parcel, "ByStatus", status=status)
        return self.stores[-1].run(unlist_empty_buckets(walked))

    def listed_buckets(self, status: str = "sent") -> list[str]:
        series = f"Parcel.ByStatus#STATUS#{status}#day"
        entries = self.stores[-1].run(all_of(ENTRY.within("main", series=series)))
        return [entry.bucket[:10] for entry in entries]


@pytest.fixture
def world(engine: Engine) -> World:
    return World(engine, stores=2)


def parcel(name: str, *, days_ago: int = 0) -> Parcel:
    return Parcel(name=name, status="sent", sent_at=NOON - timedelta(days=days_ago))


def test_an_empty_bucket_is_listed_no_longer_after_two_hours(world: World) -> None:
    store = world.stores[0]
    for days in range(3):
        store.run(put(parcel(f"p{days}", days_ago=days)))
    store.run(update(Parcel.key("p1"), status="there"))
    assert world.unlist() == 0
    world.moment += MARKED_FOR - MOMENT
    assert world.unlist() == 0
    world.moment += MOMENT
    assert world.unlist() == 1
    assert world.listed_buckets() == ["2026-03-08", "2026-03-10"]
    assert world.listed_buckets("there") == ["2026-03-09"]


def test_its_readers_ask_only_buckets_that_hold_something(engine: Engine, world: World) -> None:
    store = world.stores[0]
    for days in range(40):
        store.run(put(parcel(f"p{days}", days_ago=days)))
    for days in range(2, 39):
        store.run(update(Parcel.key(f"p{days}"), status="there"))
    world.unlist()
    world.moment += MARKED_FOR
    assert world.unlist() == 37
    reader = Store(open_tables(engine).transport, clock=lambda: NOON)
    page = reader.run(newest_first(SENT, limit=25))
    assert [each.name for each in page] == ["p0", "p1", "p39"]
    assert len(requests(reader)) == 3 + 1


def test_a_bucket_that_is_listed_again_stays(world: World) -> None:
    first, second = world.stores
    first.run(put(parcel("a")))
    first.run(delete(Parcel.key("a")))
    first.run(update(Parcel.key("a"), upsert=True, status="there", sent_at=NOON))
    world.unlist()
    world.moment += MARKED_FOR - MOMENT
    second.run(put(parcel("b")))
    second.run(update(Parcel.key("b"), status="there"))
    world.moment += MOMENT
    assert world.unlist() == 0
    assert world.listed_buckets() == ["2026-03-10"]


def test_a_write_to_a_bucket_that_is_about_to_leave_its_list_keeps_it_there(world: World) -> None:
    store = world.stores[0]
    store.run(put(parcel("a")))
    store.run(update(Parcel.key("a"), status="there"))
    world.unlist()
    world.moment += MARKED_FOR
    world.before_a_delete.append(parcel("b"))
    assert world.unlist() == 0
    assert world.listed_buckets() == ["2026-03-10"]
    assert store.run(newest_first(SENT, limit=5)).items == [parcel("b")]


def test_a_store_lists_a_bucket_again_once_it_has_forgotten_it(world: World) -> None:
    store = world.stores[0]
    store.run(put(parcel("a")))
    store.run(update(Parcel.key("a"), status="there"))
    world.unlist()
    world.moment += REMEMBERED_FOR - MOMENT
    store.run(put(parcel("b")))
    assert is_marked(store)
    world.moment += MOMENT
    store.run(put(parcel("c")))
    assert not is_marked(store)


def is_marked(store: Store) -> bool:
    key = ENTRY.key("Parcel.ByStatus#STATUS#sent#day", "2026-03-10T00:00:00")
    return store.run(get(key, missing=KeyError)).emptied_at is not None


def test_what_was_deleted_softly_keeps_its_bucket_listed(world: World) -> None:
    store = world.stores[0]
    store.run(put(parcel("a")))
    store.run(delete(Parcel.key("a")))
    for _ in range(2):
        assert world.unlist() == 0
        world.moment += MARKED_FOR
    store.run(restore(Parcel.key("a")))
    assert store.run(newest_first(SENT, limit=5)).items == [parcel("a")]


def test_bounds_of_the_sort_key_hide_no_items(world: World) -> None:
    store = world.stores[0]
    store.run(put(parcel("a")))
    walked = buckets(Parcel, "ByStatus", status="sent", name=between("x", "z"))
    for _ in range(2):
        assert store.run(unlist_empty_buckets(walked)) == 0
        world.moment += MARKED_FOR
    assert world.listed_buckets() == ["2026-03-10"]


class Lists(RuleBasedStateMachine):
    """Parcels of two days change their status by two stores, also slowly and hours apart."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine.memory(housekeeping=False)
        self.world = World(self.engine, stores=2)
        self.sent: set[int] = set()

    def teardown(self) -> None:
        for _ in range(2):
            self.world.unlist()
            self.world.moment += MARKED_FOR
        self.world.unlist()
        assert len(self.world.listed_buckets()) == len({number % 2 for number in self.sent})
        self.engine.close()

    @rule(
        number=st.integers(0, 2),
        store=st.integers(0, 1),
        slow=st.sampled_from([0, 0, 0, 5, 55]),
        is_sent=st.booleans(),
    )
    def move(self, number: int, store: int, slow: int, *, is_sent: bool) -> None:
        self.world.minutes_before_a_write = slow
        moved = parcel(f"p{number}", days_ago=number % 2)
        status = "sent" if is_sent else "there"
        self.world.stores[store].run(put(moved.model_copy(update={"status": status})))
        (self.sent.add if is_sent else self.sent.discard)(number)

    @rule(minutes=st.sampled_from([1, 31, 59, 61, 121]))
    def wait(self, minutes: int) -> None:
        self.world.moment += timedelta(minutes=minutes)

    @rule()
    def unlist(self) -> None:
        self.world.unlist()

    @invariant()
    def every_bucket_that_holds_something_is_listed(self) -> None:
        assert len(self.world.listed_buckets()) >= len({number % 2 for number in self.sent})
        assert self.world.stores[0].run(verify(SYSTEM)) == []


TestLists = Lists.TestCase
