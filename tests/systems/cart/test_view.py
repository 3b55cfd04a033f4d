"""Views of carts: by status, newest first; of a product across accounts; of a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import CursorError, Cursors, Page, Position, load_many, setup
from bigtime.store import Store
from bigtime.systems.cart import SYSTEM
from bigtime.systems.cart.design import CartLine, Status
from bigtime.systems.cart.line import (
    move_line,
    put_in_cart,
    view_carts,
    view_carts_of_day,
    view_products,
)
from bigtime.wire import Steps
from tests.store.places import Place, Time
from tests.systems.cart.carts import ACTIVE, PRICE, PURCHASED, SAVED, fill, order_id, sku, skus

DAY = date(2019, 10, 8)
MIDNIGHT = datetime(2019, 10, 8, tzinfo=UTC)
INSTANT = timedelta(milliseconds=1)


def line(
    account_id: str, at: datetime, status: Status = ACTIVE, product: str = "72f49"
) -> CartLine:
    return CartLine(
        account_id=account_id,
        status=status,
        entered_at=at,
        item_sku=product,
        price=PRICE,
        count=1,
        create_timestamp=at,
        order_id=order_id(1) if status is PURCHASED else None,
    )


def pages(read: Callable[[Position | None], Steps[Page[CartLine]]], store: Store) -> list[CartLine]:
    found: list[CartLine] = []
    position: Position | None = None
    while True:
        page = store.run(read(position))
        found += page
        position = page.position
        if position is None:
            return found


def test_an_account_s_products_of_a_status_come_newest_first(place: Place) -> None:
    fill(place, 5)
    saved = place.run(view_products("liz", ACTIVE)).items[2]
    place.run(move_line("liz", saved.sk, SAVED))
    assert [*skus(place)] == [sku(4), sku(3), sku(1), sku(0)]
    assert [*skus(place, SAVED)] == [sku(2)]
    assert skus(place, PURCHASED) == {}


def test_the_time_is_that_of_entering_the_status(place: Place, time: Time) -> None:
    """What was put in first and saved last is the newest of what is saved (C9)."""
    first, second = (place.run(put_in_cart("liz", product, PRICE)) for product in "ab")
    for each in (second, first):
        time.now += timedelta(minutes=1)
        place.run(move_line("liz", each.sk, SAVED))
    assert [*skus(place, SAVED)] == ["a", "b"]


def test_a_product_s_carts_are_found_across_accounts_newest_first(place: Place) -> None:
    for number, account_id in enumerate(("liz", "chad", "sue")):
        place.time.now += timedelta(seconds=number)
        place.run(put_in_cart(account_id, "72f49", PRICE))
        place.run(put_in_cart(account_id, "other", PRICE))
    chads = place.run(view_products("chad", ACTIVE)).items[-1]
    assert chads.item_sku == "72f49"
    place.run(move_line("chad", chads.sk, SAVED))
    found = place.run(view_carts("72f49", ACTIVE))
    assert [each.account_id for each in found] == ["sue", "liz"]
    assert [cart.account_id for cart in place.run(view_carts("72f49", SAVED))] == ["chad"]


def test_the_last_second_of_a_day_is_in_it_and_the_next_day_is_not(place: Place) -> None:
    """Deciding test 7 (C8)."""
    inside = [MIDNIGHT, MIDNIGHT + timedelta(hours=23, minutes=59, seconds=59)]
    inside.append(MIDNIGHT + timedelta(days=1) - INSTANT)
    outside = [MIDNIGHT - INSTANT, MIDNIGHT + timedelta(days=1)]
    made = [line(f"account {at}", at) for at in (*inside, *outside)]
    place.run(load_many([*made, line("another", inside[0], SAVED)]))
    found = place.run(view_carts_of_day("72f49", ACTIVE, DAY))
    assert [each.entered_at for each in found] == inside[::-1]


def test_the_last_day_of_all_can_be_asked_for(alone: Place) -> None:
    assert not alone.run(view_carts_of_day("72f49", ACTIVE, date.max))
    assert not alone.run(view_carts_of_day("72f49", ACTIVE, date.min))


MOMENTS = st.integers(-3 * 86_400_000, 3 * 86_400_000).map(lambda ms: MIDNIGHT + ms * INSTANT)
LINES = st.lists(
    st.builds(line, st.sampled_from("abc"), MOMENTS, st.sampled_from(Status)),
    max_size=12,
    unique_by=lambda one: (one.account_id, one.sk),
)


@given(LINES, st.integers(1, 4), st.integers(-3, 3))
def test_days_part_a_product_s_lines_and_pages_join_up(
    lines: list[CartLine], limit: int, offset: int
) -> None:
    day = DAY + timedelta(days=offset)
    with Engine.memory(housekeeping=False) as engine, Store(engine) as store:
        store.run(setup(SYSTEM))
        store.run(load_many(lines))
        for status in Status:
            of_status = {line.sk: line for line in lines if line.status is status}
            read = pages(lambda after: view_carts("72f49", status, limit=limit, after=after), store)  # noqa: B023
            assert [each.entered_at for each in read] == sorted(
                (line.entered_at for line in lines if line.status is status), reverse=True
            )
            assert {each.sk for each in read} == of_status.keys()
            of_day = pages(
                lambda after: view_carts_of_day("72f49", status, day, limit=limit, after=after),  # noqa: B023
                store,
            )
            assert of_day == [each for each in read if each.entered_at.date() == day]


def test_an_account_s_view_does_not_wait_for_an_index(alone: Place, engine: Engine) -> None:
    engine.faults.lag_indexes(seconds=float("inf"))
    alone.run(put_in_cart("liz", "72f49", PRICE))
    assert not alone.run(view_carts("72f49", ACTIVE))
    assert skus(alone) == {"72f49": 1}


def test_a_cursor_that_was_touched_or_is_another_query_s_is_refused(alone: Place) -> None:
    """Deciding test 11 (T23)."""
    cursors = Cursors(["sixteen bytes, or some more"])
    fill(alone, 3)
    cursor = cursors.write(alone.run(view_products("liz", ACTIVE, limit=2)).position)
    assert cursor is not None
    with pytest.raises(CursorError):
        cursors.read(cursor[:-1] + ("A" if cursor[-1] != "A" else "B"))
    position = cursors.read(cursor)
    for steps in (
        view_products("chad", ACTIVE, after=position),
        view_products("liz", SAVED, after=position),
        view_carts(sku(0), ACTIVE, after=position),
    ):
        with pytest.raises(CursorError):
            alone.run(steps)
    rest = alone.run(view_products("liz", ACTIVE, limit=2, after=position))
    assert [each.item_sku for each in rest] == [sku(0)]
