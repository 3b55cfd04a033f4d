"""What an editor infers from a pattern and from what runs it.

`make check` has mypy compare every `assert_type`; run by pytest, the same steps show that the
values are what their types say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, assert_type

import bigtime as bt

SHOP = bt.Table("InferredShop", "PK", "SK", type_attribute="Type")


class Customer(bt.Entity, table=SHOP):
    keys = bt.Keys(main=("CUSTOMER#{username}", "CUSTOMER"))
    username: str
    points: int = 0


class Order(bt.Entity, table=SHOP):
    keys = bt.Keys(main=("CUSTOMER#{username}", "ORDER#{order_id}"))
    username: str
    order_id: bt.Ksuid


class UnknownCustomer(bt.DomainError):
    """There is no such customer."""


ALEX = Customer(username="alex", points=3)
ORDER = Order(username="alex", order_id=bt.Ksuid.make(datetime(2026, 3, 10, tzinfo=UTC)))
ORDERS = Order.within("main", username="alex")


def open_store_here() -> bt.store.Store:
    store = bt.open_store("memory:")
    store.run(bt.setup(SHOP))
    store.run(bt.put_many([ALEX, ORDER]))
    return store


# Inside a pattern


def read_and_write() -> bt.Steps[Customer]:
    assert_type((yield from bt.get(Customer.key("alex"))), Customer | None)
    alex = assert_type((yield from bt.get(Customer.key("alex"), missing=UnknownCustomer)), Customer)
    assert_type((yield from bt.put(alex)), Customer)
    assert_type((yield from bt.update(alex, points=4)), Customer)
    assert_type((yield from bt.add(alex.own_key(), points=1)), Customer)
    assert_type((yield from bt.delete(Customer.key("bo"))), Customer | None)
    assert_type((yield from bt.get_many([alex.own_key()])), list[Customer | None])
    assert_type((yield from bt.now()), datetime)
    return alex


def read_pages() -> bt.Steps[Order]:
    page = assert_type((yield from bt.query(ORDERS, limit=5)), bt.Page[Order])
    assert_type(page.items, list[Order])
    assert_type(page.position, bt.Position | None)
    assert_type((yield from bt.all_of(ORDERS)), list[Order])
    assert_type((yield from bt.count(ORDERS)), int)
    assert_type((yield from bt.model.scan(Order)), bt.Page[Order])
    everything = bt.partition(Customer, "main", username="alex")
    both = yield from bt.collection(Customer, Order, within=everything)
    assert_type(both, bt.Page[Customer | Order])
    (order,) = page
    return assert_type(order, Order)


def read_together() -> bt.Steps[int]:
    customer = bt.get(Customer.key("alex"), missing=UnknownCustomer)
    pair = yield from bt.together(customer, bt.query(ORDERS))
    assert_type(pair, tuple[Customer, bt.Page[Order]])
    three = yield from bt.together(customer, bt.count(ORDERS), read_pages())
    assert_type(three, tuple[Customer, int, Order])
    many = yield from bt.together(*[bt.count(ORDERS) for _ in range(4)])
    assert_type(many, tuple[int, ...])
    return sum(many)


def write_all_or_none() -> bt.Steps[tuple[Order, None]]:
    """DynamoDB tells nothing of what a transaction wrote: only a put's entity is known."""
    written = yield from bt.transact(bt.put(ORDER), bt.add(Customer.key("alex"), points=1))
    return assert_type(written, tuple[Order, None])


def write_several_or_none() -> bt.Steps[None]:
    (one,) = yield from bt.transact(bt.put(ORDER))
    assert_type(one, Order)
    there = bt.model.check(Customer.key("alex"), if_exists=UnknownCustomer)
    _, gone, order = yield from bt.transact(there, bt.delete(Customer.key("bo")), bt.put(ORDER))
    assert_type(gone, None)
    assert_type(order, Order)
    many = yield from bt.transact(*[bt.put(ORDER) for _ in range(1)])
    assert_type(many, tuple[Order, ...])


@bt.pattern("View Customer", index="Main table")
def view_customer(username: str) -> bt.Steps[Customer]:
    return (yield from bt.get(Customer.key(username), missing=UnknownCustomer))


# Outside


def test_steps_return_what_their_types_say() -> None:
    with open_store_here() as store:
        assert assert_type(store.run(read_and_write()), Customer) == ALEX
        assert assert_type(store.run(read_pages()), Order) == ORDER
        assert assert_type(store.run(read_together()), int) == 4
        written = assert_type(store.run(write_all_or_none()), tuple[Order, None])
        assert written == (ORDER, None)
        store.run(write_several_or_none())


def test_a_store_runs_patterns_and_operations() -> None:
    with open_store_here() as store:
        assert_type(store, bt.store.Store)
        assert assert_type(store.run(view_customer("alex")), Customer) == ALEX
        assert assert_type(store.run(bt.get(Customer.key("bo"))), Customer | None) is None


def test_an_async_store_awaits_the_same_types() -> None:
    async def run() -> Customer:
        async with bt.open_async_store("memory:") as store:
            assert_type(store, bt.store.AsyncStore)
            await store.run(bt.setup(SHOP))
            await store.run(bt.put(ALEX))
            return assert_type(await store.run(view_customer("alex")), Customer)

    assert asyncio.run(run()) == ALEX


def test_an_explanation_knows_the_result_of_its_steps() -> None:
    explanation = assert_type(bt.explain(view_customer("alex")), bt.advisor.Explanation[Customer])
    assert isinstance(assert_type(explanation.result, Customer), Customer)
    assert_type(bt.explain(bt.count(ORDERS)).result, int)


def test_a_pattern_keeps_its_parameters() -> None:
    call: Callable[[str], bt.Steps[Customer]] = view_customer
    assert call is view_customer
    wrong: Callable[[], Any] = lambda: view_customer(1)  # type: ignore[arg-type]  # noqa: E731
    assert wrong is not None


def test_a_misspelt_name_is_seen_by_the_type_checker() -> None:
    assert getattr(bt, "Entty", None) is None
    wrong: Callable[[], Any] = lambda: bt.Entty  # type: ignore[attr-defined]  # noqa: E731
    assert wrong is not None
