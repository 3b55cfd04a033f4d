"""The order queue of the staff, through its pages."""

from __future__ import annotations

import csv
from datetime import timedelta
from io import StringIO
from typing import Any
from urllib.parse import quote

import pytest

from bigtime.model import Ksuid
from bigtime.site import money
from bigtime.site.order_queue import follow_orders
from bigtime.store import consume
from bigtime.systems.accounts.design import Role
from bigtime.systems.shop.customer import create_customer
from bigtime.systems.shop.design import ECOMMERCE, Address, Order, OrderStatus
from bigtime.systems.shop.order import OrderedItem, save_order, update_order_status, view_order_of
from tests.store.places import START
from tests.web.cart.page_forms import form_of, read, words_of
from tests.web.cart.scene import PRICE, Browser, Scene

PLACED, PICKED, SHIPPED, DELIVERED, CANCELLED = OrderStatus
ARABIC = Address(
    recipient="عمر <b>", street="12 شارع", city="القاهرة", postal_code="11511", country="EG"
)


@pytest.fixture
def ada(scene: Scene) -> Browser:
    scene.run(create_customer("liz", "liz@example.com", "Liz"))
    return scene.browser("ada", Role.ADMIN)


def place(scene: Scene, number: int, *, days_ago: int = 0) -> Ksuid:
    at = START - timedelta(days=days_ago) + timedelta(minutes=number)
    order_id = Ksuid.make(at, number.to_bytes(16))
    items = [
        OrderedItem(item_id="KETTLE-17", price=PRICE, count=2, title="Kettle <1.7>"),
        OrderedItem(item_id="MUG-BLUE", price=PRICE, count=7),
    ]
    scene.run(save_order("liz", order_id, items, ship_to=ARABIC))
    return order_id


def follow(scene: Scene) -> None:
    consumer = consume(scene.store, ECOMMERCE.name, follow_orders.handle, name="queue")
    scene.wait(consumer.run_once())


def test_an_order_is_found_by_the_number_that_the_queue_and_its_customer_see(
    scene: Scene, ada: Browser
) -> None:
    order_id = place(scene, 1)
    place(scene, 2)
    follow(scene)
    (row,) = [part for part in ada.get("/admin/orders").text.split("<tr>") if order_id in part]
    number = row.split("</a>")[0].rpartition(">")[2]
    assert f"{number}, 2 products" in words_of(scene.browser("liz").get("/orders").text)
    for typed in (number, f" {number} ", number.removeprefix("#")):
        found = ada.get(f"/admin/orders/find?q={quote(typed)}")
        assert found.headers["location"] == f"/admin/orders/{order_id}"


def test_orders_of_one_short_number_are_listed(scene: Scene, ada: Browser) -> None:
    first, second = (Ksuid.make(START, number.to_bytes(16)) for number in range(2))
    item = OrderedItem(item_id="KETTLE-17", price=PRICE, count=2)
    for order_id in (first, second):
        scene.run(save_order("liz", order_id, [item], ship_to=ARABIC))
    follow(scene)
    assert order_ids(ada.get(f"/admin/orders/find?q=%23{first[:8]}")) == [first, second]


def test_the_overview_has_the_orders_and_revenue_of_today_and_the_week(
    scene: Scene, ada: Browser
) -> None:
    """Not those of a week ago, nor cancelled ones."""
    for number, days_ago in ((1, 0), (2, 0), (3, 6), (4, 7)):
        place(scene, number, days_ago=days_ago)
    cancelled = place(scene, 5)
    scene.run(update_order_status("liz", cancelled, PLACED, CANCELLED))
    follow(scene)
    page = words_of(ada.get("/admin").text)
    one = 9 * PRICE
    assert f"Orders today 2 Revenue today {money(2 * one)}" in page
    assert f"Orders in the last 7 days 3 Revenue in the last 7 days {money(3 * one)}" in page


def status_of(scene: Scene, order_id: Ksuid) -> OrderStatus:
    order: Order = scene.run(view_order_of("liz", order_id))
    return order.status


def order_ids(page: Any) -> list[str]:
    parts = page.text.split('th scope="row"><a href="/admin/orders/')[1:]
    return [part.split('"')[0] for part in parts]


def moving(page: Any, status: OrderStatus) -> Any:
    action = f"/admin/orders/{str(page.url).rpartition('/')[2].partition('?')[0]}/status"
    return form_of(page.text, action, status=status)


# The queue


def test_the_queue_begins_with_the_oldest_that_is_placed(scene: Scene, ada: Browser) -> None:
    made = [place(scene, number) for number in range(3)]
    follow(scene)
    page = ada.get("/admin/orders")
    assert order_ids(page) == made
    assert order_ids(ada.get("/admin/orders?sort=newest")) == made[::-1]
    assert order_ids(ada.get("/admin/orders?status=PICKED")) == []
    assert "عمر &lt;b&gt;</bdi>" in page.text


