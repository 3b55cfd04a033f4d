"""Purchases: one order, however large, however often asked for, whoever crashes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bigtime.model import Conflict, get, load_many, setup, transact
from bigtime.store import open_store
from bigtime.store.driver import Exchange, Hook
from bigtime.systems.cart import SYSTEM
from bigtime.systems.cart.design import LINES, CartLine, CartTooLarge, EmptyCart, Purchases
from bigtime.systems.cart.line import move_line, put_in_cart, remove_line, set_count, view_products
from bigtime.systems.cart.purchases import (
    complete_purchase,
    open_write,
    prepare,
    purchase,
    purchase_writes,
    view_purchase,
)
from tests.store.places import START, Place, Time
from tests.systems.cart.carts import (
    ACTIVE,
    PRICE,
    PURCHASED,
    SAVED,
    check_closed,
    check_markers,
    fill,
    lines,
    order_id,
    sku,
    skus,
)
from tests.systems.cart.contents import assert_unchanged

ORDER, OTHER = order_id(1), order_id(2)


def counts(number: int) -> dict[str, int]:
    """What `fill` puts in."""
    return {sku(each): each % 5 + 1 for each in range(number)}


@pytest.mark.parametrize("size", [33, 70])
def test_all_of_a_cart_is_bought_under_one_order(place: Place, size: int) -> None:
    fill(place, size)
    bought = place.run(purchase("liz", ORDER))
    assert {line.item_sku: line.count for line in bought} == counts(size)
    assert len({line.entered_at for line in bought}) == 1
    assert {line.order_id for line in bought} == {ORDER}
    assert skus(place) == {}
    assert place.run(view_purchase("liz", ORDER)) == bought
    check_markers(place)
    check_closed(place)


def test_up_to_33_lines_are_one_transaction_and_more_are_chunks(alone: Place) -> None:
    for size, transactions in ((33, 1), (34, 2), (70, 3)):
        fill(alone, size)
        alone.exchanges.clear()
        alone.run(purchase("liz", order_id(size, alone.time.now)))
        assert alone.operations.count("TransactWriteItems") == transactions


@pytest.mark.parametrize("size", [3, 40])
def test_a_repeated_purchase_gives_the_same_lines_and_buys_nothing(place: Place, size: int) -> None:
    fill(place, size)
    bought = place.run(purchase("liz", ORDER))
    place.run(put_in_cart("liz", sku(0), PRICE, 9))
    with assert_unchanged(place, SYSTEM):
        assert place.run(purchase("liz", ORDER)) == bought
    assert skus(place) == {sku(0): 9}


def test_a_second_purchase_of_a_cart_finds_it_empty(place: Place) -> None:
    fill(place, 2)
    place.run(purchase("liz", ORDER))
    with assert_unchanged(place, SYSTEM), pytest.raises(EmptyCart):
        place.run(purchase("liz", OTHER))


def test_two_purchases_of_one_product_in_one_instant_are_two(place: Place) -> None:
    for order, count in ((ORDER, 2), (OTHER, 3)):
        place.run(put_in_cart("liz", "a", PRICE, count))
        place.run(purchase("liz", order))
    first, second = (place.run(view_purchase("liz", order)) for order in (ORDER, OTHER))
    assert [line.count for line in (*first, *second)] == [2, 3]
    assert second[0].entered_at - first[0].entered_at >= timedelta(milliseconds=1)


def test_an_order_id_of_a_clock_that_is_ahead_is_found_again(place: Place) -> None:
    ahead = order_id(1, START + timedelta(seconds=5))
    fill(place, 2)
    bought = place.run(purchase("liz", ahead))
    assert len(bought) == 2
    assert place.run(purchase("liz", ahead)) == bought


def test_a_purchase_is_found_among_many(alone: Place, time: Time) -> None:
    """Its id was made long before it, and others were bought in between."""
    early = order_id(0)
    for number in range(1, 60):
        time.now += timedelta(seconds=1)
        alone.run(put_in_cart("liz", "a", PRICE))
        alone.run(purchase("liz", order_id(number, time.now)))
    fill(alone, 3)
    bought = alone.run(purchase("liz", early))
    assert len(bought) == 3
    assert alone.run(view_purchase("liz", early)) == bought
    assert alone.run(view_purchase("liz", order_id(99))) == []


def test_prices_and_first_times_are_kept(alone: Place, time: Time) -> None:
    alone.run(put_in_cart("liz", "a", Decimal("34.99")))
    time.now += timedelta(days=1)
    (line,) = alone.run(purchase("liz", ORDER))
    assert (line.price, line.create_timestamp) == (Decimal("34.99"), START)
    assert line.entered_at == time.now


def test_a_thousand_lines_can_be_written_down_and_one_more_is_too_many(alone: Place) -> None:
    """However long their names are: an item ends at 400 KB."""
    made = [
        CartLine(
            account_id="liz",
            status=ACTIVE,
            entered_at=START,
            item_sku=f"{number:04}".rjust(64, "🛒"),
            price=Decimal("999999.99"),
            count=9_999,
            create_timestamp=START,
        )
        for number in range(1_001)
    ]
    markers = [LINES.marker_of(line.__dict__) for line in made]
    alone.run(load_many([*made, *(marker for marker in markers if marker is not None)]))
    with assert_unchanged(alone, SYSTEM), pytest.raises(CartTooLarge):
        alone.run(purchase("liz", ORDER))
    alone.run(remove_line("liz", made[0].sk))
    alone.run(open_write(alone.run(prepare("liz", ORDER))))
    last = alone.run(get(Purchases.key("liz")))
    assert last is not None and len(last.buying) == 1_000


@pytest.mark.parametrize("size", [3, 40])
def test_a_purchase_prepared_before_another_was_made_is_refused(alone: Place, size: int) -> None:
    """It would buy again what the other has bought."""
    fill(alone, size)
    late = alone.run(prepare("liz", OTHER))
    alone.run(purchase("liz", ORDER))
    with assert_unchanged(alone, SYSTEM), pytest.raises(Conflict):
        alone.run(open_write(late) if size > 33 else transact(*purchase_writes(late)))


# Crashes


class Crash(BaseException):
    """The end of whoever was purchasing."""


def after_writes(count: int, end: Callable[[], Any]) -> Hook:
    """Ends whoever is running when so many writes are done."""
    left = count

    def look(exchange: Exchange) -> None:
        nonlocal left
        left -= exchange.request.operation in ("PutItem", "TransactWriteItems")
        if left == 0:
            end()

    return look


def crash() -> None:
    raise Crash


def crash_purchase(place: Place, writes: int) -> None:
    """A purchase that ended after so many writes."""
    hooks, place.store.hooks = place.store.hooks, (after_writes(writes, crash),)
    with pytest.raises(Crash):
        place.run(purchase("liz", ORDER))
    place.store.hooks = hooks


@pytest.mark.parametrize("after", [1, 2, 3, 4])
@pytest.mark.parametrize("resumed_by", ["itself", "another purchase", "completion"])
def test_a_purchase_that_crashed_is_completed(alone: Place, after: int, resumed_by: str) -> None:
    """One write opens it, three move 90 lines, the last of them closes it."""
    fill(alone, 90)
    crash_purchase(alone, after)
    alone.time.now += timedelta(hours=1)
    if resumed_by == "itself":
        alone.run(purchase("liz", ORDER))
    elif resumed_by == "completion":
        alone.run(complete_purchase("liz"))
    else:
        with pytest.raises(EmptyCart):
            alone.run(purchase("liz", OTHER))
    bought = alone.run(view_purchase("liz", ORDER))
    assert {line.item_sku: line.count for line in bought} == counts(90)
    assert {line.entered_at for line in bought} == {alone.time.now - timedelta(hours=1)}
    assert skus(alone) == {}
    check_markers(alone)
    check_closed(alone)


def test_what_was_written_down_is_bought_whatever_happens_to_the_cart(alone: Place) -> None:
    fill(alone, 70)
    crash_purchase(alone, 2)
    alone.time.now += timedelta(minutes=1)
    left = {line.item_sku: line for line in alone.run(view_products("liz", ACTIVE, limit=99))}
    more, less, gone, again, saved = sorted(left)[:5]
    alone.run(put_in_cart("liz", more, PRICE, 10))
    alone.run(set_count("liz", less, 1))
    for product in (gone, again):
        alone.run(remove_line("liz", left[product].sk))
    alone.run(put_in_cart("liz", again, PRICE, 7))
    alone.run(move_line("liz", left[saved].sk, SAVED))
    alone.run(put_in_cart("liz", "new", PRICE, 8))
    bought = alone.run(purchase("liz", ORDER))
    assert {line.item_sku: line.count for line in bought} == counts(70)
    assert skus(alone) == {"new": 8, again: 7, more: 10}
    check_markers(alone)
    check_closed(alone)


@pytest.mark.parametrize("after", [1, 2])
def test_a_process_that_died_leaves_a_purchase_for_another(tmp_path: Path, after: int) -> None:
    file = tmp_path / "cart.db"
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        for number in range(80):
            store.run(put_in_cart("liz", sku(number), PRICE, number % 5 + 1))
    command = [sys.executable, "-m", "tests.systems.cart.test_purchase", str(file), str(after)]
    assert subprocess.run(command, check=False, timeout=300).returncode == 9
    with open_store(f"file:{file}") as store:
        assert 0 < len(store.run(lines(ACTIVE))) <= 80
        bought = store.run(purchase("liz", ORDER))
        assert {line.item_sku: line.count for line in bought} == counts(80)
        assert store.run(lines(PURCHASED)) and not store.run(lines(ACTIVE))


if __name__ == "__main__":
    with open_store(f"file:{sys.argv[1]}") as opened:
        opened.hooks = (after_writes(int(sys.argv[2]), lambda: os._exit(9)),)
        opened.run(purchase("liz", ORDER))
