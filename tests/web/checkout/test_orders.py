"""Orders: a visitor's own, newest first, each with its items."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

import pytest

from bigtime.model import Ksuid
from bigtime.systems.shop.customer import create_customer
from bigtime.systems.shop.design import OrderStatus
from bigtime.systems.shop.order import OrderedItem, save_order, update_order_status
from tests.store.places import START
from tests.web.cart.page_forms import words_of
from tests.web.cart.scene import PRICE, Browser, Scene, deal
from tests.web.checkout.ordering import HOME


@pytest.fixture
def liz(scene: Scene) -> Browser:
    scene.post(deal(0))
    scene.run(create_customer("liz", "liz@example.com", "Liz"))
    return scene.browser("liz")


def place_order_of_two(scene: Scene, number: int = 0) -> Ksuid:
    """An order of two products, one of which is a deal."""
    order_id = Ksuid.make(START + timedelta(minutes=number), number.to_bytes(16))
    wanted = [
        OrderedItem(item_id=deal(0).deal_id, price=PRICE, count=2, title="Lamp <0>"),
        OrderedItem(item_id="KETTLE-17", price=Decimal("5.00")),
    ]
    scene.run(save_order("liz", order_id, wanted, ship_to=HOME))
    return order_id


def test_whoever_never_ordered_is_told_so(scene: Scene) -> None:
    page = scene.browser("chad").get("/orders")
    assert page.status_code == 200
    assert "No orders yet" in page.text


def test_orders_are_listed_newest_first_and_over_pages(scene: Scene, liz: Browser) -> None:
    made = [place_order_of_two(scene, number) for number in range(13)]
    first = liz.get("/orders")
    older = first.text.split('href="/orders?after=')[1].split('"')[0]
    second = liz.get(f"/orders?after={older}")
    listed = [
        part.split('"')[0]
        for page in (first, second)
        for part in page.text.split('href="/orders/')[1:]
    ]
    assert listed == made[::-1]
    assert "Older orders" not in second.text
    assert liz.get("/orders?after=made-up").status_code == 400


def test_a_cursor_of_another_s_orders_shows_none_of_them(scene: Scene, liz: Browser) -> None:
    for number in range(12):
        place_order_of_two(scene, number)
    older = liz.get("/orders").text.split('href="/orders?after=')[1].split('"')[0]
    chad = scene.browser("chad").get(f"/orders?after={older}")
    assert chad.status_code == 400
    assert 'href="/orders/' not in chad.text


def test_an_order_shows_its_items_its_status_and_where_it_goes(scene: Scene, liz: Browser) -> None:
    order_id = place_order_of_two(scene)
    scene.run(update_order_status("liz", order_id, OrderStatus.PLACED, OrderStatus.PICKED))
    page = liz.get(f"/orders/{order_id}")
    words = words_of(page.text)
    for part in ("Lamp <0> $19.99 2 $39.98", "KETTLE-17 $5.00 1", "Total $44.98", "1 Long Street"):
        assert part in words
    assert "Being packed" in words
    assert "Thank you" not in words
    assert f'href="/deals/{deal(0).deal_id}"' in page.text
    assert "/deals/KETTLE-17" not in page.text


def test_the_parts_of_an_order_s_page_have_names_of_their_own(scene: Scene, liz: Browser) -> None:
    """Who hears the page goes from one to the next by these."""
    page = liz.get(f"/orders/{place_order_of_two(scene)}").text
    labels = re.findall(r'<(?:nav|section|div)[^>]* aria-label="([^"]*)"', page)
    headings = re.findall(r'<section[^>]* aria-labelledby="([^"]*)"', page)
    names = labels + [
        words_of(page.split(f'id="{heading}">')[1].split("<")[0]) for heading in headings
    ]
    assert len(names) >= 5
    assert len(set(names)) == len(names)


def test_an_order_whose_items_are_not_to_be_seen_yet_says_so(scene: Scene, liz: Browser) -> None:
    """On Amazon DynamoDB the index with the items follows the table after a moment."""
    scene.engine.faults.lag_indexes(seconds=60)
    page = liz.get(f"/orders/{place_order_of_two(scene)}")
    assert page.status_code == 200
    assert "Refresh in a moment" in page.text


def test_another_s_order_is_as_unknown_as_none(scene: Scene, liz: Browser) -> None:
    order_id = place_order_of_two(scene)
    chad = scene.browser("chad")
    answers = [
        chad.get(f"/orders/{order_id}"),
        liz.get(f"/orders/{Ksuid.make(START, b'x' * 16)}"),
        liz.get("/orders/no-order"),
        liz.get("/orders/%23"),
    ]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert "Lamp" not in answers[0].text


def test_nobody_is_sent_to_log_in(scene: Scene) -> None:
    nobody = scene.browser()
    for path in ("/orders", f"/orders/{Ksuid.make(START, b'x' * 16)}"):
        assert nobody.get(path).headers["location"] == f"/log-in?next={path}"


# Cancelling


def test_an_order_is_cancelled_until_it_is_on_its_way(scene: Scene, liz: Browser) -> None:
    for number, moves in enumerate(([], [OrderStatus.PICKED])):
        order_id = place_order_of_two(scene, number)
        seen = OrderStatus.PLACED
        for status in moves:
            scene.run(update_order_status("liz", order_id, seen, status))
            seen = status
        path = f"/orders/{order_id}"
        page = liz.follow(liz.submit(liz.get(path), f"{path}/cancel"))
        assert "Status Cancelled" in words_of(page.text)
        assert "Your order was cancelled." in page.text
        assert f"{path}/cancel" not in page.text
        again = liz.send(f"{path}/cancel")
        assert again.status_code == 303


def test_what_is_on_its_way_or_another_s_is_not_cancelled(scene: Scene, liz: Browser) -> None:
    order_id = place_order_of_two(scene)
    path = f"/orders/{order_id}"
    assert scene.browser("chad").send(f"{path}/cancel").status_code == 404
    assert scene.browser().send(f"{path}/cancel").status_code == 303
    assert liz.send(f"{path}/cancel", form_token="x").status_code == 400
    scene.run(update_order_status("liz", order_id, OrderStatus.PLACED, OrderStatus.PICKED))
    page = liz.get(path)
    scene.run(update_order_status("liz", order_id, OrderStatus.PICKED, OrderStatus.SHIPPED))
    assert liz.submit(page, f"{path}/cancel").status_code in (409, 422)
    shown = liz.get(path).text
    assert "On its way" in shown and "Cancel this order" not in shown
    assert liz.send("/orders/x/cancel").status_code == 404