def test_lists_go_on_with_their_filters(scene: Scene, ada: Browser) -> None:
    made = [place(scene, number) for number in range(27)]
    follow(scene)
    first = ada.get("/admin/orders?status=all&sort=newest")
    link = first.text.split('href="/admin/orders?status=all&amp;sort=newest&amp;after=')[1]
    second = ada.get(f"/admin/orders?status=all&sort=newest&after={link.split(chr(34))[0]}")
    assert order_ids(first) + order_ids(second) == made[::-1]


def test_orders_as_csv_have_all_pages_and_the_filters(scene: Scene, ada: Browser) -> None:
    made = [place(scene, number) for number in range(130)]
    picked = made.pop()
    scene.run(update_order_status("liz", picked, PLACED, PICKED))
    follow(scene)
    sent = ada.get("/admin/orders.csv")
    assert sent.headers["content-disposition"] == 'attachment; filename="orders.csv"'
    rows = list(csv.DictReader(StringIO(sent.text)))
    assert [row["Order"] for row in rows] == made
    assert (rows[0]["Customer"], rows[0]["Total"]) == ("liz", str(9 * PRICE))
    assert (rows[0]["Recipient"], rows[0]["City"], rows[0]["Country"]) == (
        ARABIC.recipient,
        ARABIC.city,
        ARABIC.country,
    )
    (row,) = csv.DictReader(StringIO(ada.get("/admin/orders.csv?status=PICKED").text))
    assert (row["Order"], row["Status"]) == (picked, "Being packed")
    assert "downloaded the list (status PICKED) list orders" in words_of(
        ada.get("/admin/users/log").text
    )


def test_the_queue_links_to_its_csv_with_its_filters(scene: Scene, ada: Browser) -> None:
    place(scene, 1)
    follow(scene)
    assert 'href="/admin/orders.csv"' in ada.get("/admin/orders").text
    assert 'href="/admin/orders.csv?status=all"' in ada.get("/admin/orders?status=all").text
    assert "Download CSV" not in ada.get("/admin/orders/find?q=liz@example.com").text


@pytest.mark.parametrize("query", ["status=x", "since=2026-02-01&until=2026-01-01"])
def test_a_csv_of_wrong_filters_is_refused(ada: Browser, query: str) -> None:
    assert ada.get(f"/admin/orders.csv?{query}").status_code in (400, 422)


def test_days_filter_and_wrong_filters_are_told(scene: Scene, ada: Browser) -> None:
    made = [place(scene, 0, days_ago=days) for days in range(3)]
    follow(scene)
    day = (START - timedelta(days=1)).date().isoformat()
    assert order_ids(ada.get(f"/admin/orders?since={day}&until={day}")) == [made[1]]
    for query in ("since=x", "status=LOST", "sort=x", "since=2026-11-02&until=2026-11-01"):
        assert ada.get(f"/admin/orders?{query}").status_code == 422


def test_orders_are_found_by_number_and_by_e_mail(scene: Scene, ada: Browser) -> None:
    order_id = place(scene, 1)
    found = ada.get(f"/admin/orders/find?q=%20{order_id}")
    assert found.headers["location"] == f"/admin/orders/{order_id}"
    assert order_ids(ada.get("/admin/orders/find?q=Liz@example.com")) == [order_id]
    for text in ("nobody@example.com", "x", "2" * 27, "2" * 8, "z" * 8, "%23", "<b>"):
        missing = ada.get(f"/admin/orders/find?q={text}")
        assert missing.status_code == 422
        assert "No order has this number" in missing.text


def test_several_orders_are_moved_and_those_that_cannot_are_told(
    scene: Scene, ada: Browser
) -> None:
    made = [place(scene, number) for number in range(4)]
    follow(scene)
    page = ada.get("/admin/orders?select=all")
    assert page.text.count(" checked>") == 4
    liz = scene.browser("liz")
    liz.submit(liz.get(f"/orders/{made[1]}"), f"/orders/{made[1]}/cancel")
    fields = form_of(page.text, "/admin/orders/selected").fields
    sent = ada.scene.wait(
        ada.client.post(
            "/admin/orders/selected",
            data={
                "form_token": fields["form_token"],
                "order": [f"{order_id} PLACED" for order_id in made[:3]],
                "then": "PICKED",
            },
        )
    )
    done = words_of(ada.follow(sent).text)
    assert "2 orders are now “Being packed”." in done
    assert f"Order {made[1]} of liz was not moved: it is “Cancelled”." in done
    assert [status_of(scene, order_id) for order_id in made] == [PICKED, CANCELLED, PICKED, PLACED]


def test_nothing_selected_or_no_deed_is_told(scene: Scene, ada: Browser) -> None:
    order_id = place(scene, 1)
    refused = ada.send("/admin/orders/selected", then="PICKED")
    assert refused.status_code == 422 and "Select at least one" in refused.text
    assert ">Orders</h1>" in refused.text
    for then in ("", "CANCELLED", "LOST"):
        wrong = ada.send("/admin/orders/selected", order=f"{order_id} PLACED", then=then)
        assert wrong.status_code == 400
    assert status_of(scene, order_id) is PLACED


