"""Checkout, through its page."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest

from bigtime.systems.cart.line import put_in_cart
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.shop.customer import create_customer, save_address, view_customer
from bigtime.systems.shop.design import Address
from bigtime.systems.shop.order import view_order
from bigtime.web.app import LIMITS
from tests.web.cart.page_forms import form_of, words_of
from tests.web.cart.scene import PRICE, Browser, Scene, deal
from tests.web.checkout.ordering import HOME, TYPED, check_all_agrees, key, orders_of

WORK = HOME.model_copy(update={"street": "9 Mill Lane"})


@pytest.fixture
def liz(scene: Scene) -> Browser:
    browser = scene.browser("liz")
    scene.fill("liz", 2)
    return browser


def addresses(scene: Scene) -> dict[str, Address]:
    customer = scene.run(view_customer("liz")).customer
    return customer.addresses if customer else {}


def is_unchanged(scene: Scene, lines: int = 2) -> bool:
    return len(scene.lines("liz")) == lines and scene.run(orders_of("liz")) == []


def test_the_summary_shows_what_is_bought(liz: Browser) -> None:
    page = liz.get("/checkout").text
    assert page.partition("Shipping address")[0].count('<span class="picture') == 2


def test_a_cart_becomes_an_order(scene: Scene, liz: Browser) -> None:
    page = liz.get("/checkout")
    assert "Lamp 0" in page.text
    assert "Total $39.98" in words_of(page.text)
    done = liz.follow(liz.submit(page, "/checkout", **TYPED))
    assert "Thank you" in done.text
    (order,) = scene.run(orders_of("liz"))
    assert order.order_id in done.text
    assert order.ship_to == HOME
    assert "Your cart is empty" in liz.get("/cart").text
    check_all_agrees(scene.run)


@pytest.mark.parametrize("size", [2, 30])
def test_a_page_sent_again_shows_the_same_order(scene: Scene, size: int) -> None:
    liz = scene.browser("liz")
    scene.fill("liz", size)
    page = liz.get("/checkout")
    first = liz.submit(page, "/checkout", **TYPED)
    again = liz.submit(page, "/checkout", **TYPED)
    assert first.headers["location"] == again.headers["location"]
    assert len(scene.run(orders_of("liz"))) == 1
    check_all_agrees(scene.run)


def test_orders_of_an_account_are_limited(scene: Scene) -> None:
    liz, most = scene.browser("liz"), LIMITS["order"].tries
    for number in range(most + 1):
        scene.fill("liz", 1)
        page = liz.get("/checkout")
        sent = liz.submit(page, "/checkout", **TYPED)
        assert sent.status_code == (303 if number < most else 429)
    assert int(sent.headers["retry-after"]) > 0
    assert "Too many attempts" in sent.text
    assert f'value="{HOME.street}"' in sent.text
    assert len(scene.run(orders_of("liz"))) == most
    assert liz.submit(page, "/checkout", **TYPED).status_code == 429
    check_all_agrees(scene.run)


@pytest.mark.parametrize("size", [2, 30])
def test_a_button_pressed_many_times_orders_once(scene: Scene, size: int) -> None:
    liz = scene.browser("liz")
    scene.fill("liz", size)
    fields = {**form_of(liz.get("/checkout").text, "/checkout").fields, **TYPED}

    async def press() -> list[httpx.Response]:
        return await asyncio.gather(*(liz.sending("/checkout", **fields) for _ in range(4)))

    answers = scene.wait(press())
    assert [answer.status_code for answer in answers] == [303] * 4
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert len(scene.run(orders_of("liz"))) == 1
    check_all_agrees(scene.run)


def test_two_pages_of_one_cart_sent_at_once_order_once(scene: Scene, liz: Browser) -> None:
    forms = [form_of(liz.get("/checkout").text, "/checkout").fields for _ in range(2)]
    assert forms[0]["key"] != forms[1]["key"]

    async def press() -> list[httpx.Response]:
        runs = (liz.sending("/checkout", **{**form, **TYPED}) for form in forms)
        return await asyncio.gather(*runs)

    led = sorted(each.headers["location"] for each in scene.wait(press()))
    (order,) = scene.run(orders_of("liz"))
    assert led == ["/cart", f"/orders/{order.order_id}?placed=yes"]
    check_all_agrees(scene.run)


def test_a_kept_address_is_chosen(scene: Scene, liz: Browser) -> None:
    scene.run(create_customer("liz", "liz@example.com", "Liz"))
    scene.run(save_address("liz", "home", HOME))
    scene.run(save_address("liz", "work", WORK))
    page = liz.get("/checkout")
    assert form_of(page.text, "/checkout").fields["ship_to"] == "saved home"
    liz.follow(liz.submit(page, "/checkout", ship_to="saved work"))
    (order,) = scene.run(orders_of("liz"))
    assert order.ship_to == WORK


def test_an_address_that_is_gone_or_none_is_told_and_nothing_ordered(
    scene: Scene, liz: Browser
) -> None:
    scene.run(create_customer("liz", "liz@example.com", "Liz"))
    scene.run(save_address("liz", "home", HOME))
    page = liz.get("/checkout")
    for chosen in ("saved work", "", "elsewhere", "saved "):
        refused = liz.submit(page, "/checkout", ship_to=chosen)
        assert refused.status_code == 422
        assert 'id="ship_to-fault"' in refused.text
    assert is_unchanged(scene)


def test_a_typed_address_can_be_kept(scene: Scene, liz: Browser) -> None:
    page = liz.get("/checkout")
    for _ in range(2):
        liz.follow(liz.submit(page, "/checkout", **TYPED, save_as=" home "))
    assert addresses(scene) == {"home": HOME}
    assert len(scene.run(orders_of("liz"))) == 1


def test_an_address_is_not_kept_over_another(scene: Scene, liz: Browser) -> None:
    scene.run(create_customer("liz", "liz@example.com", "Liz"))
    scene.run(save_address("liz", "home", WORK))
    page = liz.get("/checkout")
    for name in ("home", "a#b", "x" * 41):
        refused = liz.submit(page, "/checkout", **TYPED, save_as=name)
        assert refused.status_code == 422
        assert 'id="save_as-fault"' in refused.text
        assert form_of(refused.text, "/checkout").fields["save_as"] == name
    assert addresses(scene) == {"home": WORK}
    assert is_unchanged(scene)


def test_a_refused_checkout_keeps_no_address(scene: Scene, liz: Browser) -> None:
    page = liz.get("/checkout")
    scene.run(put_in_cart("liz", deal(0).deal_id, PRICE))
    again = liz.submit(page, "/checkout", **TYPED, save_as="home")
    assert again.status_code == 422
    assert addresses(scene) == {}
    corrected = {**TYPED, "street": "9 Mill Lane"}
    liz.follow(liz.submit(again, "/checkout", **corrected, save_as="home"))
    assert addresses(scene) == {"home": WORK}


@pytest.mark.parametrize(
    "typed", [{"save_as": "home"}, {"save_as": "a#b"}, {"street": ""}, {"ship_to": "nowhere"}]
)
def test_a_page_that_has_ordered_shows_that_order_whatever_it_says_now(
    scene: Scene, liz: Browser, typed: dict[str, str]
) -> None:
    page = liz.get("/checkout")
    first = liz.submit(page, "/checkout", **TYPED)
    scene.run(save_address("liz", "home", WORK))
    again = liz.submit(page, "/checkout", **{**TYPED, **typed})
    assert again.headers["location"] == first.headers["location"]
    assert addresses(scene) == {"home": WORK}
    assert len(scene.run(orders_of("liz"))) == 1


def test_an_old_page_does_not_pass_off_a_new_cart_as_ordered(scene: Scene, liz: Browser) -> None:
    page = liz.get("/checkout")
    done = liz.follow(liz.submit(page, "/checkout", **TYPED))
    assert "Your cart has other items" not in done.text
    scene.run(put_in_cart("liz", deal(1).deal_id, PRICE))
    shown = liz.follow(liz.submit(page, "/checkout", **TYPED))
    assert "Your cart has other items that are not in this order" in shown.text
    assert '<a href="/checkout">check out</a>' in shown.text
    assert unchanged_but_for_one_order(scene)


def test_a_used_key_with_another_cart_says_that_it_was_sent_before(
    scene: Scene, liz: Browser
) -> None:
    used = form_of(liz.get("/checkout").text, "/checkout").fields["key"]
    liz.follow(liz.submit(liz.get("/checkout"), "/checkout", **TYPED, key=used))
    scene.run(put_in_cart("liz", deal(1).deal_id, PRICE))
    shown = liz.follow(liz.submit(liz.get("/checkout"), "/checkout", **TYPED, key=used))
    assert "was already placed; it was not placed again." in shown.text
    assert "Thank you" not in shown.text
    assert "Your cart has other items" in shown.text
    assert unchanged_but_for_one_order(scene)


def unchanged_but_for_one_order(scene: Scene) -> bool:
    return len(scene.lines("liz")) == 1 and len(scene.run(orders_of("liz"))) == 1


@pytest.mark.parametrize("name", ["recipient", "street", "city", "postal_code", "country"])
@pytest.mark.parametrize(
    "typed",
    ["", "   ", "x" * 101, "R\x00"],
    ids=["nothing", "space", "too much", "what nobody sees"],
)
def test_a_wrong_field_is_told_beside_it_and_the_rest_stays(
    scene: Scene, liz: Browser, name: str, typed: str
) -> None:
    page = liz.submit(liz.get("/checkout"), "/checkout", **{**TYPED, name: typed})
    assert page.status_code == 422
    assert f'id="{name}-fault"' in page.text
    kept = form_of(page.text, "/checkout").fields
    assert {**TYPED, name: typed}.items() <= kept.items()
    assert is_unchanged(scene)
    liz.follow(liz.submit(page, "/checkout", **TYPED))
    assert len(scene.run(orders_of("liz"))) == 1


def test_a_cart_that_changed_since_is_shown_again_and_not_ordered(
    scene: Scene, liz: Browser
) -> None:
    page = liz.get("/checkout")
    scene.run(put_in_cart("liz", deal(0).deal_id, PRICE))
    again = liz.submit(page, "/checkout", **TYPED)
    assert again.status_code == 422
    assert "changed since this page was shown" in again.text
    assert "Total $59.97" in words_of(again.text)
    assert scene.run(orders_of("liz")) == []
    liz.follow(liz.submit(again, "/checkout"))
    (order,) = scene.run(orders_of("liz"))
    assert order.total == Decimal("59.97")


@pytest.mark.parametrize("given", ["", "x", "0" * 27], ids=["none", "no key", "an old one"])
def test_a_key_that_is_not_ours_orders_nothing(scene: Scene, liz: Browser, given: str) -> None:
    page = liz.submit(liz.get("/checkout"), "/checkout", **TYPED, key=given)
    assert page.status_code == 422
    assert "has expired" in page.text
    assert form_of(page.text, "/checkout").fields["key"] != given
    assert is_unchanged(scene)


def test_a_page_of_yesterday_has_to_be_sent_again(scene: Scene, liz: Browser) -> None:
    page = liz.get("/checkout")
    scene.time.now += timedelta(days=1)
    old = liz.submit(page, "/checkout", **TYPED)
    assert old.status_code == 422
    assert "has expired" in old.text
    liz.follow(liz.submit(old, "/checkout"))
    assert len(scene.run(orders_of("liz"))) == 1


def test_a_new_price_is_shown_and_ordered(scene: Scene, liz: Browser) -> None:
    scene.run(update_deal(deal(0).deal_id, price=Decimal("24.99")))
    page = liz.get("/checkout")
    assert "$24.99. It was $19.99 when you added it" in words_of(page.text)
    liz.follow(liz.submit(page, "/checkout", **TYPED))
    (order,) = scene.run(orders_of("liz"))
    assert order.total == Decimal("44.98")
    check_all_agrees(scene.run)


def test_a_price_that_changes_after_the_page_is_asked_about(scene: Scene, liz: Browser) -> None:
    """Also where the site has not heard yet of the change."""
    page = liz.get("/checkout")
    scene.run(update_deal(deal(0).deal_id, price=Decimal("24.99")))
    again = liz.submit(page, "/checkout", **TYPED)
    assert again.status_code == 422
    assert "or its prices have changed since this page was shown" in again.text
    assert "Place order for $44.98" in again.text
    assert is_unchanged(scene)
    liz.follow(liz.submit(again, "/checkout"))
    (order,) = scene.run(orders_of("liz"))
    assert order.total == Decimal("44.98")
    check_all_agrees(scene.run)


def test_an_order_has_the_title_of_its_time_and_not_that_of_the_page(
    scene: Scene, liz: Browser
) -> None:
    """The site has the deal in memory, and has not heard yet that it changed."""
    page = liz.get("/checkout")
    scene.run(update_deal(deal(0).deal_id, title="A brass lamp"))
    liz.follow(liz.submit(page, "/checkout", **TYPED))
    (order,) = scene.run(orders_of("liz"))
    items = scene.run(view_order(order.order_id)).items
    assert "A brass lamp" in [item.title for item in items]


def test_the_page_does_not_ask_for_what_is_saved_for_later(scene: Scene, liz: Browser) -> None:
    liz.get("/checkout")
    scene.take_operations()
    assert liz.get("/checkout").status_code == 200
    assert scene.take_operations() == ["GetItem", "GetItem", "Query"]


def test_more_than_an_order_takes_is_said_before_and_after(scene: Scene) -> None:
    liz = scene.browser("liz")
    scene.fill("liz", 97)
    assert "Check out" not in liz.get("/cart").text
    page = liz.get("/checkout")
    assert "at most 96 products" in page.text
    assert liz.submit(page, "/checkout", **TYPED).status_code == 422
    assert is_unchanged(scene, 97)


def test_an_empty_cart_leads_back_to_the_cart(scene: Scene) -> None:
    chad = scene.browser("chad")
    assert chad.get("/checkout").headers["location"] == "/cart"
    sent = chad.send("/checkout", **TYPED, key=key(), reviewed="x")
    assert sent.headers["location"] == "/cart"
    assert scene.run(orders_of("chad")) == []


def test_an_e_mail_of_another_customer_is_told(scene: Scene, liz: Browser) -> None:
    page = liz.get("/checkout")
    chad = scene.browser("chad")
    scene.fill("chad", 1)
    scene.run(create_customer("charles", "chad@example.com", "Charles"))
    answer = chad.get("/checkout")
    assert answer.status_code == 409
    assert "e-mail" in answer.text
    assert page.status_code == 200


def test_nobody_and_forms_from_elsewhere_order_nothing(scene: Scene, liz: Browser) -> None:
    fields = {**form_of(liz.get("/checkout").text, "/checkout").fields, **TYPED}
    nobody = scene.browser()
    assert nobody.get("/checkout").headers["location"] == "/log-in?next=/checkout"
    assert nobody.send("/checkout", **fields).headers["location"] == "/log-in"
    for token in ("", "made-up", scene.site.form_tokens.token("another cookie")):
        assert liz.send("/checkout", **{**fields, "form_token": token}).status_code == 400
    assert is_unchanged(scene)


def test_another_s_page_orders_one_s_own_cart_or_nothing(scene: Scene, liz: Browser) -> None:
    """A key and a mark are nobody's: they name an order of whoever sends them."""
    fields = {**form_of(liz.get("/checkout").text, "/checkout").fields, **TYPED}
    chad = scene.browser("chad")
    fields["form_token"] = scene.site.form_tokens.token(chad.cookie or "")
    assert chad.send("/checkout", **fields).headers["location"] == "/cart"
    assert is_unchanged(scene)
