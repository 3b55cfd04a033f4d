"""A checkout over two systems: the order of the shop and the lines of the cart, together.

The systems do not know each other; whoever composes them puts their operations into one
transaction. Here that is done as the site does it, with up to 24 lines and with more.
"""

from __future__ import annotations

from functools import partial

import pytest

from bigtime.model import Conflict, Ksuid, System, transact
from bigtime.systems import cart, shop
from bigtime.systems.cart.design import CartLine
from bigtime.systems.cart.line import put_in_cart
from bigtime.systems.cart.purchases import (
    PreparedPurchase,
    complete_purchase,
    open_write,
    prepare,
    purchase_writes,
    view_purchase,
)
from bigtime.systems.shop.customer import create_customer, view_customer
from bigtime.systems.shop.design import OrderExists
from bigtime.systems.shop.order import OrderedItem, new_order, order_id_for, save_writes, view_order
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.cart.carts import PRICE, check_closed, check_markers, fill, order_id, sku, skus
from tests.systems.cart.racing import in_threads

SYSTEM = System("checkout", (*cart.SYSTEM.tables, *shop.SYSTEM.tables))
MOST_AT_ONCE = 24
KEY = order_id(1)


def check_out(username: str, key: Ksuid) -> Steps[Ksuid]:
    """One order for one key, whoever sends it, and however often."""
    made = order_id_for(username, key)
    for _ in range(16):
        prepared = yield from prepare(username, made)
        try:
            if not prepared.has_begun:
                yield from order_steps(prepared)
        except (Conflict, OrderExists):
            continue
        yield from complete_purchase(username)
        return made
    raise Conflict


def order_steps(prepared: PreparedPurchase) -> Steps[None]:
    """The order, and with it the purchase, or what begins it."""
    lines = prepared.lines
    order = new_order(prepared.account_id, prepared.order_id, [*map(ordered_item, lines)])
    small = len(lines) <= MOST_AT_ONCE
    writes = purchase_writes(prepared) if small else (open_write(prepared),)
    yield from transact(*save_writes(order), *writes)


def ordered_item(line: CartLine) -> OrderedItem:
    return OrderedItem(item_id=line.item_sku, price=line.price, count=line.count)


def checking_out(place: Place, key: Ksuid) -> Ksuid:
    return place.run(check_out("liz", key))


def check_agreement(place: Place, order: Ksuid) -> None:
    """The order's items are the purchased lines."""
    items = {item.item_id: (item.count, item.price) for item in place.run(view_order(order)).items}
    bought = place.run(view_purchase("liz", order))
    assert items == {each.item_sku: (each.count, each.price) for each in bought}


@pytest.mark.parametrize("size", [24, 98])
def test_an_order_and_its_lines_are_made_together(place: Place, size: int) -> None:
    place.run(create_customer("liz", "liz@example.com", "Liz"))
    fill(place, size)
    made = place.run(check_out("liz", KEY))
    assert place.run(check_out("liz", KEY)) == made
    assert len(place.run(view_order(made)).items) == size
    check_agreement(place, made)
    assert skus(place) == {}
    check_markers(place)
    check_closed(place)


def test_24_lines_are_one_transaction(alone: Place) -> None:
    fill(alone, 24)
    alone.exchanges.clear()
    alone.run(check_out("liz", KEY))
    (sent,) = [
        exchange.request
        for exchange in alone.exchanges
        if exchange.request.operation == "TransactWriteItems"
    ]
    assert len(sent.params["TransactItems"]) == 98


@pytest.mark.parametrize("size", [10, 40])
def test_of_checkouts_of_one_cart_one_makes_the_order(alone: Place, size: int) -> None:
    """Two pages, each sent twice."""
    alone.run(create_customer("liz", "liz@example.com", "Liz"))
    fill(alone, size)
    keys = [order_id(1), order_id(1), order_id(2), order_id(2)]
    told = in_threads([partial(checking_out, alone, key) for key in keys])
    assert sorted(map(told.count, told)) == [2, 2, 2, 2]
    (order,) = alone.run(view_customer("liz")).orders
    assert order.item_count == size
    check_agreement(alone, order.order_id)
    check_markers(alone)
    check_closed(alone)


def test_a_cart_that_changed_while_it_was_ordered_is_ordered_as_it_is(alone: Place) -> None:
    fill(alone, 3)
    made = order_id_for("liz", KEY)
    prepared = alone.run(prepare("liz", made))
    alone.run(put_in_cart("liz", sku(0), PRICE, 5))
    with pytest.raises(Conflict):
        alone.run(order_steps(prepared))
    alone.run(check_out("liz", KEY))
    assert alone.run(view_order(made)).items[0].count == 6
    check_agreement(alone, made)
