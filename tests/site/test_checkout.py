"""The steps of a checkout: one order for one key, whatever happens."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import TypeVar

import pytest

from bigtime.site.checkout import (
    MOST_AT_ONCE,
    MOST_PRODUCTS,
    Checkout,
    NotAsReviewed,
    OldCheckout,
    TooManyProducts,
    check_out,
    resume_purchases,
)
from bigtime.site.mail import view_outbox
from bigtime.site.priced_cart import view_cart
from bigtime.store import consume
from bigtime.systems.cart.design import CART, EmptyCart, Status
from bigtime.systems.cart.line import put_in_cart, set_count
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.shop.customer import create_customer, view_customer
from bigtime.systems.shop.design import EmailTaken
from bigtime.systems.shop.order import view_order
from bigtime.web.worker import handlers
from bigtime.wire import Request, Steps
from tests.web.cart.scene import PRICE, Scene, deal
from tests.web.checkout.ordering import HOME, check_all_agrees, checkout, orders_of

T = TypeVar("T")


class Crashed(Exception):
    """The process is gone."""


def until(steps: Steps[T], requests: int) -> Steps[T]:
    """The steps, which end for good before the request after so many."""
    made = count(1)
    answer: object = None
    error: Exception | None = None
    try:
        while True:
            wanted = steps.throw(error) if error else steps.send(answer)
            if isinstance(wanted, Request) and next(made) > requests:
                raise Crashed
            answer = error = None
            try:
                answer = yield wanted
            except Exception as raised:
                error = raised
    except StopIteration as end:
        result: T = end.value
        return result


@pytest.mark.parametrize("size", [1, MOST_AT_ONCE, MOST_AT_ONCE + 1, MOST_PRODUCTS])
def test_an_order_its_lines_and_its_letter_are_made_together(scene: Scene, size: int) -> None:
    scene.fill("liz", size)
    asked = checkout(scene.lines("liz"))
    made = scene.run(check_out(asked))
    assert made == asked.order_id
    (order,) = scene.run(orders_of("liz"))
    assert (order.item_count, order.total, order.ship_to) == (size, PRICE * size, HOME)
    assert scene.lines("liz") == []
    check_all_agrees(scene.run)


@pytest.mark.parametrize("size", [MOST_AT_ONCE, MOST_PRODUCTS])
def test_what_is_decided_is_decided_in_one_transaction(scene: Scene, size: int) -> None:
    scene.fill("liz", size)
    asked = replace(checkout(scene.lines("liz")), keep_as="home")
    scene.exchanges.clear()
    scene.run(check_out(asked))
    sizes = [
        len(exchange.request.params["TransactItems"])
        for exchange in scene.exchanges
        if "#ORDER#" in str(exchange.request.params.get("TransactItems"))
    ]
    assert sizes == [100]
    customer = scene.run(view_customer("liz")).customer
    assert customer is not None and customer.addresses == {"home": HOME}


def test_more_than_an_order_takes_is_refused_and_changes_nothing(scene: Scene) -> None:
    scene.fill("liz", MOST_PRODUCTS + 1)
    lines = scene.lines("liz")
    with pytest.raises(TooManyProducts):
        scene.run(check_out(checkout(lines)))
    assert scene.lines("liz") == lines
    assert scene.run(orders_of("liz")) == []


@pytest.mark.parametrize("size", [3, 30])
def test_a_repeated_checkout_makes_one_order_and_gives_it(scene: Scene, size: int) -> None:
    scene.fill("liz", size)
    asked = checkout(scene.lines("liz"))
    first = scene.run(check_out(asked))
    scene.run(put_in_cart("liz", deal(0).deal_id, PRICE))
    scene.time.now += timedelta(days=3)
    assert scene.run(check_out(asked)) == first
    assert len(scene.run(orders_of("liz"))) == 1
    assert len(scene.lines("liz")) == 1
    check_all_agrees(scene.run)


@pytest.mark.parametrize("size", [3, 30])
def test_of_concurrent_checkouts_with_one_key_all_get_one_order(scene: Scene, size: int) -> None:
    scene.fill("liz", size)
    asked = checkout(scene.lines("liz"))

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(scene.store.run(check_out(asked)) for _ in range(5)))

    assert set(scene.wait(all_at_once())) == {asked.order_id}
    assert len(scene.run(orders_of("liz"))) == 1
    check_all_agrees(scene.run)


@pytest.mark.parametrize("size", [3, 30])
def test_of_concurrent_checkouts_with_two_keys_one_makes_the_order(scene: Scene, size: int) -> None:
    scene.fill("liz", size)
    lines = scene.lines("liz")

    async def all_at_once() -> list[object]:
        runs = (scene.store.run(check_out(checkout(lines, number=n))) for n in (1, 2))
        return await asyncio.gather(*runs, return_exceptions=True)

    outcomes = scene.wait(all_at_once())
    assert sorted(isinstance(outcome, EmptyCart) for outcome in outcomes) == [False, True]
    assert len(scene.run(orders_of("liz"))) == 1
    check_all_agrees(scene.run)


def test_a_cart_that_is_not_as_it_was_shown_is_not_ordered(scene: Scene) -> None:
    scene.fill("liz", 2)
    seen = scene.lines("liz")
    for change in (
        set_count("liz", seen[0].item_sku, 2),
        put_in_cart("liz", "KETTLE-17", Decimal("1.50")),
    ):
        scene.run(change)
        with pytest.raises(NotAsReviewed):
            scene.run(check_out(checkout(seen)))
        seen = scene.lines("liz")
    assert scene.run(orders_of("liz")) == []
    scene.run(check_out(checkout(seen)))
    check_all_agrees(scene.run)


def test_an_order_costs_what_its_page_showed_or_is_none(scene: Scene) -> None:
    scene.fill("liz", 1)
    scene.run(update_deal(deal(0).deal_id, price=Decimal("99.00"), title="A finer lamp"))
    with pytest.raises(NotAsReviewed):
        scene.run(check_out(checkout(scene.lines("liz"))))
    reviewed = scene.run(view_cart("liz")).mark
    made = scene.run(check_out(replace(checkout(scene.lines("liz")), reviewed=reviewed)))
    (item,) = scene.run(view_order(made)).items
    assert (item.price, item.title) == (Decimal("99.00"), "A finer lamp")
    (line,) = scene.lines("liz", Status.PURCHASED)
    assert line.price == item.price


@pytest.mark.parametrize("minutes", [-24 * 60, 6])
def test_a_key_that_is_old_or_of_the_future_makes_no_order(scene: Scene, minutes: int) -> None:
    scene.fill("liz", 1)
    at = scene.time.now + timedelta(minutes=minutes)
    with pytest.raises(OldCheckout):
        scene.run(check_out(checkout(scene.lines("liz"), at=at)))
    assert scene.run(orders_of("liz")) == []


def test_an_empty_cart_makes_no_order(scene: Scene) -> None:
    with pytest.raises(EmptyCart):
        scene.run(check_out(checkout([])))
    assert scene.run(view_outbox()).items == []


def test_a_customer_is_made_once_and_one_that_is_there_stays(scene: Scene) -> None:
    scene.browser("liz")
    scene.fill("liz", 1)
    scene.run(check_out(checkout(scene.lines("liz"))))
    made = scene.run(view_customer("liz")).customer
    assert made is not None
    assert (made.email, made.name) == ("liz@example.com", "Liz")
    scene.run(put_in_cart("liz", deal(0).deal_id, PRICE))
    scene.run(check_out(checkout(scene.lines("liz"), number=2)))
    assert scene.run(view_customer("liz")).customer == made


def test_an_e_mail_that_is_another_customer_s_orders_nothing(scene: Scene) -> None:
    scene.run(create_customer("elizabeth", "liz@example.com", "Elizabeth"))
    scene.fill("liz", 1)
    with pytest.raises(EmailTaken):
        scene.run(check_out(checkout(scene.lines("liz"))))
    assert len(scene.lines("liz")) == 1


def test_a_title_as_long_as_a_deal_s_may_be_is_ordered(scene: Scene) -> None:
    long = deal(7, title="x" * 200)
    scene.post(long)
    scene.run(put_in_cart("liz", long.deal_id, PRICE))
    made = scene.run(check_out(checkout(scene.lines("liz"))))
    assert scene.run(view_order(made)).items[0].title == "x" * 200


def test_the_letter_says_what_is_ordered_and_nothing_that_was_typed(scene: Scene) -> None:
    scene.fill("liz", 2)
    made = scene.run(check_out(checkout(scene.lines("liz"))))
    (mail,) = scene.run(view_outbox())
    assert mail.to == "liz@example.com"
    for part in ("1 x Lamp 0, $19.99", "Total: $39.98", f"order {made}.", f"/orders/{made}"):
        assert part in mail.text
    assert "1 Long Street" not in mail.text and "Liz" not in mail.text


# Crashes


@pytest.mark.parametrize("size", [3, pytest.param(60, marks=pytest.mark.proof)])
def test_after_a_crash_at_any_request_the_cart_shows_all_or_nothing(
    scene: Scene, size: int
) -> None:
    """Whoever looks next finds the cart as it was, or the order, whole."""
    users = (f"user{number}" for number in count())
    for requests in count():
        username = next(users)
        scene.fill(username, size)
        lines = scene.lines(username)
        asked = replace(checkout(lines), username=username, email=f"{username}@example.com")
        try:
            scene.run(until(check_out(asked), requests))
        except Crashed:
            pass
        else:
            break
        cart = scene.run(view_cart(username))
        is_ordered = bool(scene.run(orders_of(username)))
        assert len(cart.lines) == (0 if is_ordered else size)
        assert scene.run(check_out(asked)) == asked.order_id
        assert len(scene.run(orders_of(username))) == 1
        assert scene.lines(username) == []
    assert requests >= (8 if size < MOST_AT_ONCE else 14)


def test_the_second_process_ends_what_a_crash_left(scene: Scene) -> None:
    scene.fill("liz", 60)
    crash_once_ordered(scene, checkout(scene.lines("liz")))
    assert len(scene.lines("liz")) == 60
    resume(scene)
    assert scene.lines("liz") == []
    check_all_agrees(scene.run)


def crash_once_ordered(scene: Scene, asked: Checkout) -> None:
    """Lets checkouts crash later and later, until one has made its order."""
    for requests in count():
        with suppress(Crashed):
            scene.run(until(check_out(asked), requests))
        if scene.run(orders_of("liz")):
            return


def resume(scene: Scene) -> None:
    consumer = consume(scene.store, CART.name, resume_purchases.handle, name="resume")
    scene.wait(consumer.run_once())


def test_the_second_process_has_that_to_do() -> None:
    table, handle = handlers(None)["site.resume_purchases"]
    assert (table, handle) == (CART, resume_purchases.handle)


def test_a_purchase_that_is_done_is_left_alone(scene: Scene) -> None:
    scene.fill("liz", 30)
    scene.run(check_out(checkout(scene.lines("liz"))))
    scene.run(put_in_cart("liz", deal(0).deal_id, PRICE))
    resume(scene)
    assert len(scene.lines("liz")) == 1
    check_all_agrees(scene.run)
