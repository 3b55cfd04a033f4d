"""The order queue: each order once, in its latest status, whatever the stream does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from itertools import count
from random import Random
from typing import Any

import pytest

from bigtime.model import (
    PAYLOAD_BYTES,
    Ksuid,
    delete,
    get,
    load_many,
    put,
    repair,
    scan_all,
    verify,
)
from bigtime.site.mail import view_outbox
from bigtime.site.order_queue import (
    BEFORE,
    DatesReversed,
    FurtherOn,
    Mover,
    QueuedOrder,
    entry_key,
    follow_orders,
    move_order,
    move_orders,
    queue_entry,
    queue_write,
    short_number,
    unlist_empty_months,
    view_order_queue,
    view_orders_of_email,
    view_orders_of_number,
    view_staff_order,
)
from bigtime.site.systems import SITE
from bigtime.store import consume
from bigtime.systems.shop.customer import anonymise_order, create_customer
from bigtime.systems.shop.design import (
    ECOMMERCE,
    InvalidOrderId,
    Order,
    OrderMovedOn,
    OrderStatus,
    StatusOutOfOrder,
    UnknownCustomer,
)
from bigtime.systems.shop.order import OrderedItem, save_order, update_order_status
from bigtime.web.worker import handlers
from bigtime.wire import Steps
from tests.site.test_checkout import Crashed, until
from tests.store.places import START
from tests.web.cart.scene import PRICE, Scene
from tests.web.cart.scene import scene as opened
from tests.web.checkout.ordering import HOME

ADA = Mover("ada", "http://site.example/orders")
PLACED, PICKED, SHIPPED, DELIVERED, CANCELLED = OrderStatus
Handle = Callable[[Mapping[str, Any]], Steps[None]]


@pytest.fixture
def scene() -> Iterator[Scene]:
    with opened() as scene:
        scene.run(create_customer("liz", "liz@example.com", "Liz"))
        yield scene


def place(scene: Scene, number: int, *, days_ago: int = 0) -> Ksuid:
    at = START - timedelta(days=days_ago) + timedelta(minutes=number)
    order_id = Ksuid.make(at, number.to_bytes(16))
    items = [OrderedItem(item_id="KETTLE-17", price=PRICE, count=2)]
    scene.run(save_order("liz", order_id, items, ship_to=HOME))
    return order_id


def move(scene: Scene, order_id: Ksuid, *statuses: OrderStatus) -> None:
    seen = PLACED
    for status in statuses:
        scene.run(update_order_status("liz", order_id, seen, status))
        seen = status


def records_of(scene: Scene) -> list[Mapping[str, Any]]:
    """All that the shop's stream has."""
    found: list[Mapping[str, Any]] = []

    def keep(record: Mapping[str, Any]) -> Steps[None]:
        found.append(record)
        return
        yield

    scene.wait(consume(scene.store, ECOMMERCE.name, keep, name=f"reader {len(found)}").run_once())
    return found


def follow(scene: Scene, handle: Handle = follow_orders.handle) -> None:
    scene.wait(consume(scene.store, ECOMMERCE.name, handle, name="queue").run_once())


def queue(scene: Scene) -> dict[Ksuid, OrderStatus]:
    entries = scene.run(scan_all(QueuedOrder))
    assert len({entry.order_id for entry in entries}) == len(entries)
    return {entry.order_id: entry.status for entry in entries}


def orders(scene: Scene) -> dict[Ksuid, OrderStatus]:
    return {order.order_id: order.status for order in scene.run(scan_all(Order))}


def ids(page: Any) -> list[Ksuid]:
    return [order.order_id for order in page]


# Following


def test_the_worker_follows_the_orders() -> None:
    table, handle = handlers(None)["site.follow_orders"]
    assert (table, handle) == (ECOMMERCE, follow_orders.handle)


def test_an_order_is_queued_moves_and_leaves(scene: Scene) -> None:
    first, second = place(scene, 1), place(scene, 2)
    move(scene, second, PICKED)
    follow(scene)
    assert queue(scene) == {first: PLACED, second: PICKED}
    move(scene, first, CANCELLED)
    scene.run(delete(Order.key("liz", second)))
    follow(scene)
    assert queue(scene) == {first: CANCELLED}
    assert scene.run(verify(SITE)) == []


