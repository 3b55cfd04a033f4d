"""Orders, wherever the store stands."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import DomainError, setup
from bigtime.store import Store, open_store
from bigtime.systems.shop import SYSTEM, design
from bigtime.systems.shop.customer import create_customer, save_address, view_customer
from bigtime.systems.shop.design import (
    OrderExists,
    OrderMovedOn,
    OrderStatus,
    StatusOutOfOrder,
    TooManyItems,
    UnknownCustomer,
    UnknownOrder,
)
from bigtime.systems.shop.order import (
    NEXT,
    OrderedItem,
    new_order,
    order_id_for,
    save_order,
    update_order_status,
    view_order,
    view_order_of,
)
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.cart.contents import assert_unchanged, check_sound
from tests.systems.cart.racing import in_processes, in_threads
from tests.systems.shop.shopping import HOME, items, order_id, signed_up

FIRST, SECOND = order_id(1), order_id(2)
PLACED, PICKED, SHIPPED, DELIVERED, CANCELLED = OrderStatus


def test_an_order_is_seen_with_its_items(place: Place) -> None:
    signed_up(place)
    wanted = [
        OrderedItem(
            item_id="b", price=Decimal("34.99"), title="C# in Depth, " + "4th edition " * 15
        ),
        OrderedItem(item_id="a", price=Decimal("12.49"), count=3),
    ]
    order = place.run(save_order("Alex", FIRST, wanted, ship_to=HOME))
    assert (order.total, order.item_count, order.status) == (Decimal("72.46"), 2, PLACED)
    assert order.created_at == FIRST.at
    seen = place.run(view_order(FIRST))
    assert seen == new_order("alex", FIRST, wanted, ship_to=HOME)
    assert [item.item_id for item in seen.items] == ["a", "b"]


def test_an_order_is_a_customer_s_own(place: Place) -> None:
    signed_up(place)
    signed_up(place, "bo")
    order = place.run(save_order("alex", FIRST, items(2)))
    assert place.run(view_order_of("Alex", FIRST)) == order
    for username, wanted in (("bo", FIRST), ("alex", SECOND)):
        with pytest.raises(UnknownOrder):
            place.run(view_order_of(username, wanted))


def test_an_order_takes_99_items_and_no_more(place: Place) -> None:
    signed_up(place)
    place.run(save_order("alex", FIRST, items(99)))
    assert len(place.run(view_order(FIRST)).items) == 99
    with assert_unchanged(place, SYSTEM), pytest.raises(TooManyItems):
        place.run(save_order("alex", SECOND, items(100)))


def test_saving_an_order_again_gives_the_same_order(place: Place) -> None:
    signed_up(place)
    order = place.run(save_order("alex", FIRST, items(3)))
    with assert_unchanged(place, SYSTEM):
        assert place.run(save_order("alex", FIRST, items(3))) == order
    picked = place.run(update_order_status("alex", FIRST, PLACED, PICKED))
    with assert_unchanged(place, SYSTEM):
        assert place.run(save_order("alex", FIRST, items(3)[::-1])) == picked


def test_another_order_under_the_same_id_is_refused(alone: Place) -> None:
    signed_up(alone)
    signed_up(alone, "bo")
    alone.run(save_order("alex", FIRST, items(3)))
    dearer = [*items(2), OrderedItem(item_id="SKU-002", price=Decimal(9), count=2)]
    others: list[tuple[str, list[OrderedItem], Any]] = [
        ("alex", items(2), None),
        ("alex", items(4), None),
        ("alex", dearer, None),
        ("alex", items(3), HOME),
        ("bo", items(3), None),
        ("bo", items(1), None),
    ]
    with assert_unchanged(alone, SYSTEM):
        for username, wanted, ship_to in others:
            with pytest.raises(OrderExists):
                alone.run(save_order(username, FIRST, wanted, ship_to=ship_to))


def test_an_order_s_id_follows_from_the_customer_and_a_key() -> None:
    made = order_id_for("Alex", FIRST)
    assert made == order_id_for("alex", FIRST)
    assert made.at == FIRST.at
    assert len({made, order_id_for("bo", FIRST), order_id_for("alex", SECOND), FIRST}) == 4


@pytest.mark.parametrize(("seen", "status"), list(product(OrderStatus, OrderStatus)), ids=str)
def test_a_status_moves_only_to_one_that_comes_next(
    alone: Place, seen: OrderStatus, status: OrderStatus
) -> None:
    signed_up(alone)
    alone.run(save_order("alex", FIRST, items(1)))
    for step in way_to(seen):
        alone.run(update_order_status("alex", FIRST, *step))
    if status in NEXT[seen]:
        assert alone.run(update_order_status("alex", FIRST, seen, status)).status == status
    else:
        with assert_unchanged(alone, SYSTEM), pytest.raises(StatusOutOfOrder):
            alone.run(update_order_status("alex", FIRST, seen, status))
    check_sound(alone, SYSTEM)


def way_to(status: OrderStatus) -> list[tuple[OrderStatus, OrderStatus]]:
    if status is CANCELLED:
        return [(PLACED, CANCELLED)]
    line = [PLACED, PICKED, SHIPPED, DELIVERED]
    reached = line[: line.index(status) + 1]
    return list(pairwise(reached))


def test_cancelled_is_possible_until_shipped_and_the_line_is_straight() -> None:
    assert {each for each in OrderStatus if CANCELLED in NEXT[each]} == {PLACED, PICKED}
    assert [PICKED in NEXT[PLACED], SHIPPED in NEXT[PICKED], DELIVERED in NEXT[SHIPPED]] == [
        True
    ] * 3
    assert sum(map(len, NEXT.values())) == 5


def test_a_status_moves_only_from_the_one_it_was_seen_in(place: Place) -> None:
    signed_up(place)
    place.run(save_order("alex", FIRST, items(1)))
    place.run(update_order_status("alex", FIRST, PLACED, CANCELLED))
    with assert_unchanged(place, SYSTEM), pytest.raises(OrderMovedOn):
        place.run(update_order_status("alex", FIRST, PLACED, PICKED))


def test_a_status_of_no_order_leaves_no_ghost(place: Place) -> None:
    """Deciding test 15, for an order."""
    signed_up(place)
    with assert_unchanged(place, SYSTEM), pytest.raises(UnknownOrder):
        place.run(update_order_status("alex", FIRST, PLACED, PICKED))


def test_an_order_that_the_index_does_not_have_yet_is_unknown(alone: Place, engine: Engine) -> None:
    signed_up(alone)
    engine.faults.lag_indexes(seconds=float("inf"))
    order = alone.run(save_order("alex", FIRST, items(2)))
    with pytest.raises(UnknownOrder):
        alone.run(view_order(FIRST))
    assert alone.run(view_customer("alex")).orders.items == [order]
    engine.faults.clear()
    assert alone.run(view_order(FIRST)).order == order


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="#"), min_size=1, max_size=8)
WANTED = st.builds(
    OrderedItem,
    item_id=NAMES.filter(lambda name: bool(name.strip()) and name.strip().isprintable()),
    price=st.decimals("0.01", "1000000", places=2),
    count=st.integers(1, 9_999),
)


@given(st.lists(WANTED, min_size=1, max_size=12, unique_by=lambda one: one.item_id))
def test_whatever_is_ordered_is_what_is_seen(wanted: list[OrderedItem]) -> None:
    with Engine.memory(housekeeping=False) as engine, Store(engine) as store:
        store.run(setup(SYSTEM))
        store.run(create_customer("alex", "alex@example.com", "Alex"))
        order = store.run(save_order("alex", FIRST, wanted))
        seen = store.run(view_order(FIRST))
    assert seen == new_order("alex", FIRST, wanted)
    assert order.total == sum(item.price * item.count for item in seen.items)


def given_price(price: Any) -> OrderedItem:
    return OrderedItem.model_validate({"item_id": "a", "price": price})


def given_item(item_id: str) -> OrderedItem:
    return OrderedItem(item_id=item_id, price=Decimal(1))


def given_count(count: int) -> OrderedItem:
    return OrderedItem(item_id="a", price=Decimal(1), count=count)


def save_wanted(*wanted: OrderedItem, username: str = "alex", of: str = SECOND) -> Steps[Any]:
    return save_order(username, of, wanted)  # type: ignore[arg-type]


BAD_INPUT: dict[str, tuple[Callable[[], Steps[Any]], type[DomainError]]] = {
    "empty username": (lambda: create_customer("", "b@example.com", "Bo"), design.InvalidUsername),
    "long username": (
        lambda: create_customer("b" * 65, "b@example.com", "Bo"),
        design.InvalidUsername,
    ),
    "username with #": (
        lambda: create_customer("b#o", "b@example.com", "Bo"),
        design.InvalidUsername,
    ),
    "customer asked for with #": (lambda: view_customer("b#o"), design.InvalidUsername),
    "no e-mail": (lambda: create_customer("bo", "bo.example.com", "Bo"), design.InvalidEmail),
    "e-mail with #": (lambda: create_customer("bo", "b#o@example.com", "Bo"), design.InvalidEmail),
    "long e-mail": (
        lambda: create_customer("bo", f"{'b' * 250}@a.com", "Bo"),
        design.InvalidEmail,
    ),
    "no name": (lambda: create_customer("bo", "b@a.com", " "), design.InvalidCustomerName),
    "no name of an address": (lambda: save_address("alex", "", HOME), design.InvalidAddressName),
    "no items": (save_wanted, design.EmptyOrder),
    "an item twice": (lambda: save_wanted(*items(2), items(1)[0]), design.DuplicateItem),
    "an item with #": (lambda: save_wanted(given_item("a#b")), design.InvalidItem),
    "an item without a name": (lambda: save_wanted(given_item("")), design.InvalidItem),
    "a long item": (lambda: save_wanted(given_item("a" * 65)), design.InvalidItem),
    "a price of 0": (lambda: save_wanted(given_price(0)), design.InvalidPrice),
    "a price below 0": (lambda: save_wanted(given_price("-1")), design.InvalidPrice),
    "a float": (lambda: save_wanted(given_price(1.5)), design.InvalidPrice),
    "a part of a cent": (lambda: save_wanted(given_price("1.005")), design.InvalidPrice),
    "no number": (lambda: save_wanted(given_price("NaN")), design.InvalidPrice),
    "too dear": (lambda: save_wanted(given_price("1000000.01")), design.InvalidPrice),
    "none of it": (lambda: save_wanted(given_count(0)), design.InvalidCount),
    "too much of it": (lambda: save_wanted(given_count(10_000)), design.InvalidCount),
    "no id": (lambda: save_wanted(*items(1), of="first"), design.InvalidOrderId),
    "asked for with no id": (lambda: view_order("first"), design.InvalidOrderId),  # type: ignore[arg-type]
    "unknown customer": (lambda: save_wanted(*items(1), username="nobody"), UnknownCustomer),
    "unknown order": (lambda: view_order(SECOND), UnknownOrder),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_its_own_error_and_leaves_no_trace(alone: Place, case: str) -> None:
    steps, error = BAD_INPUT[case]
    signed_up(alone)
    alone.run(save_order("alex", FIRST, items(2)))
    with assert_unchanged(alone, SYSTEM), pytest.raises(error) as refused:
        alone.run(steps())
    assert str(refused.value).endswith(".")


def test_of_threads_that_save_one_order_all_get_the_same_one(alone: Place) -> None:
    signed_up(alone)
    racers = [lambda: alone.run(save_order("alex", FIRST, items(5))).order_id for _ in range(4)]
    assert in_threads(racers) == [FIRST] * 4
    assert len(alone.run(view_customer("alex")).orders) == 1
    assert len(alone.run(view_order(FIRST)).items) == 5


def test_of_threads_that_move_one_order_one_does(alone: Place) -> None:
    signed_up(alone)
    alone.run(save_order("alex", FIRST, items(1)))
    racers = [
        lambda to=to: alone.run(update_order_status("alex", FIRST, PLACED, to)).status
        for to in (PICKED, CANCELLED, PICKED, CANCELLED)
    ]
    told = in_threads(racers)
    assert told.count("order-moved-on") == 3
    assert alone.run(view_order(FIRST)).order.status in told


def test_of_processes_that_order_with_one_key_one_makes_the_order(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    racer = "tests.systems.shop.racers:order_with"
    made = order_id_for("alex", FIRST)
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        store.run(create_customer("alex", "alex@example.com", "Alex"))
        told = in_processes(file, [(racer, FIRST, first) for first in ("a", "a", "b", "b")])
        assert told.count(made) == told.count("order-exists") == 2
        assert len(store.run(view_customer("alex")).orders) == 1
        assert len(store.run(view_order(made)).items) == 4
