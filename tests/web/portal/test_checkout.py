"""Ordering a plan: what is shown is what is ordered, once, with a letter."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from bigtime.model import verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.campaigns import soft_delete_campaign, update_campaign
from bigtime.systems.portal.design import Campaign, Product
from bigtime.systems.portal.products import soft_delete_product, update_product
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import list_tenants, soft_delete_tenant
from bigtime.systems.portal.verification import verify_audit
from tests.systems.portal.scenes import ADMIN, new_product
from tests.web.browsing import Browser, Form, Reader, Web, words
from tests.web.portal.scene import (
    EMAIL,
    ORDER,
    checkout_page,
    code_for,
    customer,
    give_address,
    later,
    letters,
    orders_of,
    prove,
    running_campaign,
    tenant,
)


@pytest.fixture
def buyer(web: Web, visitor: Browser, product: Product) -> Browser:
    """Somebody who has shown whose mailbox it is."""
    prove(web, visitor, checkout_page(product.id))
    return visitor


def order(browser: Browser, page: str, **but: str) -> Any:
    return browser.submit(page, ORDER, **but)


def test_without_a_choice_there_are_plans_to_choose_from(
    visitor: Browser, product: Product
) -> None:
    page = visitor.get("/portal/checkout")
    assert page.status_code == 200
    assert f"{product.name}, R 299.99 a month" in words(page.text)
    assert "Price" not in page.text


def test_a_choice_shows_its_price_and_asks_who_orders(visitor: Browser, campaign: Campaign) -> None:
    page = visitor.get(checkout_page(campaign.product_id, quantity="2", campaign="summer2026"))
    told = words(page.text)
    assert "R 239.99, a month; with SUMMER2026 instead of R 299.99" in told
    assert "Total R 479.98" in told
    assert "/portal/checkout/email" in page.text
    assert f'action="{ORDER}"' not in page.text


def test_an_order_holds_the_campaign_and_is_confirmed_by_one_letter(
    web: Web, visitor: Browser, campaign: Campaign
) -> None:
    page = checkout_page(campaign.product_id, quantity="2", campaign="summer2026")
    then = prove(web, visitor, page)
    placed = order(visitor, then)
    (made,) = orders_of(web)
    assert (placed.status_code, placed.headers["location"]) == (
        303,
        f"/portal/orders/{made.id}?placed=yes",
    )
    assert (made.total, made.items[0].quantity) == (Decimal("479.98"), 2)
    assert made.campaign is not None and made.campaign.code == "SUMMER2026"
    letter = letters(web)[0]
    assert "R 479.98" in letter.text and "With SUMMER2026: 20 percent off." in letter.text
    assert f"/portal/orders/{made.id}" in letter.text
    shown = words(visitor.get(placed.headers["location"]).text)
    assert "Thank you for your order" in shown
    assert "Campaign at the time of the order" in shown
    assert web.run(verify(SYSTEM)) == []
    assert web.run(verify_audit()) == []


def test_the_same_form_twice_is_one_order_and_one_letter(
    web: Web, buyer: Browser, product: Product
) -> None:
    form = buyer.form(checkout_page(product.id), ORDER)
    first, second = (buyer.post(ORDER, data=form.fields) for _ in range(2))
    assert first.headers["location"] == second.headers["location"]
    assert len(orders_of(web)) == 1
    assert sum("order" in letter.subject for letter in letters(web)) == 1


def test_of_two_checkouts_at_once_with_one_form_there_is_one_order(
    web: Web, buyer: Browser, product: Product
) -> None:
    form = buyer.form(checkout_page(product.id), ORDER)
    answers = at_once(5, lambda _: buyer.post(ORDER, data=form.fields))
    assert {answer.headers["location"] for answer in answers} == {
        f"/portal/orders/{orders_of(web)[0].id}?placed=yes"
    }
    assert len(orders_of(web)) == 1


def test_of_checkouts_at_once_with_one_address_there_is_one_tenant(
    web: Web, product: Product
) -> None:
    page = checkout_page(product.id)
    forms: list[tuple[Browser, Form]] = []
    for _ in range(5):
        browser = web.browser()
        forms.append((browser, browser.form(page, "/portal/checkout/email")))

    def send(number: int) -> Any:
        browser, form = forms[number]
        return browser.post(form.action, data={**form.fields, "email": EMAIL})

    answers = at_once(5, send)
    assert {answer.status_code for answer in answers} == {303}
    assert [each.email for each in web.run(list_tenants())] == [EMAIL]


def at_once(count: int, do: Any) -> list[Any]:
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(do, range(count)))


def test_a_customer_with_an_account_orders_without_a_code(web: Web, product: Product) -> None:
    _, browser = customer(web)
    assert order(browser, checkout_page(product.id)).status_code == 303
    assert len(orders_of(web)) == 1


def test_who_is_signed_in_without_being_a_customer_shows_the_mailbox_too(
    web: Web, alex: Browser, product: Product
) -> None:
    page = checkout_page(product.id)
    assert 'value="alex@example.com"' in alex.get(page).text
    then = prove(web, alex, page, "alex@example.com")
    assert "session" in alex.cookies
    assert order(alex, then).status_code == 303
    assert len(orders_of(web, "alex@example.com")) == 1


# What has changed since it was shown


def test_a_price_that_has_changed_is_shown_again_before_anything_is_ordered(
    web: Web, buyer: Browser, product: Product
) -> None:
    form = buyer.form(checkout_page(product.id), ORDER)
    web.run(update_product(product.id, {"price": "400"}, by=ADMIN))
    moved = buyer.post(ORDER, data=form.fields)
    assert moved.status_code == 409
    assert "The price has changed" in words(moved.text)
    assert "Order for R 400.00" in words(moved.text)
    assert orders_of(web) == []
    assert order(buyer, checkout_page(product.id)).status_code == 303
    assert orders_of(web)[0].total == 400


def test_a_campaign_that_changes_meanwhile_changes_no_order_unseen(
    web: Web, buyer: Browser, product: Product
) -> None:
    running_campaign(web, product.id)
    form = buyer.form(checkout_page(product.id, campaign="SUMMER2026"), ORDER)
    web.run(update_campaign("SUMMER2026", {"discount_percentage": "1"}, by=ADMIN))
    assert buyer.post(ORDER, data=form.fields).status_code == 409
    web.run(soft_delete_campaign("SUMMER2026", by=ADMIN))
    over = buyer.post(ORDER, data=form.fields)
    assert over.status_code == 422
    assert 'id="campaign-fault"' in over.text
    assert orders_of(web) == []


def test_a_product_that_is_gone_meanwhile_is_told_beside_it(
    web: Web, buyer: Browser, product: Product
) -> None:
    new_product(web, name="Another")
    form = buyer.form(checkout_page(product.id), ORDER)
    web.run(soft_delete_product(product.id, by=ADMIN))
    gone = buyer.post(ORDER, data=form.fields)
    assert gone.status_code == 422
    assert 'id="product-fault"' in gone.text
    assert orders_of(web) == []


@pytest.mark.parametrize(("close", "status"), [("suspended", 403), ("archived", 409)])
def test_who_may_not_order_any_more_is_told_so(
    web: Web, buyer: Browser, product: Product, close: str, status: int
) -> None:
    form = buyer.form(checkout_page(product.id), ORDER)
    if close == "suspended":
        web.run(suspend_tenant(tenant(web).id, "unpaid", by=ADMIN))
    else:
        web.run(soft_delete_tenant(tenant(web).id, by=ADMIN))
    refused = buyer.post(ORDER, data=form.fields)
    assert refused.status_code == status
    assert 'role="alert"' in refused.text
    assert orders_of(web) == []
    page = buyer.get(checkout_page(product.id)).text
    assert f'action="{ORDER}"' not in page and "Ordering as" not in page
    assert f"is {'closed' if close == 'archived' else close}" in words(page)


# Bad input


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        ({"quantity": "0"}, "quantity"),
        ({"quantity": "-1"}, "quantity"),
        ({"quantity": "1001"}, "quantity"),
        ({"quantity": "1.5"}, "quantity"),
        ({"quantity": "many"}, "quantity"),
        ({"quantity": "9" * 5000}, "quantity"),
        ({"campaign": "NOSUCH"}, "campaign"),
        ({"campaign": "a b"}, "campaign"),
        ({"campaign": "X" * 51}, "campaign"),
    ],
)
def test_a_wrong_choice_is_told_beside_it_and_kept(
    web: Web, visitor: Browser, product: Product, choice: dict[str, str], field: str
) -> None:
    page = visitor.get(checkout_page(product.id, **choice))
    assert page.status_code == 422
    assert f'id="{field}-fault"' in page.text
    assert f'value="{choice[field]}"' in page.text
    assert "Your details" not in page.text


@pytest.mark.parametrize("product_id", ["x", "prod_00000000-0000-4000-8000-000000000000", "%00"])
def test_a_product_that_is_none_is_told_beside_it(
    visitor: Browser, product: Product, product_id: str
) -> None:
    page = visitor.get(checkout_page(product_id))
    assert page.status_code == 422
    assert 'id="product-fault"' in page.text


def test_a_campaign_for_another_product_is_told_beside_it(
    web: Web, visitor: Browser, campaign: Campaign
) -> None:
    other = new_product(web, name="Another")
    page = visitor.get(checkout_page(other.id, campaign="SUMMER2026"))
    assert page.status_code == 422
    assert "This campaign is for a different product" in page.text


@pytest.mark.parametrize(
    "but",
    [
        {"order_id": "x"},
        {"order_id": ""},
        {"total": "x"},
        {"total": "0"},
        {"quantity": "0"},
        {"product": ""},
    ],
)
def test_a_form_that_was_tampered_with_orders_nothing(
    web: Web, buyer: Browser, product: Product, but: dict[str, str]
) -> None:
    assert order(buyer, checkout_page(product.id), **but).status_code == 422
    assert orders_of(web) == []


def test_a_form_cannot_say_what_it_costs(web: Web, buyer: Browser, product: Product) -> None:
    assert order(buyer, checkout_page(product.id), total="0.01").status_code == 409
    assert orders_of(web) == []


def test_the_id_of_anothers_order_gets_neither_it_nor_a_second(
    web: Web, buyer: Browser, product: Product
) -> None:
    _, other = customer(web, "other@example.com", "otto")
    order(other, checkout_page(product.id))
    (theirs,) = orders_of(web, "other@example.com")
    taken = order(buyer, checkout_page(product.id), order_id=theirs.id)
    assert taken.status_code == 409
    assert orders_of(web) == []
    assert orders_of(web, "other@example.com") == [theirs]


def test_who_has_shown_nothing_orders_nothing(web: Web, buyer: Browser, product: Product) -> None:
    form = buyer.form(checkout_page(product.id), ORDER)
    stranger = web.browser()
    stranger.get("/portal/confirm")
    asked = stranger.post(ORDER, data={**form.fields, "form_token": stranger.token()})
    assert asked.status_code == 422
    assert "/portal/checkout/email" in asked.text
    assert orders_of(web) == []


def test_a_form_from_elsewhere_orders_nothing(web: Web, buyer: Browser, product: Product) -> None:
    form = buyer.form(checkout_page(product.id), ORDER)
    assert buyer.post(ORDER, data={**form.fields, "form_token": "x"}).status_code == 400
    assert orders_of(web) == []


def test_what_somebody_writes_stays_text(web: Web, visitor: Browser) -> None:
    evil = '<script>alert("x")</script>'
    product = new_product(web, name=evil, description=evil, features=[evil])
    running_campaign(web, product.id, description=evil)
    for page in (
        "/pricing",
        "/campaigns/SUMMER2026",
        checkout_page(product.id),
        "/portal/checkout?product=x&campaign=%3Cscript%3Ealert",
        "/portal/confirm?next=/%22%3E%3Cscript%3E",
    ):
        assert "<script>alert" not in visitor.get(page).text
    assert evil not in visitor.get("/outbox").text


def test_checkouts_are_limited(limited_web: Web) -> None:
    product = new_product(limited_web)
    browser = limited_web.browser()
    page = checkout_page(product.id)
    asked = give_address(browser, page)
    browser.submit(asked, asked, code=code_for(limited_web))
    statuses = [order(browser, page).status_code for _ in range(11)]
    assert statuses == [303] * 10 + [429]


def test_the_quantity_that_was_typed_is_ordered(web: Web, product: Product) -> None:
    """S2.2: 5 was typed, "Send me a code" pressed, and the page after it said 2."""
    browser = web.browser()
    page = checkout_page(product.id, quantity="2")
    assert browser.form(page, "/portal/checkout/email").fields["quantity"] == "2"
    sent = browser.submit(page, "/portal/checkout/email", email=EMAIL, quantity="5")
    asked = sent.headers["location"]
    then = browser.submit(asked, asked, code=code_for(web)).headers["location"]
    assert then == checkout_page(product.id, quantity="5")


def test_a_quantity_typed_after_the_price_was_shown_is_asked_about(
    web: Web, product: Product
) -> None:
    _, browser = customer(web)
    page = checkout_page(product.id, quantity="2")
    asked = browser.submit(page, ORDER, quantity="5")
    assert asked.status_code == 409
    (form,) = [form for form in Reader(asked.text).forms if form.action == ORDER]
    assert form.fields["quantity"] == "5"
    assert Decimal(form.fields["total"]) == 5 * product.price
    assert orders_of(web) == []
    assert browser.post(ORDER, data=form.fields).status_code == 303
    assert [item.quantity for order in orders_of(web) for item in order.items] == [5]


def test_the_price_of_another_choice_is_shown(web: Web, product: Product) -> None:
    browser = web.browser()
    price = "/portal/checkout/price"
    shown = browser.submit(checkout_page(product.id), price, quantity="4")
    assert shown.headers["location"] == checkout_page(product.id, quantity="4")
    wrong = browser.submit(checkout_page(product.id), price, quantity="x")
    assert wrong.status_code == 422


def test_a_second_order_of_the_same_is_asked_about(web: Web, product: Product) -> None:
    _, cara = customer(web)
    page = checkout_page(product.id)
    old = cara.form(page, ORDER)
    assert cara.submit(page, ORDER).status_code == 303
    later(web, minutes=3)
    asked = cara.post(ORDER, data=old.fields)
    assert asked.status_code == 409, "a page that was fetched before the first order"
    assert "You ordered this 3 minutes ago. Order again?" in words(asked.text)
    assert len(orders_of(web)) == 1
    shown = cara.get(page)
    assert "You ordered this 3 minutes ago." in words(shown.text)
    assert "Order again for R 299.99 a month" in words(shown.text)
    assert cara.submit(page, ORDER).status_code == 303
    assert len(orders_of(web)) == 2


def test_the_form_of_an_order_that_is_placed_shows_it_again(web: Web, product: Product) -> None:
    _, cara = customer(web)
    form = cara.form(checkout_page(product.id), ORDER)
    first, second = (cara.post(ORDER, data=form.fields) for _ in range(2))
    assert first.status_code == second.status_code == 303
    assert first.headers["location"] == second.headers["location"]


@pytest.mark.parametrize("choice", [{"quantity": "2"}, {"campaign": "SUMMER2026"}])
def test_another_choice_or_an_old_one_is_not_asked_about(
    web: Web, product: Product, campaign: Campaign, choice: dict[str, str]
) -> None:
    _, cara = customer(web)
    assert cara.submit(checkout_page(product.id), ORDER).status_code == 303
    assert "You ordered this" not in cara.get(checkout_page(product.id, **choice)).text
    later(web, minutes=61)
    assert "You ordered this" not in cara.get(checkout_page(product.id)).text
