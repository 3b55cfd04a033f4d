"""Campaigns for an admin: by when they run, and by product."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from bigtime.systems.portal.campaigns import (
    get_campaign,
    list_campaigns,
    soft_delete_campaign,
    update_campaign,
)
from bigtime.systems.portal.design import Campaign, Product
from bigtime.systems.portal.products import soft_delete_product
from tests.systems.portal.scenes import ADMIN, NO_PRODUCT, new_campaign, new_product
from tests.web.browsing import Browser, Web, words
from tests.web.portal.scene import running_campaign

HERE = "/admin/campaigns"


def form_for(product_id: str, /, **but: str) -> dict[str, str]:
    return {
        "code": "WINTER2026",
        "description": "Winter special",
        "discount_percentage": "12.5",
        "product_id": product_id,
        "terms_conditions_link": "https://example.com/terms",
        "from_date": "2026-01-01",
        "to_date": "2026-12-31",
        **but,
    }


def make(ada: Browser, product_id: str, /, **but: str) -> Any:
    return ada.submit(f"{HERE}/new", f"{HERE}/new", **form_for(product_id, **but))


def change(ada: Browser, campaign: Campaign, **but: str) -> Any:
    page = f"{HERE}/{campaign.code}"
    typed = form_for("")
    fields = {
        "description": campaign.description,
        "discount_percentage": str(campaign.discount_percentage),
        "terms_conditions_link": campaign.terms_conditions_link,
        "from_date": str(campaign.from_date),
        "to_date": str(campaign.to_date),
    }
    assert fields.keys() < typed.keys()
    return ada.submit(page, page, **{**fields, **but})


def now_is(web: Web, code: str = "SUMMER2026") -> Campaign:
    found: Campaign = web.run(get_campaign(code, include_inactive=True)).campaign
    return found


@pytest.fixture
def several(web: Web, product: Product) -> Product:
    """One campaign that runs, one to come, one that is over, one archived; of another product."""
    other = new_product(web, name="Another")
    running_campaign(web, other.id, code="RUNNING")
    today = datetime.now(UTC).date()
    days = {
        "UPCOMING": (today + timedelta(days=5), today + timedelta(days=9)),
        "EXPIRED": (date(2020, 1, 1), date(2020, 2, 1)),
        "ARCHIVED": (today, today),
    }
    for code, (first, last) in days.items():
        new_campaign(web, product.id, code=code, from_date=first, to_date=last)
    web.run(soft_delete_campaign("ARCHIVED", by=ADMIN))
    return product


def listed_codes(ada: Browser, query: str) -> set[str]:
    found = [link for link in ada.links(f"{HERE}{query}") if link.startswith(f"{HERE}/")]
    return {each.removeprefix(f"{HERE}/") for each in found} - {"new"}


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("", {"RUNNING", "UPCOMING", "EXPIRED"}),
        ("valid", {"RUNNING"}),
        ("upcoming", {"UPCOMING"}),
        ("expired", {"EXPIRED"}),
        ("archived", {"ARCHIVED"}),
        ("all", {"RUNNING", "UPCOMING", "EXPIRED", "ARCHIVED"}),
    ],
)
def test_campaigns_are_listed_by_when_they_run(
    ada: Browser, several: Product, which: str, expected: set[str]
) -> None:
    assert listed_codes(ada, f"?which={which}") == expected


def test_campaigns_are_listed_by_product(ada: Browser, several: Product) -> None:
    assert listed_codes(ada, f"?product={several.id}") == {"UPCOMING", "EXPIRED"}
    assert listed_codes(ada, f"?product={several.id}&which=all") == {
        "UPCOMING",
        "EXPIRED",
        "ARCHIVED",
    }
    assert listed_codes(ada, f"?product={several.id}&which=valid") == set()


@pytest.mark.parametrize("query", ["?which=some", "?product=PRODUCT&which=expired"])
def test_a_filter_that_cannot_be_is_told_beside_it(
    ada: Browser, product: Product, query: str
) -> None:
    page = ada.get(HERE + query.replace("PRODUCT", product.id))
    assert page.status_code == 422
    assert 'id="which-fault"' in page.text


def test_a_product_that_is_none_is_told_beside_the_filter(ada: Browser) -> None:
    page = ada.get(f"{HERE}?product=x")
    assert page.status_code == 422
    assert 'id="product-fault"' in page.text


def test_a_list_goes_on_with_the_same_filters(web: Web, ada: Browser, product: Product) -> None:
    for number in range(27):
        running_campaign(web, product.id, code=f"CODE_{number:02}")
    page = f"{HERE}?product={product.id}&which=valid"
    (more,) = [link for link in ada.links(page) if "after=" in link]
    assert f"product={product.id}" in more and "which=valid" in more
    assert len(listed_codes(ada, more.removeprefix(HERE))) == 2
    assert ada.get(f"{HERE}?after={more.rpartition('=')[2]}").status_code == 400


def test_an_admin_makes_a_campaign(web: Web, ada: Browser, product: Product) -> None:
    done = make(ada, product.id)
    assert done.headers["location"] == f"{HERE}/WINTER2026?done=made"
    made = now_is(web, "WINTER2026")
    assert (made.discount_percentage, made.from_date) == (Decimal("12.50"), date(2026, 1, 1))
    assert made.last_updated_by == "ada@example.com"
    assert "R 262.49 instead of R 299.99, 12.5% off" in words(ada.get(f"{HERE}/WINTER2026").text)


def test_a_code_that_is_hard_to_remember_is_hinted_at(
    web: Web, ada: Browser, product: Product
) -> None:
    make(ada, product.id, code="ABC")
    assert "A code of 6 to 20 characters is easier to remember" in ada.get(f"{HERE}/ABC").text


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("code", "lower", 422),
        ("code", "A B", 422),
        ("code", "", 422),
        ("code", "SUMMER2026", 409),
        ("description", "", 422),
        ("discount_percentage", "100", 422),
        ("discount_percentage", "-1", 422),
        ("discount_percentage", "99.999", 422),
        ("discount_percentage", "much", 422),
        ("discount_percentage", "\uff11\uff15", 422),
        ("discount_percentage", "1_0", 422),
        ("discount_percentage", "1e1", 422),
        ("product_id", NO_PRODUCT, 422),
        ("product_id", "x", 422),
        ("terms_conditions_link", "javascript:alert(1)", 422),
        ("from_date", "2026-02-30", 422),
        ("from_date", "tomorrow", 422),
        ("to_date", "2025-12-31", 422),
    ],
)
def test_a_wrong_field_is_told_beside_it_kept_and_makes_nothing(
    web: Web, ada: Browser, campaign: Campaign, field: str, value: str, status: int
) -> None:
    refused = make(ada, campaign.product_id, **{field: value})
    assert refused.status_code == status
    assert f'id="{field}-fault"' in refused.text
    assert 'value="12.5"' in refused.text or field == "discount_percentage"
    assert [campaign.campaign.code for campaign in web.run(list_campaigns())] == ["SUMMER2026"]


def test_a_discount_that_leaves_nothing_to_pay_is_refused(web: Web, ada: Browser) -> None:
    cheap = new_product(web, price="0.01")
    refused = make(ada, cheap.id, discount_percentage="99")
    assert refused.status_code == 422
    assert 'id="discount_percentage-fault"' in refused.text


def test_a_campaign_for_an_archived_product_is_refused(
    web: Web, ada: Browser, product: Product
) -> None:
    web.run(soft_delete_product(product.id, by=ADMIN))
    refused = make(ada, product.id)
    assert refused.status_code == 422
    assert 'id="product_id-fault"' in refused.text


def test_an_admin_changes_a_campaign_and_everybody_sees_it(
    web: Web, ada: Browser, visitor: Browser, campaign: Campaign
) -> None:
    visitor.get("/campaigns/SUMMER2026")
    done = change(ada, campaign, discount_percentage="50")
    assert done.headers["location"] == f"{HERE}/SUMMER2026?done=changed"
    assert "R 150.00" in visitor.get("/campaigns/SUMMER2026").text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description", ""),
        ("discount_percentage", "100"),
        ("terms_conditions_link", "x"),
        ("from_date", "x"),
        ("to_date", "2020-01-01"),
    ],
)
def test_a_wrong_change_is_told_beside_the_field(
    web: Web, ada: Browser, campaign: Campaign, field: str, value: str
) -> None:
    refused = change(ada, campaign, **{field: value})
    assert refused.status_code == 422
    assert f'id="{field}-fault"' in refused.text
    assert now_is(web) == campaign


def test_code_and_product_cannot_be_changed(web: Web, ada: Browser, campaign: Campaign) -> None:
    other = new_product(web, name="Another")
    change(ada, campaign, code="OTHER1", product_id=other.id, description="New words")
    changed = now_is(web)
    assert (changed.code, changed.product_id) == ("SUMMER2026", campaign.product_id)
    assert changed.description == "New words"


def test_two_admins_do_not_write_over_each_other(
    web: Web, ada: Browser, campaign: Campaign
) -> None:
    page = f"{HERE}/SUMMER2026"
    seen = ada.form(page, page).fields["seen"]
    web.run(update_campaign("SUMMER2026", {"description": "First"}, by=ADMIN))
    moved = change(ada, campaign, description="Second", seen=seen)
    assert moved.status_code == 409
    assert now_is(web).description == "First"


def test_a_campaign_says_when_it_starts_or_has_ended(
    web: Web, ada: Browser, product: Product
) -> None:
    coming = {"from_date": date(2990, 1, 2), "to_date": date(2990, 2, 1)}
    over = {"from_date": date(2020, 1, 1), "to_date": date(2020, 2, 3)}
    new_campaign(web, product.id, code="COMING1", **coming)
    new_campaign(web, product.id, code="OVER_1", **over)
    running_campaign(web, product.id, code="NOW_1")
    listed = words(ada.get(HERE).text)
    assert "Starts on 2 January 2990" in listed and "Ended on 3 February 2020" in listed
    assert listed.count("Running") >= 1 and "Not running" not in listed
    for code, state in (("COMING1", "not started yet"), ("OVER_1", "over"), ("NOW_1", "running")):
        assert f"; {state}" in words(ada.get(f"{HERE}/{code}").text)


def test_a_campaign_is_archived_and_restored(
    web: Web, ada: Browser, visitor: Browser, campaign: Campaign
) -> None:
    page = f"{HERE}/SUMMER2026"
    assert visitor.get("/campaigns/SUMMER2026").status_code == 200
    assert ada.submit(page, f"{page}/archive").headers["location"] == f"{page}?done=archived"
    assert visitor.get("/campaigns/SUMMER2026").status_code == 404
    assert ada.submit(page, f"{page}/restore").headers["location"] == f"{page}?done=restored"
    assert visitor.get("/campaigns/SUMMER2026").status_code == 200
    told = words(ada.get(f"/admin/history/campaigns/{campaign.id}").text)
    assert "restored it" in told and "archived it" in told and "created it" in told


@pytest.mark.parametrize("code", ["NOSUCH", "x", "a%20b"])
def test_a_campaign_that_is_none_is_unknown(ada: Browser, code: str) -> None:
    token = ada.token()
    for method, path in (("GET", ""), ("POST", ""), ("POST", "/archive"), ("POST", "/restore")):
        data = {**form_for(""), "form_token": token} if method == "POST" else None
        answer = ada.request(method, f"{HERE}/{code}{path}", data=data)
        assert answer.status_code == 404, (method, path)
