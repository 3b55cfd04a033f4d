"""What an admin begins with, the history of records, and reminders."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from bigtime.systems.portal.design import Product, Purpose, Tenant
from bigtime.systems.portal.orders import place_order
from bigtime.systems.portal.products import (
    get_product,
    log_price,
    soft_delete_product,
    update_product,
)
from bigtime.systems.portal.registration import issue_code, validate_tenant
from bigtime.systems.portal.tenants import soft_delete_tenant, update_tenant
from tests.systems.portal.scenes import (
    ADMIN,
    NOBODY,
    new_campaign,
    new_product,
    new_tenant,
    registered_tenant,
    validated_tenant,
)
from tests.web.browsing import Browser, Web, words
from tests.web.portal.scene import later, letters, running_campaign

REMINDERS = "/admin/reminders"


def test_the_overview_counts_and_lists(web: Web, ada: Browser, product: Product) -> None:
    new_tenant(web, "a@example.com")
    validated_tenant(web, "b@example.com")
    registered_tenant(web, "c@example.com")
    web.run(soft_delete_tenant(new_tenant(web, "d@example.com").id, by=ADMIN))
    web.run(soft_delete_product(new_product(web, name="Gone").id, by=ADMIN))
    new_campaign(
        web, product.id, code="COMING1", from_date=date(2990, 1, 1), to_date=date(2990, 2, 1)
    )
    new_campaign(
        web, product.id, code="OVER_1", from_date=date(2020, 1, 1), to_date=date(2020, 2, 1)
    )
    running_campaign(web, product.id, code="NOW_1")
    told = words(ada.get("/admin").text)
    running = told.index("Running campaigns")
    assert running < told.index("NOW_1") < told.index("Upcoming campaigns")
    assert "Unvalidated 1 Validated 1 Registered 1 Suspended 0 Active 3 Archived 1" in told
    assert "Products Active 1 Archived 1" in told
    upcoming, expired = told.index("Upcoming campaigns"), told.index("Expired campaigns")
    assert upcoming < told.index("COMING1") < expired < told.index("OVER_1")
    assert "1 pending in the last 24 hours" in told


def test_an_empty_portal_has_an_overview_too(ada: Browser) -> None:
    assert "No pending confirmations in the last 24 hours" in words(ada.get("/admin").text)


# History


def test_history_tells_who_changed_what_from_and_to(
    web: Web, ada: Browser, product: Product
) -> None:
    web.run(update_product(product.id, {"price": "5", "features": ["A", "B"]}, by=ADMIN))
    told = words(ada.get(f"/admin/history/products/{product.id}").text)
    assert f"{ADMIN} changed it" in told
    assert "Price: was R 299.99 is R 5.00" in told
    assert "Features: was Up to 10 WordPress sites, 100GB storage is A, B" in told
    assert "dateLastUpdated" not in told


def test_history_leads_back_to_its_record(web: Web, ada: Browser, product: Product) -> None:
    for table in ("products", "prices"):
        assert f"/admin/products/{product.id}" in ada.links(f"/admin/history/{table}/{product.id}")
    campaign = new_campaign(
        web, product.id, code="SOON", from_date=date(2990, 1, 1), to_date=date(2990, 2, 1)
    )
    page = ada.get(f"/admin/history/campaigns/{campaign.id}").text
    assert page.count('href="/admin/campaigns"') == 2  # the way around the admin has one


def test_history_calls_a_customer_so(web: Web, ada: Browser) -> None:
    tenant = registered_tenant(web, "c@example.com")
    web.run(update_tenant(tenant.id, {"organization_name": "Moss"}, by=tenant.id))
    told = words(ada.get(f"/admin/history/tenants/{tenant.id}").text)
    assert "The customer changed it Organization name: is Moss" in told


def test_history_shows_values_as_pages_do(web: Web, ada: Browser, product: Product) -> None:
    tenant = validated_tenant(web, "b@example.com")
    told = words(ada.get(f"/admin/history/tenants/{tenant.id}").text)
    assert "Status: was Unvalidated is Validated" in told
    campaign = new_campaign(
        web, product.id, code="COMING1", from_date=date(2990, 1, 1), to_date=date(2990, 2, 1)
    )
    told = words(ada.get(f"/admin/history/campaigns/{campaign.id}").text)
    assert "From date: is 1 January 2990" in told and "Discount percentage: is 20%" in told
    order = web.run(place_order(tenant.id, {product.id: 2}))
    told = words(ada.get(f"/admin/history/orders/{order.id}").text)
    assert "quantity 2" in told and "unit price R 299.99" in told


def test_the_prices_that_a_product_had_are_listed(web: Web, ada: Browser, product: Product) -> None:
    web.run(update_product(product.id, {"price": "5"}, by=ADMIN))
    web.run(log_price(product, web.run(get_product(product.id)), "event-1"))
    told = words(ada.get(f"/admin/history/prices/{product.id}").text)
    assert f"{ADMIN} changed its price Price: was R 299.99 is R 5.00" in told


def test_a_long_history_comes_page_by_page(web: Web, ada: Browser, product: Product) -> None:
    for number in range(26):
        web.run(update_product(product.id, {"name": f"Name {number}."}, by=ADMIN))
    page = f"/admin/history/products/{product.id}"
    (more,) = [link for link in ada.links(page) if "after=" in link]
    assert "created it" not in ada.get(page).text
    assert "created it" in ada.get(more).text
    assert ada.get(f"{page}?after=x").status_code == 400
    assert ada.get(more.replace("products/", "prices/")).status_code == 400


@pytest.mark.parametrize(
    "path", [f"tenants/{NOBODY.replace('tenant', 'prod')}", "tenants/x", "accounts/x", "x/y"]
)
def test_the_history_of_nothing_is_unknown(ada: Browser, path: str) -> None:
    assert ada.get(f"/admin/history/{path}").status_code == 404


def test_what_somebody_wrote_stays_text_in_the_history(web: Web, ada: Browser) -> None:
    evil = "<script>alert(1)</script>"
    made = new_product(web, name=evil)
    for page in (
        f"/admin/history/products/{made.id}",
        f"/admin/products/{made.id}",
        "/admin/products",
    ):
        assert evil not in ada.get(page).text


# Reminders


@pytest.fixture
def fresh(web: Web) -> Tenant:
    """Somebody who gave an address and has not confirmed it."""
    return new_tenant(web)


def test_unvalidated_tenants_of_the_last_day_are_listed(
    web: Web, ada: Browser, fresh: Tenant
) -> None:
    validated_tenant(web, "proven@example.com")
    page = ada.get(REMINDERS).text
    assert fresh.email in page and "proven@example.com" not in page
    later(web, days=1, minutes=1)
    assert "No pending confirmations in the last 24 hours." in words(
        ada_again(web).get(REMINDERS).text
    )


def ada_again(web: Web) -> Browser:
    """The admin, whose session has not ended meanwhile."""
    web.store.clock = web.site.store.clock
    return web.session_of("ada@example.com", "another-token")


def test_a_tenant_is_reminded_once_a_day(web: Web, ada: Browser, fresh: Tenant) -> None:
    form = ada.form(REMINDERS, REMINDERS)
    done = ada.post(REMINDERS, data=form.fields)
    assert done.headers["location"] == f"{REMINDERS}?sent=1"
    (letter,) = letters(web)
    assert "/portal/confirm" in letter.text and letter.to == fresh.email
    page = ada.get(f"{REMINDERS}?sent=1").text
    assert "1 e-mail is on its way." in page
    assert "reminded today by ada@example.com" in page
    assert ada.post(REMINDERS, data=form.fields).headers["location"] == f"{REMINDERS}?sent=0"
    assert len(letters(web)) == 1


def test_the_next_day_there_may_be_another(web: Web, ada: Browser, fresh: Tenant) -> None:
    form = ada.form(REMINDERS, REMINDERS)
    ada.post(REMINDERS, data=form.fields)
    later(web, days=1)
    again = ada_again(web)
    data = {"form_token": again.token(), "tenant_ids": fresh.id}
    assert again.post(REMINDERS, data=data).headers["location"] == f"{REMINDERS}?sent=1"
    assert len(letters(web)) == 2


def test_of_reminders_at_once_one_is_sent(web: Web, ada: Browser, fresh: Tenant) -> None:
    form = ada.form(REMINDERS, REMINDERS)
    with ThreadPoolExecutor(4) as threads:
        sent = list(threads.map(lambda _: ada.post(REMINDERS, data=form.fields), range(4)))
    told = sorted(each.headers["location"].rpartition("=")[2] for each in sent)
    assert told == ["0", "0", "0", "1"]
    assert len(letters(web)) == 1


def test_all_of_a_page_are_reminded_but_those_who_were(
    web: Web, ada: Browser, fresh: Tenant
) -> None:
    for name in ("a", "b"):
        new_tenant(web, f"{name}@example.com")
    first = {"form_token": ada.token(), "tenant_ids": fresh.id}
    ada.post(REMINDERS, data=first)
    forms = ada.get(REMINDERS).text
    assert "Remind all on this page" in forms
    ids = forms.rpartition('name="tenant_ids" value="')[2].partition('"')[0]
    assert fresh.id not in ids and len(ids.split()) == 2
    done = ada.post(REMINDERS, data={**first, "tenant_ids": ids})
    assert done.headers["location"] == f"{REMINDERS}?sent=2"


def test_who_has_confirmed_meanwhile_is_not_reminded(web: Web, ada: Browser, fresh: Tenant) -> None:
    form = ada.form(REMINDERS, REMINDERS)
    code = web.run(issue_code(Purpose.VALIDATE, fresh.id))
    web.run(validate_tenant(fresh.id, code))
    assert ada.post(REMINDERS, data=form.fields).headers["location"] == f"{REMINDERS}?sent=0"
    assert letters(web) == []


@pytest.mark.parametrize(
    ("ids", "status"), [("", 400), ("x " * 51, 400), (NOBODY, 404), ("x", 404)]
)
def test_reminding_nobody_known_is_an_error(web: Web, ada: Browser, ids: str, status: int) -> None:
    data = {"form_token": ada.token(), "tenant_ids": ids}
    assert ada.post(REMINDERS, data=data).status_code == status


def test_a_cursor_that_is_not_ours_is_refused(ada: Browser) -> None:
    assert ada.get(f"{REMINDERS}?after=x").status_code == 400


def test_older_ones_can_be_reminded_too(web: Web, ada: Browser, fresh: Tenant) -> None:
    """S2.13: eight were unvalidated, and the page said that there was nobody to remind."""
    later(web, days=9)
    again = ada_again(web)
    assert fresh.email not in again.get(REMINDERS).text
    every = f"{REMINDERS}?which=all"
    assert fresh.email in again.get(every).text
    done = again.submit(every, REMINDERS)
    assert done.headers["location"] == f"{REMINDERS}?sent=1&which=all"
    assert "reminded today by" in again.get(every).text
