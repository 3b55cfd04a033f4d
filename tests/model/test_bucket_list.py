"""Bucket lists: an entry before the first item of a bucket, and after that nothing more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import (
    BucketEntry,
    Entity,
    ItemExists,
    Keys,
    System,
    Table,
    all_of,
    buckets,
    create,
    delete,
    global_index,
    list_buckets,
    load_many,
    newest_first,
    number,
    put,
    put_many,
    repair,
    transact,
    update,
    verify,
    when,
)
from bigtime.model.operations import bucket_lists_of
from bigtime.store import Store
from bigtime.store.driver import MOST_FACTS
from bigtime.wire import Recall, Remember, Request, Steps
from tests.model.designs import (
    BIG_TIME_DEALS,
    NOON,
    READINGS,
    Brand,
    Deal,
    Measurement,
    deal,
    fill,
    open_tables,
    requests,
)

APPLE = buckets(Deal, "GSI2", brand="APPLE")
DEALS = System("deals", (BIG_TIME_DEALS,))
ENTRY = bucket_lists_of(Deal.layout)[0].entry
LISTS = ("Deal.GSI1#DEALS#day", "Deal.GSI2#BRAND#APPLE#day", "Deal.GSI3#CATEGORY#ELECTRONICS#day")


@pytest.fixture
def store(engine: Engine) -> Store:
    return open_tables(engine, BIG_TIME_DEALS)


def listed_buckets(store: Store, series: str) -> list[str]:
    """The buckets that a list has."""
    found = store.run(all_of(ENTRY.within("main", series=series)))
    return [each.bucket[:10] for each in found]


def operations(store: Store) -> list[str]:
    return [request.operation for request in requests(store)]


@pytest.mark.parametrize(
    ("write", "operation"),
    [
        (put, "PutItem"),
        (create, "PutItem"),
        (lambda made: transact(put(made), put(Brand(brand="X"))), "TransactWriteItems"),
        (lambda made: put_many([made]), "BatchWriteItem"),
        (lambda made: load_many([made]), "BatchWriteItem"),
    ],
)
def test_the_first_write_to_a_bucket_lists_it_before(
    store: Store, write: Callable[[Deal], Any], operation: str
) -> None:
    store.run(write(deal(NOON, 1)))
    assert operations(store) == ["BatchWriteItem", operation]
    assert [listed_buckets(store, series) for series in LISTS] == [["2026-03-10"]] * 3


def test_later_writes_to_it_cost_nothing_more(store: Store) -> None:
    fill(store, [deal(NOON, 1)])
    store.run(put(deal(NOON, 2)))
    store.run(put_many([deal(NOON, 3), deal(NOON - timedelta(hours=1), 4)]))
    store.run(delete(deal(NOON, 1).own_key()))
    assert operations(store) == ["PutItem", "BatchWriteItem", "DeleteItem"]


def test_only_what_is_new_is_listed(store: Store) -> None:
    fill(store, [deal(NOON, 1)])
    store.run(put(deal(NOON, 2, brand="SONY")))
    first, _ = requests(store)
    (written,) = first.params["RequestItems"]["BigTimeDeals"]
    assert written["PutRequest"]["Item"] == {
        "Type": {"S": "BucketEntry"},
        "PK": {"S": "BUCKETS#Deal.GSI2#BRAND#SONY#day"},
        "SK": {"S": "BUCKET#2026-03-10T00:00:00"},
        "Series": {"S": "Deal.GSI2#BRAND#SONY#day"},
        "Bucket": {"S": "2026-03-10T00:00:00"},
    }


def test_a_batch_lists_each_bucket_once(store: Store) -> None:
    store.run(load_many(deal(NOON - timedelta(hours=n), n) for n in range(100)))
    assert listed_buckets(store, LISTS[1]) == [f"2026-03-{day:02}" for day in (6, 7, 8, 9, 10)]
    sent = [len(request.params["RequestItems"]["BigTimeDeals"]) for request in requests(store)[:5]]
    assert sent == [15, 25, 25, 25, 25]


def test_an_update_that_moves_an_item_lists_where_it_goes(store: Store) -> None:
    fill(store, [deal(NOON, 1)])
    store.run(update(deal(NOON, 1), title="a lamp"))
    assert operations(store) == ["UpdateItem"]
    store.run(update(deal(NOON, 1), brand="SONY"))
    assert operations(store) == ["BatchWriteItem", "UpdateItem"]
    store.run(update(Deal.key(deal(NOON, 1).deal_id), brand="ACME"))
    assert operations(store) == ["GetItem", "BatchWriteItem", "UpdateItem"]
    for brand in ("SONY", "ACME"):
        assert listed_buckets(store, f"Deal.GSI2#BRAND#{brand}#day") == ["2026-03-10"]


def test_an_upsert_lists_what_it_may_make(engine: Engine) -> None:
    store = open_tables(engine, READINGS)
    store.run(update(Measurement.key("s", NOON), value=3, upsert=True))
    assert operations(store) == ["BatchWriteItem", "UpdateItem"]
    page = store.run(newest_first(buckets(Measurement, "main", sensor="s"), limit=5))
    assert [each.value for each in page] == [3]


ORDERS = Table("Orders", "PK", "SK", indexes=[global_index("Open", "OpenPK", "OpenSK")])


class Order(Entity, table=ORDERS):
    keys = Keys(
        main=("ORDER#{order_id}", "ORDER"),
        Open=when(("OPEN#{placed_at:day}", "{order_id}"), is_open=True),
    )
    order_id: str
    placed_at: datetime = NOON
    is_open: bool = False


list_buckets(Order, "Open")


def test_what_is_not_in_the_index_is_listed_when_it_comes_in(engine: Engine) -> None:
    store = open_tables(engine, ORDERS)
    store.run(put(Order(order_id="1")))
    assert operations(store) == ["PutItem"]
    store.run(update(Order.key("1"), is_open=True))
    assert operations(store) == ["GetItem", "BatchWriteItem", "UpdateItem"]
    assert len(store.run(newest_first(buckets(Order, "Open"), limit=5))) == 1


NUMBERED = Table(
    "Numbered", "PK", "SK", indexes=[global_index("ByShelf", [number("shelf"), "day_pk"], "sk")]
)


class Numbered(Entity, table=NUMBERED):
    keys = Keys(main=("BOOK#{name}", "BOOK"), ByShelf=(("{shelf}", "{room}#{day:month}"), "{name}"))
    name: str
    shelf: int
    room: str
    day: date


list_buckets(Numbered, "ByShelf")


def test_a_partition_of_several_attributes(engine: Engine) -> None:
    store = open_tables(engine, NUMBERED)
    made = [
        Numbered(name=f"book {shelf}{room}", shelf=shelf, room=room, day=date(2026, 2, 3))
        for shelf in (1, 2)
        for room in ("a", "b#c")
    ]
    fill(store, made)
    for each in made:
        walked = buckets(Numbered, "ByShelf", shelf=each.shelf, room=each.room)
        assert store.run(newest_first(walked, limit=5)).items == [each]
    entry = bucket_lists_of(Numbered.layout)[0].entry_of(made[1].__dict__)
    assert entry.series == 'Numbered.ByShelf#["1", "b$23c#month"]'


def test_a_put_that_is_refused_leaves_an_empty_bucket(store: Store) -> None:
    there = deal(NOON, 1)
    fill(store, [there])
    with pytest.raises(ItemExists):
        store.run(create(there.model_copy(update={"brand": "SONY"})))
    page = store.run(newest_first(buckets(Deal, "GSI2", brand="SONY"), limit=5))
    assert (page.items, page.position) == ([], None)


# --- What a store remembers ---------------------------------------------------------------------


def test_a_store_that_did_not_list_a_bucket_lists_it_again(engine: Engine, store: Store) -> None:
    fill(store, [deal(NOON, 1)])
    other = opened_again(engine)
    other.run(put(deal(NOON, 2)))
    assert operations(other) == ["BatchWriteItem", "PutItem"]
    assert listed_buckets(store, LISTS[1]) == ["2026-03-10"]


def opened_again(engine: Engine) -> Store:
    recording = open_tables(engine).transport
    return Store(recording, clock=lambda: NOON)


def test_an_entry_that_could_not_be_put_is_not_remembered(engine: Engine) -> None:
    open_tables(engine, BIG_TIME_DEALS)
    failing = [True]

    def transport(request: Request) -> Any:
        if request.operation == "BatchWriteItem" and failing:
            failing.clear()
            raise ConnectionResetError("gone")
        return engine(request)

    store = Store(transport, clock=lambda: NOON)
    with pytest.raises(ConnectionResetError):
        store.run(put(deal(NOON, 1)))
    store.run(put(deal(NOON, 1)))
    assert store.run(newest_first(APPLE, limit=5)).items == [deal(NOON, 1)]


def test_a_store_that_remembers_too_much_forgets() -> None:
    def steps() -> Steps[list[Any]]:
        yield Remember(("first",), 60.0)
        known = yield Recall(("first", "second"))
        yield Remember(tuple(range(MOST_FACTS)), 60.0)
        return [known, (yield Recall(("first", 7)))]

    assert Store(never).run(steps()) == [("second",), ("first",)]


def never(request: Request) -> Any:
    raise AssertionError(request)


# --- Verify and repair --------------------------------------------------------------------------


def test_verify_finds_an_entry_that_is_missing_and_repair_puts_it(store: Store) -> None:
    deals = [deal(NOON - timedelta(days=days), days) for days in (0, 0, 1)]
    fill(store, deals)
    assert store.run(verify(DEALS)) == []
    store.run(delete(ENTRY.key(LISTS[1], "2026-03-09T00:00:00")))
    assert len(store.run(newest_first(APPLE, limit=5))) == 1
    (violation,) = store.run(verify(DEALS))
    assert violation.sentence == (
        "is missing, and the bucket 2026-03-09T00:00:00 of Deal.GSI2#BRAND#APPLE#day holds items"
    )
    store.run(repair(violation))
    assert store.run(verify(DEALS)) == []
    assert len(store.run(newest_first(APPLE, limit=5))) == 2


@given(st.sets(st.integers(0, 500), max_size=12))
def test_what_was_there_before_its_list_is_backfilled(hours: set[int]) -> None:
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, BIG_TIME_DEALS)
        deals = [deal(NOON - timedelta(hours=n), n) for n in sorted(hours)]
        for each in deals:
            item = {"TableName": "BigTimeDeals", "Item": Deal.layout.to_item(each)}
            engine(Request("PutItem", item))
        violations = store.run(verify(DEALS))
        assert len(violations) == 3 * len({each.created_at.date() for each in deals})
        for violation in violations:
            store.run(repair(violation))
        assert store.run(verify(DEALS)) == []
        assert store.run(newest_first(APPLE, limit=20)).items == deals


def test_the_table_has_one_entity_of_the_kits_own(store: Store) -> None:
    assert [entity for entity in BIG_TIME_DEALS.entities if issubclass(entity, BucketEntry)] == [
        ENTRY
    ]
    assert ENTRY.layout.table is BIG_TIME_DEALS
    assert (ENTRY.__name__, ENTRY.__doc__) == ("BucketEntry", BucketEntry.__doc__)
