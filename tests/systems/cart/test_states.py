"""A cart beside a simple model of it, through whatever sequence of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bigtime.engine import Engine
from bigtime.model import Ksuid, scan_all, setup, verify
from bigtime.store import Store
from bigtime.systems.cart import SYSTEM
from bigtime.systems.cart.design import (
    CartLine,
    EmptyCart,
    InvalidSku,
    LineMarker,
    Purchases,
    Status,
    UnknownLine,
)
from bigtime.systems.cart.line import move_line, put_in_cart, remove_line, set_count
from bigtime.systems.cart.purchases import complete_purchase, purchase
from tests.store.places import Time
from tests.systems.cart.carts import ACTIVE, PURCHASED, SAVED, order_id

ACCOUNTS = st.sampled_from(["liz", "chad"])
SKUS = st.sampled_from(["a", "b", "a b"])
COUNTS = st.integers(1, 5)
PRICES = st.sampled_from([Decimal("1.25"), Decimal("12.49")])
ORDERS = st.integers(0, 3).map(order_id)


class Carts(RuleBasedStateMachine):
    """Two accounts, three products, four orders; nothing is remembered but how many are where."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = ExitStack()
        self.time = Time()
        engine = self.opened.enter_context(Engine.memory(housekeeping=False))
        self.store = self.opened.enter_context(Store(engine, clock=self.time.clock))
        self.store.run(setup(SYSTEM))
        self.active: dict[tuple[str, str], tuple[int, Decimal]] = {}
        self.saved: Counter[tuple[str, str, int, Decimal]] = Counter()
        self.bought: dict[tuple[str, Ksuid], dict[str, tuple[int, Decimal]]] = {}

    def teardown(self) -> None:
        assert self.store.run(verify(SYSTEM)) == []
        self.opened.close()

    def lines(self, status: Status) -> list[CartLine]:
        everything = self.store.run(scan_all(CartLine, consistent=True))
        return sorted(
            (each for each in everything if each.status is status), key=lambda one: one.sk
        )

    @rule(milliseconds=st.integers(1, 10**8))
    def time_passes(self, milliseconds: int) -> None:
        self.time.now += timedelta(milliseconds=milliseconds)

    @rule(account=ACCOUNTS, sku=SKUS, price=PRICES, count=COUNTS)
    def put(self, account: str, sku: str, price: Decimal, count: int) -> None:
        before, _ = self.active.get((account, sku), (0, price))
        line = self.store.run(put_in_cart(account, sku, price, count))
        self.active[account, sku] = (before + count, price)
        assert line.count == before + count

    @rule(account=ACCOUNTS, sku=SKUS, count=COUNTS)
    def count(self, account: str, sku: str, count: int) -> None:
        try:
            self.store.run(set_count(account, sku, count))
        except UnknownLine:
            assert (account, sku) not in self.active
        else:
            self.active[account, sku] = (count, self.active[account, sku][1])

    @precondition(lambda self: self.active)
    @rule(data=st.data())
    def save(self, data: st.DataObject) -> None:
        line = data.draw(st.sampled_from(self.lines(ACTIVE)))
        self.store.run(move_line(line.account_id, line.sk, SAVED))
        count, price = self.active.pop((line.account_id, line.item_sku))
        self.saved[line.account_id, line.item_sku, count, price] += 1

    @precondition(lambda self: +self.saved)
    @rule(data=st.data())
    def bring_back(self, data: st.DataObject) -> None:
        line = data.draw(st.sampled_from(self.lines(SAVED)))
        self.store.run(move_line(line.account_id, line.sk, ACTIVE))
        self.saved[line.account_id, line.item_sku, line.count, line.price] -= 1
        before, _ = self.active.get((line.account_id, line.item_sku), (0, line.price))
        self.active[line.account_id, line.item_sku] = (before + line.count, line.price)

    @precondition(lambda self: self.active or +self.saved)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        line = data.draw(st.sampled_from([*self.lines(ACTIVE), *self.lines(SAVED)]))
        self.store.run(remove_line(line.account_id, line.sk))
        if line.status is ACTIVE:
            del self.active[line.account_id, line.item_sku]
        else:
            self.saved[line.account_id, line.item_sku, line.count, line.price] -= 1

    @rule(account=ACCOUNTS, order=ORDERS)
    def buy(self, account: str, order: Ksuid) -> None:
        cart = {sku: held for (owner, sku), held in self.active.items() if owner == account}
        try:
            bought = self.store.run(purchase(account, order))
        except EmptyCart:
            assert not cart and (account, order) not in self.bought
            return
        if (account, order) not in self.bought:
            self.bought[account, order] = cart
            for sku in cart:
                del self.active[account, sku]
        assert {each.item_sku: (each.count, each.price) for each in bought} == self.bought[
            account, order
        ]

    @rule(account=ACCOUNTS)
    def complete_what_is_not_begun(self, account: str) -> None:
        last = self.store.run(complete_purchase(account))
        assert (last is not None) == any(owner == account for owner, _ in self.bought)

    @rule(account=ACCOUNTS, sku=st.sampled_from(["", "a#b", "x" * 65]), count=COUNTS)
    def put_what_is_none(self, account: str, sku: str, count: int) -> None:
        with pytest.raises(InvalidSku):
            self.store.run(put_in_cart(account, sku, Decimal(1), count))

    @invariant()
    def the_table_is_as_the_model(self) -> None:
        assert {
            (line.account_id, line.item_sku): (line.count, line.price)
            for line in self.lines(ACTIVE)
        } == self.active
        assert len(self.lines(ACTIVE)) == len(self.active)
        saved = (
            (line.account_id, line.item_sku, line.count, line.price) for line in self.lines(SAVED)
        )
        assert Counter(saved) == +self.saved
        assert sorted(self.bought_lines()) == sorted(map(state_of_line, self.lines(PURCHASED)))

    @invariant()
    def every_marker_is_its_line_s(self) -> None:
        markers = self.store.run(scan_all(LineMarker, consistent=True))
        assert sorted((marker.account_id, marker.line_sk) for marker in markers) == sorted(
            (line.account_id, line.sk) for line in self.lines(ACTIVE)
        )
        assert not any(purchase.is_open for purchase in self.store.run(scan_all(Purchases)))

    def bought_lines(self) -> Iterator[tuple[Any, ...]]:
        for (account, order), cart in self.bought.items():
            for sku, (count, price) in cart.items():
                yield account, order, sku, count, price


def state_of_line(line: CartLine) -> tuple[Any, ...]:
    return line.account_id, line.order_id, line.item_sku, line.count, line.price


def test_a_cart_is_what_a_simple_model_of_it_is() -> None:
    run_state_machine_as_test(Carts, settings=settings(max_examples=25, stateful_step_count=30))
