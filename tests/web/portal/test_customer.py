"""A customer's own pages: theirs, and nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.model import put
from bigtime.systems.portal.campaigns import update_campaign
from bigtime.systems.portal.design import Campaign, Order, Product
from bigtime.systems.portal.orders import place_order
from bigtime.systems.portal.products import update_product
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import soft_delete_tenant, update_tenant
from tests.systems.portal.scenes import ADMIN, NO_ORDER, new_product
from tests.web.browsing import Browser, Web, make_web, words
from tests.web.portal.scene import customer, tenant

DETAILS = "/portal/details"


@pytest.fixture
def cara(web: Web) -> Browser:
    """A customer who is signed in."""
    return customer(web)[1]


def place_order_for(web: Web, product: Product, *, campaign: str | None = None) -> Order:
    made: Order = web.run(place_order(tenant(web).id, {product.id: 1}, campaign))
    return made


@pytest.mark.parametrize("page", ["/portal", "/portal/orders", f"/portal/orders/{NO_ORDER}"])
def test_who_is_nobody_shows_the_mailbox_first(visitor: Browser, page: str) -> None:
    asked = visitor.get(page)
    assert (asked.status_code, asked.headers["location"]) == (303, f"/portal/confirm?next={page}")


def test_only_who_is_not_signed_in_is_asked_to_sign_in(web: Web, visitor: Browser) -> None:
    told = "Already have an account?"
    assert told in words(visitor.get("/portal/confirm").text)
    assert told not in words(web.signed_in("sam").get("/portal/confirm").text)


def test_orders_come_newest_first_page_by_page(web: Web, cara: Browser, product: Product) -> None:
    made = [place_order_for(web, product).id for _ in range(28)]
    first = cara.get("/portal/orders").text
    (more,) = [link for link in cara.links("/portal/orders") if "after=" in link]
    second = cara.get(more).text
    assert sum(each in first for each in made) == 25
    assert sum(each in second for each in made) == 3
    assert all((each in first) != (each in second) for each in made)


def test_anothers_cursor_leads_nowhere(web: Web, cara: Browser, product: Product) -> None:
    for _ in range(26):
        place_order_for(web, product)
    (more,) = [link for link in cara.links("/portal/orders") if "after=" in link]
    _, other = customer(web, "other@example.com", "otto")
    assert other.get(more).status_code == 400
    assert other.get("/portal/orders?after=x").status_code == 400


def test_an_order_shows_what_it_was_whatever_became_of_it(
    web: Web, cara: Browser, campaign: Campaign, product: Product
) -> None:
    order = place_order_for(web, product, campaign="SUMMER2026")
    web.run(update_product(product.id, {"price": "1", "name": "Cheap"}, by=ADMIN))
    web.run(update_campaign("SUMMER2026", {"description": "Another"}, by=ADMIN))
    told = words(cara.get(f"/portal/orders/{order.id}").text)
    assert "WordPress Professional Plan R 239.99 1 R 239.99" in told
    assert "SUMMER2026, Summer 2026 special offer" in told
    assert "Cheap" not in told and "Another" not in told
    assert ADMIN not in told


def test_anothers_order_is_as_unknown_as_none(web: Web, cara: Browser, product: Product) -> None:
    order = place_order_for(web, product)
    _, other = customer(web, "other@example.com", "otto")
    answers = [other.get(f"/portal/orders/{each}") for each in (order.id, NO_ORDER, "x")]
    assert {answer.status_code for answer in answers} == {404}
    assert len({words(answer.text) for answer in answers}) == 1


def test_a_customer_tells_of_itself(web: Web, cara: Browser) -> None:
    done = cara.submit("/portal", DETAILS, organization_name="Corp", destination_email="F@x.org")
    assert (done.status_code, done.headers["location"]) == (303, "/portal?changed=yes")
    assert (tenant(web).organization_name, tenant(web).destination_email) == ("Corp", "f@x.org")
    cara.submit("/portal", DETAILS, organization_name="", destination_email="")
    assert (tenant(web).organization_name, tenant(web).destination_email) == (None, None)


@pytest.mark.parametrize(
    ("field", "value"), [("organization_name", "x" * 201), ("destination_email", "no address")]
)
def test_a_wrong_field_is_told_beside_it(web: Web, cara: Browser, field: str, value: str) -> None:
    refused = cara.submit("/portal", DETAILS, **{field: value})
    assert refused.status_code == 422
    assert f'id="{field}-fault"' in refused.text
    assert f'value="{value}"' in refused.text
    assert getattr(tenant(web), field) is None


def test_what_somebody_else_changed_meanwhile_is_not_written_over(web: Web, cara: Browser) -> None:
    form = cara.form("/portal", DETAILS)
    web.run(update_tenant(tenant(web).id, {"organization_name": "By the admin"}, by=ADMIN))
    moved = cara.post(DETAILS, data={**form.fields, "organization_name": "Mine"})
    assert moved.status_code == 409
    assert "Somebody else has changed this" in words(moved.text)
    assert tenant(web).organization_name == "By the admin"


def test_who_is_suspended_sees_orders_and_changes_nothing(
    web: Web, cara: Browser, product: Product
) -> None:
    order = place_order_for(web, product)
    form = cara.form("/portal", DETAILS)
    web.run(suspend_tenant(tenant(web).id, "unpaid", by=ADMIN))
    page = cara.get("/portal")
    assert "is suspended." in words(page.text)
    assert DETAILS not in page.text
    assert cara.get(f"/portal/orders/{order.id}").status_code == 200
    assert cara.post(DETAILS, data=form.fields).status_code == 403


def test_whose_tenant_is_archived_is_told_so(web: Web, cara: Browser) -> None:
    form = cara.form("/portal", DETAILS)
    web.run(soft_delete_tenant(tenant(web).id, by=ADMIN))
    assert "This account was closed." in words(cara.get("/portal").text)
    assert cara.post(DETAILS, data=form.fields).status_code == 409


def test_a_form_from_elsewhere_changes_nothing(web: Web, cara: Browser) -> None:
    form = cara.form("/portal", DETAILS)
    data = {**form.fields, "form_token": "x", "organization_name": "Evil"}
    assert cara.post(DETAILS, data=data).status_code == 400
    assert tenant(web).organization_name is None


def test_a_customer_sees_its_plans_and_what_they_cost_a_month(
    web: Web, cara: Browser, campaign: Campaign, product: Product
) -> None:
    assert "Your plans" not in cara.get("/portal").text
    yearly = new_product(web, name="Domain", price="120.00", billing_cycle="yearly")
    for chosen in (product, product, yearly):
        place_order_for(web, chosen)
    place_order_for(web, product, campaign="SUMMER2026")
    web.run(update_product(product.id, {"price": "1", "billing_cycle": "yearly"}, by=ADMIN))
    told = words(cara.get("/portal").text)
    assert "2 \N{MULTIPLICATION SIGN} WordPress Professional Plan R 299.99 a month each" in told
    assert "R 599.98 a month" in told
    assert "Domain R 120.00 a year, since" in told
    assert "R 10.00 a month" in told
    assert "WordPress Professional Plan R 239.99 a month, since" in told
    assert "In all R 849.97 a month" in told
    assert "R 120.00 a year" in words(cara.get("/portal/orders").text)


def test_an_order_that_does_not_say_how_it_is_billed_is_billed_as_its_product(
    web: Web, cara: Browser, product: Product
) -> None:
    order = place_order_for(web, product)
    items = [item.model_copy(update={"billing_cycle": None}) for item in order.items]
    web.run(put(order.model_copy(update={"items": items})))
    told = words(cara.get("/portal").text)
    assert "WordPress Professional Plan R 299.99 a month, since" in told
    assert "299.99 a month" not in words(cara.get("/portal/orders").text)


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("help@deals.example", "mailto:help@deals.example"),
        ("https://deals.example/help", "https://deals.example/help"),
    ],
)
def test_a_closed_account_says_whom_to_contact(
    engine: Engine, tmp_path: Path, contact: str, link: str
) -> None:
    front, store = make_web(engine, tmp_path, contact=contact)
    with TestClient(front, follow_redirects=False) as served:
        web = Web(front, served.app.application.state.context, store, served)  # type: ignore[attr-defined]
        own, browser = customer(web)
        web.run(soft_delete_tenant(own.id, by=ADMIN))
        shown = browser.get("/portal").text
        assert f'Please <a href="{link}">contact us</a>' in shown
        assert f'<a href="{link}">Contact</a>' in shown
        assert link in browser.get("/about").text
