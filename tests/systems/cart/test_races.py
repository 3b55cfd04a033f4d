"""Carts under races: one line of a product, one order of a cart."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from bigtime.model import Ksuid, setup
from bigtime.store import open_store
from bigtime.systems.cart import SYSTEM
from bigtime.systems.cart.line import (
    move_line,
    put_back,
    put_in_cart,
    remove_line,
    set_count,
    view_products,
)
from bigtime.systems.cart.purchases import purchase
from tests.store.places import Place
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
from tests.systems.cart.racing import in_processes, in_threads

RACERS = "tests.systems.cart.racers"


def test_of_threads_that_add_one_product_all_count_and_one_line_is_made(alone: Place) -> None:
    racers = [lambda: alone.run(put_in_cart("liz", "a", PRICE, 2)).item_sku for _ in range(6)]
    assert in_threads(racers) == ["a"] * 6
    assert skus(alone) == {"a": 12}
    check_markers(alone)


def test_of_threads_that_put_one_line_back_all_get_it_and_one_is_there(alone: Place) -> None:
    line = alone.run(remove_line("liz", alone.run(put_in_cart("liz", "a", PRICE, 2)).sk))
    assert in_threads([lambda: alone.run(put_back(line)).count] * 6) == ["2"] * 6
    assert skus(alone) == {"a": 2}
    check_markers(alone)


@pytest.mark.parametrize("size", [5, 50])
def test_of_threads_that_purchase_one_cart_one_makes_the_order(alone: Place, size: int) -> None:
    fill(alone, size)
    orders = [order_id(number) for number in range(4)]
    racers = [lambda order=order: len(alone.run(purchase("liz", order))) for order in orders]
    assert sorted(in_threads(racers)) == [str(size), *["empty-cart"] * 3]
    bought = alone.run(lines(PURCHASED))
    assert len(bought) == size
    assert len({line.order_id for line in bought}) == 1
    check_markers(alone)
    check_closed(alone)


@pytest.mark.parametrize("size", [5, 50])
def test_of_threads_that_repeat_one_purchase_all_get_all_of_it(alone: Place, size: int) -> None:
    fill(alone, size)
    racers = [lambda: len(alone.run(purchase("liz", order_id(1)))) for _ in range(4)]
    assert in_threads(racers) == [str(size)] * 4
    assert len(alone.run(lines(PURCHASED))) == size
    check_markers(alone)
    check_closed(alone)


def test_nothing_is_lost_or_doubled_between_adding_saving_and_purchasing(alone: Place) -> None:
    """Ten are added, one by one, while the line moves to and fro and is bought twice."""
    alone.run(put_in_cart("liz", "a", PRICE, 5))

    def add_all() -> None:
        for _ in range(10):
            alone.run(put_in_cart("liz", "a", PRICE))

    def move_all() -> None:
        for status in (ACTIVE, SAVED) * 4:
            for line in alone.run(view_products("liz", status)):
                alone.run(move_line("liz", line.sk, SAVED if status is ACTIVE else ACTIVE))

    def buy(number: int) -> None:
        alone.run(purchase("liz", order_id(number)))

    in_threads([add_all, move_all, lambda: buy(1), lambda: buy(2)])
    everywhere = [
        line for status in (ACTIVE, SAVED, PURCHASED) for line in alone.run(lines(status))
    ]
    assert sum(line.count for line in everywhere) == 15
    check_markers(alone)


def buying(place: Place, order: Ksuid) -> int:
    return len(place.run(purchase("liz", order)))


def setting(place: Place) -> int:
    return place.run(set_count("liz", "a", 3)).count


def test_a_count_that_is_set_while_the_cart_is_bought_is_bought_or_left(alone: Place) -> None:
    for order in map(order_id, range(5)):
        alone.run(put_in_cart("liz", "a", PRICE, 1))
        in_threads([partial(buying, alone, order), partial(setting, alone)])
        check_markers(alone)
    assert all(line.count in (1, 3) for line in alone.run(lines(PURCHASED)))


def test_of_processes_that_add_one_product_all_count_and_one_line_is_made(tmp_path: Path) -> None:
    file = tmp_path / "cart.db"
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        told = in_processes(file, [(f"{RACERS}:add", "a", str(count)) for count in (1, 2, 3)])
        assert told == ["a"] * 3
        (line,) = store.run(view_products("liz", ACTIVE))
        assert line.count == 6


def test_of_processes_that_purchase_one_large_cart_one_makes_the_order(tmp_path: Path) -> None:
    """Two send the same purchase, two another one."""
    file = tmp_path / "cart.db"
    orders = [order_id(1), order_id(1), order_id(2), order_id(2)]
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        for number in range(70):
            store.run(put_in_cart("liz", sku(number), PRICE))
        told = in_processes(file, [(f"{RACERS}:buy", order) for order in orders])
        (winner,) = {line.order_id for line in store.run(lines(PURCHASED))}
        assert sorted(told) == sorted([f"70 of {winner}"] * 2 + ["empty-cart"] * 2)
        assert store.run(lines(ACTIVE)) == []