@pytest.mark.parametrize("seed", range(4))
def test_an_order_that_goes_to_a_pseudonym_takes_its_entry_along(scene: Scene, seed: int) -> None:
    """As it does when its customer's account is deleted."""
    order_id = place(scene, 1)
    move(scene, order_id, PICKED)
    follow(scene)
    order = scene.run(get(Order.key("liz", order_id)))
    assert order is not None
    scene.run(anonymise_order(order, "deleted-1"))
    records = records_of(scene) * 2
    Random(seed).shuffle(records)
    for record in records:
        scene.run(follow_orders.handle(record))
    (entry,) = scene.run(scan_all(QueuedOrder))
    assert (entry.username, entry.status) == ("deleted-1", PICKED)
    assert scene.run(verify(SITE)) == []


def test_what_came_before_each_status() -> None:
    assert {status: set(before) for status, before in BEFORE.items()} == {
        PLACED: set(),
        PICKED: {PLACED},
        SHIPPED: {PLACED, PICKED},
        DELIVERED: {PLACED, PICKED, SHIPPED},
        CANCELLED: {PLACED, PICKED},
    }


def fill_queue(scene: Scene) -> list[Mapping[str, Any]]:
    """Orders in every status, and the records of how they came there."""
    paths = ((), (PICKED,), (PICKED, SHIPPED), (PICKED, SHIPPED, DELIVERED), (PICKED, CANCELLED))
    for number, path in enumerate(paths):
        move(scene, place(scene, number), *path)
    return records_of(scene)


@pytest.mark.parametrize("seed", range(5))
def test_records_that_come_twice_late_and_in_any_order_leave_the_latest(
    scene: Scene, seed: int
) -> None:
    records = fill_queue(scene) * 2
    Random(seed).shuffle(records)
    for record in records:
        scene.run(follow_orders.handle(record))
    assert queue(scene) == orders(scene)
    assert scene.run(verify(SITE)) == []


def test_a_follower_that_is_killed_at_any_request_leaves_the_queue_right_after_the_next(
    scene: Scene,
) -> None:
    records = fill_queue(scene)
    killed = 0
    for record in records:
        for requests in count():
            try:
                scene.run(until(follow_orders.handle(record), requests))
            except Crashed:
                killed += 1
                continue
            break
    assert queue(scene) == orders(scene)
    assert killed >= len(records)


def test_a_late_writer_does_not_take_an_order_back(scene: Scene) -> None:
    """And without the condition it would: the check of these tests sees that."""
    order_id = place(scene, 1)
    before = scene.run(get(Order.key("liz", order_id)))
    assert before is not None
    move(scene, order_id, PICKED, SHIPPED)
    follow(scene)
    with pytest.raises(FurtherOn):
        scene.run(queue_write(queue_entry(before)))
    assert queue(scene) == orders(scene)
    scene.run(put(queue_entry(before)))
    assert queue(scene) != orders(scene)


# Rebuilding


def test_verify_finds_what_the_queue_lacks_and_repair_makes_it_anew(scene: Scene) -> None:
    fill_queue(scene)
    violations = scene.run(verify(SITE))
    assert len(violations) == 5
    assert all("is missing" in str(violation) for violation in violations)
    for violation in violations:
        scene.run(repair(violation))
    assert queue(scene) == orders(scene)
    assert scene.run(verify(SITE)) == []


def test_a_stale_and_a_stray_entry_are_repaired(scene: Scene) -> None:
    order_id = place(scene, 1)
    gone = Ksuid.make(START, b"g" * 16)
    scene.run(
        load_many(
            [
                QueuedOrder(order_id=order_id, status=SHIPPED, username="liz"),
                QueuedOrder(order_id=gone, status=PLACED, username="liz"),
            ]
        )
    )
    told = sorted(str(violation).rpartition(": ")[2] for violation in scene.run(verify(SITE)))
    assert told == ["differs from its source", "is the copy of what is gone"]
    for violation in scene.run(verify(SITE)):
        scene.run(repair(violation))
    assert queue(scene) == {order_id: PLACED}
    assert ids(scene.run(view_order_queue(PLACED))) == [order_id]


# Lists


def test_lists_by_status_and_all_newest_and_oldest_first_over_pages(scene: Scene) -> None:
    made = [place(scene, number, days_ago=9 - number) for number in range(9)]
    for order_id in made[::3]:
        move(scene, order_id, PICKED)
    follow(scene)
    for status, wanted in ((None, made), (PICKED, made[::3]), (SHIPPED, [])):
        for oldest_first in (True, False):
            listed: list[Ksuid] = []
            position = None
            for _ in range(9):
                page = scene.run(
                    view_order_queue(status, oldest_first=oldest_first, after=position, limit=2)
                )
                listed += ids(page)
                position = page.position
                if position is None:
                    break
            assert listed == (wanted if oldest_first else wanted[::-1])