# An order


def test_an_order_is_moved_to_the_end_and_says_by_whom(scene: Scene, ada: Browser) -> None:
    order_id = place(scene, 1)
    for status, label in (
        (PICKED, "Being packed"),
        (SHIPPED, "On its way"),
        (DELIVERED, "Delivered"),
    ):
        page = ada.get(f"/admin/orders/{order_id}")
        page = ada.follow(ada.submit_form(moving(page, status)))
        assert f"This order is now “{label}”." in page.text
        assert f"ada changed its status to {label}" in words_of(page.text)
    assert not [form for form in read(page.text).forms if form.action.endswith("/status")]
    assert "liz@example.com" in page.text and "Kettle &lt;1.7&gt;" in page.text


def test_an_order_is_cancelled_after_a_question(scene: Scene, ada: Browser) -> None:
    order_id = place(scene, 1)
    page = ada.get(f"/admin/orders/{order_id}")
    question = page.text.split('<details class="confirm">')[1].split("</details>")[0]
    assert 'value="CANCELLED"' in question and page.text.count('value="CANCELLED"') == 1
    ada.submit_form(moving(page, CANCELLED))
    assert status_of(scene, order_id) is CANCELLED
    assert "Cancelled" in scene.browser("liz").get(f"/orders/{order_id}").text


def test_an_order_that_the_customer_has_cancelled_is_not_moved(scene: Scene, ada: Browser) -> None:
    order_id = place(scene, 1)
    page = ada.get(f"/admin/orders/{order_id}")
    liz = scene.browser("liz")
    liz.submit(liz.get(f"/orders/{order_id}"), f"/orders/{order_id}/cancel")
    late = ada.submit_form(moving(page, PICKED))
    assert late.status_code == 409
    assert "the customer has cancelled this order meanwhile" in late.text
    assert "The customer changed its status to Cancelled" in words_of(late.text)


def test_an_order_that_another_has_moved_says_who(scene: Scene, ada: Browser) -> None:
    order_id = place(scene, 1)
    page = ada.get(f"/admin/orders/{order_id}")
    bo = scene.browser("bo", Role.ADMIN)
    bo.submit_form(moving(bo.get(f"/admin/orders/{order_id}"), PICKED))
    late = ada.submit_form(moving(page, PICKED))
    assert late.status_code == 409
    assert "bo has moved this order to “Being packed” meanwhile" in late.text
    skipped = ada.send(f"/admin/orders/{order_id}/status", seen="PICKED", status="DELIVERED")
    assert skipped.status_code == 422
    assert ada.send(f"/admin/orders/{order_id}/status", seen="x").status_code == 422
    assert status_of(scene, order_id) is PICKED


def test_no_order_is_not_found(scene: Scene, ada: Browser) -> None:
    for order_id in ("x", "2" * 27, "%00"):
        assert ada.get(f"/admin/orders/{order_id}").status_code == 404


# Packing lists


def test_a_packing_list_has_items_counts_and_the_address_and_no_price(
    scene: Scene, ada: Browser
) -> None:
    made = [place(scene, number) for number in range(3)]
    follow(scene)
    sent = ada.send("/admin/orders/selected", order=f"{made[2]} PLACED", then="packing")
    assert listed_sheets(ada.follow(sent)) == [made[2]]
    query = "&".join(f"order={order_id}" for order_id in (made[1], made[0], made[1], "x"))
    page = ada.get(f"/admin/orders/packing?{query}")
    assert listed_sheets(page) == [made[1], made[0]]
    sheet = page.text.split("<article")[1]
    assert "<address><bdi>عمر &lt;b&gt;</bdi><br><bdi>12 شارع</bdi><br>" in sheet
    assert "2 Kettle <1.7> KETTLE-17" in words_of(page.text)
    assert "7 MUG-BLUE" in words_of(page.text)
    assert "$" not in sheet
    assert ada.get("/admin/orders/packing").status_code == 404


def listed_sheets(page: Any) -> list[str]:
    return [part.split("<")[0] for part in page.text.split(">Order ")[1:]]


def test_a_cancelled_order_says_on_its_sheet_that_it_is_not_sent(
    scene: Scene, ada: Browser
) -> None:
    order_id = place(scene, 1)
    ada.send(f"/admin/orders/{order_id}/status", seen="PLACED", status="CANCELLED")
    assert "do not send it" in ada.get(f"/admin/orders/packing?order={order_id}").text


# Payment


def test_the_checkout_says_that_payment_is_outside(scene: Scene) -> None:
    scene.fill("liz", 1)
    page = words_of(scene.browser("liz").get("/checkout").text)
    assert "No payment is taken here. After you order, we will arrange payment" in page
