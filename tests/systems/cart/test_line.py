"""Lines of a cart, wherever the store stands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bigtime.model import DomainError
from bigtime.systems.cart import SYSTEM, design
from bigtime.systems.cart.design import (
    CartLine,
    InCartAgain,
    InvalidCount,
    PurchasedStays,
    UnknownLine,
)
from bigtime.systems.cart.line import (
    move_line,
    put_back,
    put_in_cart,
    remove_line,
    set_count,
    set_price,
    view_carts,
    view_carts_of_day,
    view_products,
)
from bigtime.systems.cart.purchases import purchase, view_purchase
from bigtime.wire import Request, Steps
from tests.store.places import START, Place, Time
from tests.systems.cart.carts import (
    ACTIVE,
    PRICE,
    PURCHASED,
    SAVED,
    check_markers,
    fill,
    lines,
    order_id,
    sku,
    skus,
)
from tests.systems.cart.contents import assert_unchanged, contents
from tests.systems.cart.racing import continue_steps


def test_two_lines_of_one_second_and_one_instant_survive(place: Place, time: Time) -> None:
    """Deciding test 6 (C5)."""
    for product in ("b", "a"):
        place.run(put_in_cart("liz", product, PRICE))
    time.now += timedelta(milliseconds=999)
    place.run(put_in_cart("liz", "c", PRICE))
    assert skus(place) == {"c": 1, "b": 1, "a": 1}
    check_markers(place)


def test_adding_again_adds_to_the_count_at_the_price_of_the_day(place: Place, time: Time) -> None:
    first = place.run(put_in_cart("liz", "a", Decimal("12.49"), 2))
    time.now += timedelta(days=1)
    again = place.run(put_in_cart("liz", "a", Decimal("11.99"), 3))
    assert again == first.replace(count=5, price=Decimal("11.99"))
    assert place.run(lines(ACTIVE)) == [again]
    check_markers(place)


def test_a_product_is_in_each_cart_by_itself(place: Place) -> None:
    place.run(put_in_cart("liz", "a", PRICE))
    place.run(put_in_cart("chad", "a", PRICE, 7))
    assert skus(place) == {"a": 1}
    assert skus(place, account_id="chad") == {"a": 7}


def test_a_count_is_set_and_only_of_what_is_in_the_cart(place: Place) -> None:
    place.run(put_in_cart("liz", "a", PRICE))
    assert place.run(set_count("liz", "a", 9)).count == 9
    with assert_unchanged(place, SYSTEM), pytest.raises(UnknownLine):
        place.run(set_count("liz", "b", 1))


def test_what_is_saved_for_later_comes_back(place: Place, time: Time) -> None:
    line = place.run(put_in_cart("liz", "a", PRICE, 3))
    time.now += timedelta(minutes=1)
    saved = place.run(move_line("liz", line.sk, SAVED))
    assert saved == line.replace(status=SAVED, entered_at=time.now)
    assert (skus(place), skus(place, SAVED)) == ({}, {"a": 3})
    check_markers(place)
    time.now += timedelta(minutes=1)
    back = place.run(move_line("liz", saved.sk, ACTIVE))
    assert back == line.replace(entered_at=time.now)
    assert back.create_timestamp == START
    check_markers(place)


def test_a_move_is_one_transaction(alone: Place) -> None:
    line = alone.run(put_in_cart("liz", "a", PRICE))
    alone.exchanges.clear()
    alone.run(move_line("liz", line.sk, SAVED))
    assert alone.operations == ["GetItem", "TransactWriteItems"]


def test_what_comes_back_to_a_cart_that_has_it_is_added(place: Place) -> None:
    line = place.run(put_in_cart("liz", "a", PRICE, 3))
    saved = place.run(move_line("liz", line.sk, SAVED))
    again = place.run(put_in_cart("liz", "a", Decimal("11.99"), 4))
    back = place.run(move_line("liz", saved.sk, ACTIVE))
    assert (back.sk, back.count) == (again.sk, 7)
    assert (skus(place), skus(place, SAVED)) == ({"a": 7}, {})
    check_markers(place)


def test_a_status_may_come_as_its_text(alone: Place) -> None:
    line = alone.run(put_in_cart("liz", "a", PRICE, 3))
    saved = alone.run(move_line("liz", line.sk, "SAVED"))  # type: ignore[arg-type]
    alone.run(put_in_cart("liz", "a", PRICE, 4))
    back = alone.run(move_line("liz", saved.sk, "ACTIVE"))  # type: ignore[arg-type]
    assert back.count == 7
    with pytest.raises(design.NotPurchasedByMoving):
        alone.run(move_line("liz", back.sk, "PURCHASED"))  # type: ignore[arg-type]


def test_a_product_can_be_saved_twice_in_one_instant(place: Place) -> None:
    """The key of the second would be that of the first."""
    for count in (1, 2, 3):
        line = place.run(put_in_cart("liz", "a", PRICE, count))
        place.run(move_line("liz", line.sk, SAVED))
    assert sorted(line.count for line in place.run(lines(SAVED))) == [1, 2, 3]
    check_markers(place)


def test_to_move_to_the_status_it_has_changes_nothing(alone: Place) -> None:
    line = alone.run(put_in_cart("liz", "a", PRICE))
    with assert_unchanged(alone, SYSTEM):
        assert alone.run(move_line("liz", line.sk, ACTIVE)) == line


def test_removing_takes_the_marker_along(place: Place) -> None:
    line = place.run(put_in_cart("liz", "a", PRICE))
    place.run(remove_line("liz", line.sk))
    assert contents(place, SYSTEM)["CartTable"] == []
    with pytest.raises(UnknownLine):
        place.run(remove_line("liz", line.sk))
    place.run(put_in_cart("liz", "a", PRICE))
    check_markers(place)


@pytest.mark.parametrize("status", [ACTIVE, SAVED])
def test_what_was_removed_is_put_back_as_it_was(place: Place, time: Time, status: Any) -> None:
    added = place.run(put_in_cart("liz", "a", PRICE, 3))
    time.now += timedelta(minutes=1)
    line = place.run(move_line("liz", added.sk, status))
    before = contents(place, SYSTEM)
    assert place.run(remove_line("liz", line.sk)) == line
    time.now += timedelta(minutes=1)
    for _ in range(2):
        assert place.run(put_back(line)) == line
    assert contents(place, SYSTEM) == before


def test_what_is_in_the_cart_again_stays_as_it_is_there(place: Place, time: Time) -> None:
    removed = place.run(remove_line("liz", place.run(put_in_cart("liz", "a", PRICE, 3)).sk))
    time.now += timedelta(minutes=1)
    place.run(put_in_cart("liz", "a", Decimal("11.99")))
    with assert_unchanged(place, SYSTEM), pytest.raises(InCartAgain):
        place.run(put_back(removed))


def test_a_removed_line_is_told_with_what_was_added_meanwhile(alone: Place) -> None:
    line = alone.run(put_in_cart("liz", "a", PRICE, 1))
    removed = run_interrupted(alone, remove_line("liz", line.sk), put_in_cart("liz", "a", PRICE, 1))
    assert removed.count == 2
    assert contents(alone, SYSTEM)["CartTable"] == []


def test_a_price_is_set_and_only_of_what_is_in_the_cart(place: Place) -> None:
    line = place.run(put_in_cart("liz", "a", PRICE, 2))
    new = Decimal("11.99")
    assert place.run(set_price("liz", "a", new)) == line.replace(price=new)
    with assert_unchanged(place, SYSTEM), pytest.raises(UnknownLine):
        place.run(set_price("liz", "b", new))


def test_what_was_purchased_stays(place: Place) -> None:
    fill(place, 1)
    (line,) = place.run(purchase("liz", order_id(1)))
    with assert_unchanged(place, SYSTEM):
        for steps in (
            remove_line("liz", line.sk),
            move_line("liz", line.sk, ACTIVE),
            put_back(line),
        ):
            with pytest.raises(PurchasedStays):
                place.run(steps)


def run_interrupted(place: Place, steps: Steps[Any], meanwhile: Steps[Any]) -> Any:
    """Runs steps, and lets something else happen after their first answer."""
    first = next(steps)
    assert isinstance(first, Request)
    answer = place.ask(first.operation, **first.params)
    place.run(meanwhile)
    return place.run(continue_steps(steps, answer))


def test_a_move_takes_along_what_was_added_meanwhile(alone: Place) -> None:
    line = alone.run(put_in_cart("liz", "a", PRICE, 1))
    moved = run_interrupted(
        alone,
        move_line("liz", line.sk, SAVED),
        put_in_cart("liz", "a", PRICE, 1),
    )
    assert moved.count == 2
    assert (skus(alone), skus(alone, SAVED)) == ({}, {"a": 2})
    check_markers(alone)


def test_what_was_removed_meanwhile_is_not_moved(alone: Place) -> None:
    line = alone.run(put_in_cart("liz", "a", PRICE, 1))
    with pytest.raises(UnknownLine):
        run_interrupted(alone, move_line("liz", line.sk, SAVED), remove_line("liz", line.sk))
    assert contents(alone, SYSTEM)["CartTable"] == []


def test_a_count_ends_at_its_limit(alone: Place) -> None:
    alone.run(put_in_cart("liz", "a", PRICE, 9_998))
    alone.run(put_in_cart("liz", "a", PRICE, 1))
    with assert_unchanged(alone, SYSTEM), pytest.raises(InvalidCount):
        alone.run(put_in_cart("liz", "a", PRICE, 1))


def add(account_id: str = "liz", product: str = "a", price: Any = PRICE, count: int = 1) -> Any:
    return put_in_cart(account_id, product, price, count)


THERE = f"ACTIVE#2026-11-15T12:00:00.000Z#{sku(0)}"
DAY = START.date()

BAD_INPUT: dict[str, tuple[Callable[[], Steps[Any]], type[DomainError]]] = {
    "no account": (lambda: add(" "), design.InvalidAccount),
    "a long account": (lambda: add("a" * 129), design.InvalidAccount),
    "an account with #": (lambda: add("a#b"), design.InvalidAccount),
    "no SKU": (lambda: add(product=""), design.InvalidSku),
    "a long SKU": (lambda: add(product="a" * 65), design.InvalidSku),
    "a SKU with #": (lambda: add(product="a#b"), design.InvalidSku),
    "a SKU that cannot be seen": (lambda: add(product="a\0b"), design.InvalidSku),
    "a price of 0": (lambda: add(price=0), design.InvalidPrice),
    "a price below 0": (lambda: add(price=Decimal(-1)), design.InvalidPrice),
    "a float": (lambda: add(price=12.5), design.InvalidPrice),
    "a part of a cent": (lambda: add(price=Decimal("0.001")), design.InvalidPrice),
    "an infinite price": (lambda: add(price=Decimal("inf")), design.InvalidPrice),
    "none of it": (lambda: add(count=0), design.InvalidCount),
    "too much of it": (lambda: add(count=10_000), design.InvalidCount),
    "a count of 0": (lambda: set_count("liz", sku(0), 0), design.InvalidCount),
    "a count of what is not there": (lambda: set_count("liz", "b", 1), design.UnknownLine),
    "a count of a SKU with #": (lambda: set_count("liz", "#", 1), design.InvalidSku),
    "a price to set of 0": (lambda: set_price("liz", sku(0), Decimal(0)), design.InvalidPrice),
    "a price of what is not there": (lambda: set_price("liz", "b", PRICE), design.UnknownLine),
    "no line": (lambda: move_line("liz", "here", SAVED), design.InvalidLine),
    "a marker": (lambda: move_line("liz", f"LINE#{sku(0)}", SAVED), design.InvalidLine),
    "a marker to remove": (lambda: remove_line("liz", f"LINE#{sku(0)}"), design.InvalidLine),
    "another's line": (lambda: remove_line("chad", THERE), design.UnknownLine),
    "another's line to move": (lambda: move_line("chad", THERE, SAVED), design.UnknownLine),
    "purchased by moving": (
        lambda: move_line("liz", THERE, PURCHASED),
        design.NotPurchasedByMoving,
    ),
    "an empty cart": (lambda: purchase("chad", order_id(1)), design.EmptyCart),
    "no order": (lambda: purchase("liz", "first"), design.InvalidOrderId),  # type: ignore[arg-type]
    "a purchase of no order": (
        lambda: view_purchase("liz", "first"),  # type: ignore[arg-type]
        design.InvalidOrderId,
    ),
    "a view of an account with #": (lambda: view_products("#", SAVED), design.InvalidAccount),
    "a view of a SKU with #": (lambda: view_carts("#", SAVED), design.InvalidSku),
    "a day of a SKU with #": (lambda: view_carts_of_day("#", SAVED, DAY), design.InvalidSku),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_its_own_error_and_leaves_no_trace(alone: Place, case: str) -> None:
    steps, error = BAD_INPUT[case]
    fill(alone, 2)
    with assert_unchanged(alone, SYSTEM), pytest.raises(error) as refused:
        alone.run(steps())
    assert str(refused.value).endswith(".")


def test_a_sort_key_names_its_line() -> None:
    line = CartLine(
        account_id="liz",
        status=ACTIVE,
        entered_at=START,
        item_sku=sku(0),
        price=PRICE,
        count=1,
        create_timestamp=START,
    )
    assert line.sk == THERE
    assert line.model_dump()["sk"] == THERE
    assert CartLine(**line.model_dump()) == line