@pytest.mark.parametrize("oldest_first", [True, False])
def test_days_bound_a_list_on_both_sides(scene: Scene, *, oldest_first: bool) -> None:
    made = [place(scene, 0, days_ago=days) for days in range(6)]
    follow(scene)

    def list_days(since: int | None, until: int | None) -> list[Ksuid]:
        def day(ago: int | None) -> date | None:
            return None if ago is None else (START - timedelta(days=ago)).date()

        steps = view_order_queue(oldest_first=oldest_first, since=day(since), until=day(until))
        found = ids(scene.run(steps))
        return found[::-1] if oldest_first else found

    assert list_days(4, 2) == made[2:5]
    assert list_days(None, 3) == made[3:]
    assert list_days(1, None) == made[:2]
    with pytest.raises(DatesReversed):
        list_days(2, 4)


@pytest.mark.parametrize("status", [PLACED, None])
@pytest.mark.parametrize("oldest_first", [True, False])
def test_a_full_page_within_days_is_the_last_one_if_what_follows_is_outside(
    scene: Scene, status: OrderStatus | None, *, oldest_first: bool
) -> None:
    made = [place(scene, 0, days_ago=days) for days in range(6)]
    follow(scene)
    since, until = ((START - timedelta(days=days)).date() for days in (3, 2))
    steps = view_order_queue(status, oldest_first=oldest_first, since=since, until=until, limit=2)
    page = scene.run(steps)
    assert ids(page) == (made[3:1:-1] if oldest_first else made[2:4])
    assert page.position is None


@pytest.mark.parametrize("day", [date(1990, 1, 1), date(9999, 12, 31)])
@pytest.mark.parametrize("oldest_first", [True, False])
def test_a_day_that_no_id_can_have_is_a_bound_like_any(
    scene: Scene, day: date, *, oldest_first: bool
) -> None:
    order_id = place(scene, 1)
    follow(scene)
    is_after = day > START.date()
    until = scene.run(view_order_queue(PLACED, oldest_first=oldest_first, until=day))
    assert ids(until) == ([order_id] if is_after else [])
    since = scene.run(view_order_queue(PLACED, oldest_first=oldest_first, since=day))
    assert ids(since) == ([] if is_after else [order_id])


@pytest.mark.parametrize("oldest_first", [True, False])
def test_orders_that_left_a_status_leave_no_partitions_to_ask(
    scene: Scene, *, oldest_first: bool
) -> None:
    made = [place(scene, 0, days_ago=31 * months) for months in range(12)]
    follow(scene)
    for order_id in made[1:-1]:
        move(scene, order_id, PICKED)
    follow(scene)
    scene.run(unlist_empty_months())
    scene.time.now += timedelta(hours=2)
    assert scene.run(unlist_empty_months()) == 10
    scene.take_operations()
    page = scene.run(view_order_queue(PLACED, oldest_first=oldest_first))
    assert sorted(ids(page)) == sorted((made[0], made[-1]))
    assert scene.take_operations() == ["Query", "Query", "Query", "BatchGetItem"]
    assert len(scene.run(view_order_queue(PICKED))) == 10


def test_a_list_shows_what_the_orders_are_now(scene: Scene) -> None:
    first, second = place(scene, 1), place(scene, 2)
    follow(scene)
    move(scene, first, PICKED)
    assert ids(scene.run(view_order_queue(PLACED))) == [second]
    assert [order.status for order in scene.run(view_order_queue(None))] == [PLACED, PICKED]


def test_a_list_is_not_a_request_for_each_order(scene: Scene) -> None:
    for number in range(20):
        place(scene, number)
    follow(scene)
    scene.take_operations()
    assert len(scene.run(view_order_queue(PLACED))) == 20
    assert scene.take_operations() == ["Query", "Query", "BatchGetItem"]


def test_orders_are_found_by_the_e_mail_of_their_customer(scene: Scene) -> None:
    order_id = place(scene, 1)
    assert ids(scene.run(view_orders_of_email("LIZ@example.com"))) == [order_id]
    with pytest.raises(UnknownCustomer):
        scene.run(view_orders_of_email("nobody@example.com"))


