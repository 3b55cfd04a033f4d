"""Item collections: several kinds of entity in one query, each as its own type."""

from __future__ import annotations

from typing import assert_type

import pytest

from bigtime.engine import Engine
from bigtime.model.collection import collection, partition
from bigtime.model.errors import DesignError
from bigtime.model.query import Query
from bigtime.model.within import less_than
from bigtime.store import Store
from tests.model.designs import (
    NOON,
    PLACES,
    SHOP,
    Brand,
    Customer,
    Member,
    Order,
    OrderItem,
    Shop,
    Team,
    fill,
    ksuid,
    opened,
    requests,
)

ALEX = Customer(username="alex", email="alex@example.com")
ORDERS = [Order(username="alex", order_id=ksuid(NOON, n)) for n in range(25)]


@pytest.fixture
def store(engine: Engine) -> Store:
    store = opened(engine, SHOP)
    fill(store, [ALEX, *ORDERS, Order(username="bob", order_id=ksuid(NOON, 99))])
    return store


def test_a_customer_and_the_newest_orders_in_one_request(store: Store) -> None:
    asked = collection(
        Customer,
        Order,
        within=partition(Customer, "main", username="alex"),
        newest_first=True,
        limit=11,
    )
    assert_type(asked, Query[Customer | Order])
    customer, *orders = store.run(asked)
    assert len(requests(store)) == 1
    assert customer == ALEX
    assert orders == ORDERS[:-11:-1]


def test_later_pages_hold_orders_only(store: Store) -> None:
    everything = partition(Customer, "main", username="alex")
    first = store.run(collection(Customer, Order, within=everything, newest_first=True, limit=11))
    later = Order.within("main", username="alex", order_id=less_than(ORDERS[15].order_id))
    assert (
        store.run(collection(Customer, Order, within=later, newest_first=True, limit=10)).items
        == ORDERS[14:4:-1]
    )
    second = store.run(
        collection(
            Customer, Order, within=everything, newest_first=True, limit=10, after=first.position
        )
    )
    assert second.items == ORDERS[14:4:-1]


def test_an_order_and_its_items_by_an_index(store: Store) -> None:
    order = ORDERS[3]
    items = [OrderItem(order_id=order.order_id, item_id=item) for item in "abc"]
    fill(store, items)
    within = partition(Order, "GSI1", order_id=order.order_id)
    found = store.run(collection(Order, OrderItem, within=within, newest_first=True))
    assert found.items == [order, *items[::-1]]


def test_entities_that_are_not_named_are_passed_over(engine: Engine) -> None:
    store = opened(engine, PLACES)
    team, member = Team(org="o", team="red"), Member(org="o", team="red", name="ann")
    fill(store, [team, member])
    within = partition(Team, "main", org="o")
    assert store.run(collection(Team, within=within)).items == [team]
    assert store.run(collection(Team, Member, within=within)).items == [team, member]


def test_what_was_deleted_softly_is_passed_over(engine: Engine) -> None:
    store = opened(engine, PLACES)
    shops = [
        Shop(country="US", state="NE", city="Omaha", zip_code=str(n), closed_at=at)
        for n, at in enumerate([None, NOON])
    ]
    fill(store, shops)
    within = partition(Shop, "main", country="US")
    assert store.run(collection(Shop, Team, within=within)).items == shops[:1]
    assert store.run(collection(Shop, Team, within=within, deleted=True)).items == shops


def test_a_partition_takes_its_own_fields_only() -> None:
    with pytest.raises(DesignError, match="takes username, not 'order_id'"):
        partition(Order, "main", username="alex", order_id=ksuid(NOON, 1))
    with pytest.raises(DesignError, match="also needs username"):
        partition(Order, "main")


def test_entities_of_another_table_or_index_are_refused() -> None:
    with pytest.raises(DesignError, match="Brand is in table BigTimeDeals"):
        collection(Customer, Brand, within=partition(Customer, "main", username="alex"))
    with pytest.raises(DesignError, match="Customer is not in index GSI1"):
        collection(Customer, Order, within=partition(Order, "GSI1", order_id=ksuid(NOON, 1)))
