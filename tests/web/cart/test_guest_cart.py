"""The cart of who is not signed in: kept by the browser, and merged at sign-in."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bigtime.model import Position, delete, get_many
from bigtime.site.guest_cart import MOST_GUEST_LINES, GuestCart, MergedLine, merge_guest_cart
from bigtime.systems.accounts.account import sign_up
from bigtime.systems.accounts.design import Role
from bigtime.systems.cart.design import MOST_COUNT
from bigtime.systems.cart.line import put_in_cart
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import Deal, DealStatus
from bigtime.systems.deals.users import create_user
from tests.site.test_checkout import Crashed, until
from tests.store.places import START
from tests.web.cart.page_forms import form_of, words_of
from tests.web.cart.scene import PRICE, Browser, Scene, deal

LAMP, DESK = deal(1), deal(2, title="A <b>desk</b>", price=Decimal("250.00"))
SOFA = deal(3, title="Sofa")
PASSWORD = "correct horse"


@pytest.fixture
def guest(scene: Scene) -> Browser:
    scene.post(LAMP, DESK, SOFA)
    browser = scene.browser()
    browser.client.headers["sec-fetch-site"] = "same-origin"
    return browser


def cookie_of(browser: Browser) -> str | None:
    return browser.client.cookies.get("cart")


def add(guest: Browser, added: Deal, **fields: str) -> Any:
    return guest.submit(guest.get(f"/deals/{added.deal_id}"), "/cart/add", **fields)


def badge(browser: Browser, path: str = "/brands") -> str:
    shown = words_of(browser.get(path).text).partition(" Cart ")[2]
    return shown.partition("Sign in")[0].strip()


# The page


def test_a_guest_adds_changes_removes_and_puts_back(guest: Browser) -> None:
    page = guest.follow(add(guest, LAMP, count="2"))
    page = guest.follow(add(guest, DESK))
    assert "A &lt;b&gt;desk&lt;/b&gt;" in page.text
    assert "Total $289.98" in words_of(page.text)
    assert "Save for later" not in page.text
    typed = {f"count 2 {LAMP.deal_id}": "3"}
    page = guest.follow(guest.submit(page, "/cart/count", **typed))
    assert "Total $309.97" in words_of(page.text)
    page = guest.follow(guest.submit(page, "/cart/remove"))
    assert "A <b>desk</b> was removed." in words_of(page.text)
    assert "Total $59.97" in words_of(page.text)
    page = guest.follow(guest.submit(page, "/cart/undo"))
    assert "Total $309.97" in words_of(page.text)


def test_the_badge_is_right_on_cached_pages_and_these_stay_the_same_for_others(
    scene: Scene, guest: Browser
) -> None:
    other = scene.browser()
    assert [badge(guest), badge(guest)] == ["", ""]
    add(guest, LAMP, count="3")
    assert [badge(guest), badge(guest), badge(guest, "/cart")] == ["1 product"] * 3
    add(guest, DESK)
    scene.take_operations()
    assert badge(guest) == "2 products"
    assert badge(other) == ""
    shown = guest.get("/brands")
    assert scene.take_operations() == []
    assert "set-cookie" not in shown.headers
    assert shown.headers["cache-control"] == "no-cache, private"


def test_a_line_says_what_it_cost_when_it_was_added(scene: Scene, guest: Browser) -> None:
    add(guest, LAMP)
    scene.run(update_deal(LAMP.deal_id, price=Decimal("15.00")))
    scene.catch_up()
    shown = words_of(guest.get("/cart").text)
    assert "$15.00 each. It was $19.99 when you added it" in shown


def test_a_bad_count_is_told_beside_its_field(guest: Browser) -> None:
    page = guest.follow(add(guest, LAMP))
    for typed in ("0", "10000", "two"):
        wrong = guest.submit(page, "/cart/count", **{f"count 1 {LAMP.deal_id}": typed})
        assert wrong.status_code == 422
        assert form_of(wrong.text, "/cart/count").fields[f"count 1 {LAMP.deal_id}"] == typed
    assert "Total $19.99" in words_of(guest.get("/cart").text)


def test_twenty_products_fit_into_the_cookie_and_no_more(scene: Scene, guest: Browser) -> None:
    goods = [deal(number, price=Decimal("999999.99")) for number in range(MOST_GUEST_LINES + 1)]
    scene.post(*goods)
    for each in goods[:-1]:
        assert add(guest, each, count="9999").status_code == 303
    assert len(cookie_of(guest) or "") < 3_000
    full = add(guest, goods[-1])
    assert full.status_code == 422
    assert "sign in to add more" in full.text
    assert badge(guest) == "20 products"


def test_a_form_from_elsewhere_adds_nothing(scene: Scene, guest: Browser) -> None:
    form = form_of(guest.get(f"/deals/{LAMP.deal_id}").text, "/cart/add")
    for headers in (
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": ""},
    ):
        guest.client.headers.update(headers)
        assert guest.submit_form(form).status_code == 400
    del guest.client.headers["sec-fetch-site"]
    for origin in ("https://evil.example", "null", ""):
        guest.client.headers["origin"] = origin
        assert guest.submit_form(form).status_code == 400
    assert cookie_of(guest) is None
    guest.client.headers["origin"] = "http://testserver"
    assert guest.submit_form(form).status_code == 303


def test_a_deal_that_has_expired_is_not_added_and_cannot_be_ordered(
    scene: Scene, guest: Browser
) -> None:
    form = form_of(guest.get(f"/deals/{LAMP.deal_id}").text, "/cart/add")
    guest.submit_form(form)
    scene.post(LAMP.model_copy(update={"status": DealStatus.EXPIRED}))
    scene.catch_up()
    late = guest.submit_form(form)
    assert late.status_code == 422
    assert "This deal has expired" in late.text
    assert "No longer available. Remove it." in words_of(late.text)
    assert "Check out</button>" not in late.text


# Cookies that are no cart


def test_a_tampered_a_long_and_a_foreign_cookie_are_ignored_and_cleared(
    scene: Scene, guest: Browser
) -> None:
    add(guest, LAMP)
    good = cookie_of(guest) or ""
    foreign = scene.site.cursors.write(Position("removed by guest", {"lines": []}))
    for bad in (good[:-4] + "AAAA", good + "A" * 4_000, foreign, "x", "a.b.c"):
        guest.client.cookies.set("cart", bad, domain="testserver.local")
        assert badge(guest) == ""
        page = guest.get("/cart")
        assert "Your cart is empty" in page.text
        assert page.headers.get_list("set-cookie")[-1].startswith("cart=; Max-Age=0")
        guest.client.cookies.clear()


def test_an_old_cart_is_none(scene: Scene, guest: Browser) -> None:
    add(guest, LAMP)
    cookie = cookie_of(guest) or ""
    scene.time.now += timedelta(days=31)
    guest.client.cookies.set("cart", cookie, domain="testserver.local")
    assert badge(guest) == ""
    assert "Your cart is empty" in guest.get("/cart").text


def test_an_emptied_cart_leaves_no_cookie(guest: Browser) -> None:
    page = guest.follow(add(guest, LAMP))
    assert cookie_of(guest)
    guest.submit(page, "/cart/remove")
    assert cookie_of(guest) is None


# At sign-in


@pytest.fixture
def liz(scene: Scene) -> str:
    scene.run(sign_up("liz@example.com", PASSWORD, "liz", roles={Role.SHOPPER}))
    scene.run(create_user("liz", name="Liz", email="liz@example.com"))
    return "liz"


def sign_in(browser: Browser, next_page: str = "/") -> Any:
    page = browser.get(f"/log-in?next={next_page}")
    return browser.submit(page, "/log-in", email="liz@example.com", password=PASSWORD)


def test_check_out_leads_over_sign_in_to_the_checkout_with_the_cart(
    scene: Scene, guest: Browser, liz: str
) -> None:
    page = guest.follow(add(guest, LAMP, count="2"))
    scene.run(put_in_cart(liz, LAMP.deal_id, PRICE, 3))
    review = guest.submit(page, "/cart/count", then="checkout")
    asked = guest.get(review.headers["location"])
    assert asked.headers["location"] == "/log-in?next=/checkout"
    signed_in = sign_in(guest, "/checkout")
    assert signed_in.headers["location"] == "/checkout"
    assert cookie_of(guest) is None
    assert [(line.item_sku, line.count) for line in scene.lines(liz)] == [(LAMP.deal_id, 5)]
    assert "Total $99.95" in words_of(guest.get("/checkout").text)


def test_a_sign_in_that_is_sent_again_adds_nothing(scene: Scene, guest: Browser, liz: str) -> None:
    add(guest, LAMP, count="2")
    page, kept = guest.get("/log-in"), dict(guest.client.cookies)
    for _ in range(3):
        guest.client.cookies.clear()
        for name, value in kept.items():
            guest.client.cookies.set(name, value, domain="testserver.local")
        fields = {"email": "liz@example.com", "password": PASSWORD}
        assert guest.submit(page, "/log-in", **fields).status_code == 303
    assert [line.count for line in scene.lines(liz)] == [2]


def test_a_wrong_password_leaves_the_cart_with_the_browser(
    scene: Scene, guest: Browser, liz: str
) -> None:
    add(guest, LAMP)
    page = guest.get("/log-in")
    guest.submit(page, "/log-in", email="liz@example.com", password="wrong horse")
    assert cookie_of(guest)
    assert scene.lines(liz) == []


def test_what_is_no_longer_sold_or_does_not_fit_is_told(
    scene: Scene, guest: Browser, liz: str
) -> None:
    add(guest, LAMP, count="9")
    add(guest, DESK)
    add(guest, SOFA)
    scene.run(put_in_cart(liz, LAMP.deal_id, PRICE, MOST_COUNT - 4))
    scene.run(delete(Deal.key(DESK.deal_id)))
    scene.post(SOFA.model_copy(update={"status": DealStatus.UNPUBLISHED}))
    signed_in = sign_in(guest, "/checkout")
    assert signed_in.headers["location"].startswith("/cart?merged=")
    told = words_of(guest.follow(signed_in).text)
    assert "2 products in your cart are no longer sold and were left out." in told
    assert "A cart holds at most 9,999 of a product, so not all of Lamp 1 was added." in told
    assert 'href="/checkout">Continue' in guest.follow(signed_in).text
    assert [line.count for line in scene.lines(liz)] == [MOST_COUNT]
    assert "merged" not in guest.get("/cart?merged=forged").text


# The steps


def cart_of(*goods: Deal) -> GuestCart:
    guest = GuestCart("c" * 32, START)
    for each in goods:
        guest = guest.add_deal(each, 2)
    return guest


def test_a_merge_that_crashes_at_any_request_goes_on_and_adds_each_line_once(
    scene: Scene,
) -> None:
    goods = [deal(number) for number in range(3)]
    scene.post(*goods)
    for requests in range(40):
        guest = GuestCart(f"{requests:032}", START, cart_of(*goods).lines)
        username = f"user{requests}"
        try:
            scene.run(until(merge_guest_cart(username, guest), requests))
        except Crashed:
            assert scene.run(merge_guest_cart(username, guest)).is_whole
        else:
            break
        assert [line.count for line in scene.lines(username)] == [2, 2, 2]
        assert {line.item_sku for line in scene.lines(username)} == {
            line.item_sku for line in guest.lines
        }
    assert requests >= 6


def test_merges_at_once_add_each_line_once(scene: Scene) -> None:
    scene.post(LAMP, DESK)
    guest = cart_of(LAMP, DESK)

    async def all_at_once() -> None:
        await asyncio.gather(*(scene.store.run(merge_guest_cart("liz", guest)) for _ in range(5)))

    scene.wait(all_at_once())
    assert [line.count for line in scene.lines("liz")] == [2, 2]
    keys = [MergedLine.key(guest.cart_id, line.item_sku) for line in guest.lines]
    assert all(scene.run(get_many(keys)))