def test_orders_are_found_by_their_short_number(scene: Scene) -> None:
    made = [place(scene, number, days_ago=number) for number in range(3)]
    follow(scene)
    scene.take_operations()
    for order_id in made:
        for number in (short_number(order_id), order_id[:8], order_id):
            assert ids(scene.run(view_orders_of_number(number))) == [order_id]
    assert set(scene.take_operations()) == {"Query", "BatchGetItem"}
    assert scene.run(view_orders_of_number("0" * 8)) == []
    for number in ("", "#", made[0][:7], "z" * 8, "abc defg", made[0] + "0", "é" * 8):
        with pytest.raises(InvalidOrderId):
            scene.run(view_orders_of_number(number))


def test_a_short_number_may_be_of_two_days_and_of_several_orders(scene: Scene) -> None:
    """The last id of a day and the first of the next begin alike."""
    midnight = datetime.combine(START.date(), time(), UTC)
    last = Ksuid.make(midnight - timedelta(seconds=1), b"\xff" * PAYLOAD_BYTES)
    first = Ksuid.make(midnight, bytes(PAYLOAD_BYTES))
    items = [OrderedItem(item_id="KETTLE-17", price=PRICE, count=2)]
    for order_id in (last, first):
        scene.run(save_order("liz", order_id, items, ship_to=HOME))
    follow(scene)
    assert ids(scene.run(view_orders_of_number(short_number(first)))) == [last, first]


# Moves


def test_a_move_says_who_made_it_and_tells_the_customer_once(scene: Scene) -> None:
    scene.browser("liz")
    order_id = place(scene, 1)
    scene.run(move_order(ADA, "liz", order_id, PLACED, PICKED))
    for _ in range(2):
        with pytest.raises(OrderMovedOn):
            scene.run(move_order(ADA, "liz", order_id, PLACED, PICKED))
    whole = scene.run(view_staff_order(order_id))
    assert whole.order.status is PICKED
    assert [(move.who, move.status) for move in whole.moves] == [("ada", PICKED)]
    (mail,) = scene.run(view_outbox())
    assert (mail.to, mail.subject) == ("liz@example.com", "Your order is being packed")
    assert f"http://site.example/orders/{order_id}" in mail.text


def test_a_customer_without_a_confirmed_address_is_not_written_to(scene: Scene) -> None:
    order_id = place(scene, 1)
    scene.run(move_order(ADA, "liz", order_id, PLACED, PICKED))
    assert scene.run(view_outbox()).items == []


def test_only_moves_that_come_next_are_made(scene: Scene) -> None:
    order_id = place(scene, 1)
    for seen, status in ((PLACED, SHIPPED), (SHIPPED, CANCELLED), (DELIVERED, PLACED)):
        with pytest.raises(StatusOutOfOrder):
            scene.run(move_order(ADA, "liz", order_id, seen, status))
    assert orders(scene) == {order_id: PLACED}
    assert scene.run(view_staff_order(order_id)).moves == []


def test_of_several_orders_those_that_cannot_move_stay(scene: Scene) -> None:
    made = [place(scene, number) for number in range(4)]
    follow(scene)
    move(scene, made[1], CANCELLED)
    scene.run(delete(Order.key("liz", made[2])))
    seen = dict.fromkeys(made, PLACED)
    done = scene.run(move_orders(ADA, seen, PICKED))
    assert (done.moved, done.refused) == ([made[0], made[3]], [made[1], made[2]])
    again = scene.run(move_orders(ADA, seen, PICKED))
    assert again.moved == []


def test_a_move_that_crashes_is_made_whole_or_not_at_all(scene: Scene) -> None:
    scene.browser("liz")
    for requests in count():
        order_id = place(scene, requests)
        with suppress(OrderMovedOn):
            try:
                scene.run(until(move_order(ADA, "liz", order_id, PLACED, PICKED), requests))
            except Crashed:
                whole = scene.run(view_staff_order(order_id))
                assert len(whole.moves) == (whole.order.status is PICKED)
                scene.run(move_order(ADA, "liz", order_id, PLACED, PICKED))
            else:
                break
        assert len(scene.run(view_staff_order(order_id)).moves) == 1
    assert len(scene.run(view_outbox())) == requests + 1


def test_an_entry_is_found_by_the_order_s_id_alone(scene: Scene) -> None:
    order_id = place(scene, 1)
    follow(scene)
    entry = scene.run(get(entry_key(order_id)))
    assert entry is not None and entry.username == "liz"
