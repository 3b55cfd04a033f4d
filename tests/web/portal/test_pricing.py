"""The pricing page, and the page of each campaign."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.systems.portal.campaigns import soft_delete_campaign, update_campaign
from bigtime.systems.portal.design import Campaign, Product
from bigtime.systems.portal.products import soft_delete_product, update_product
from tests.systems.portal.scenes import ADMIN, new_product
from tests.web.browsing import Browser, Reader, Web, make_web, words
from tests.web.portal.scene import later, running_campaign
from tests.web.portal.waiting import eventually


def test_active_products_are_on_the_pricing_page(
    web: Web, visitor: Browser, product: Product
) -> None:
    gone = new_product(web, name="Gone Plan")
    web.run(soft_delete_product(gone.id, by=ADMIN))
    page = visitor.get("/pricing")
    assert page.status_code == 200
    told = words(page.text)
    assert f"{product.name} R 299.99 a month" in told
    assert "Up to 10 WordPress sites" in told
    assert "Gone Plan" not in told
    assert f"/portal/checkout?product={product.id}" in visitor.links("/pricing")


def test_with_no_products_the_page_says_so(visitor: Browser) -> None:
    assert "No plans available right now." in words(visitor.get("/pricing").text)


def test_many_products_come_page_by_page(web: Web, visitor: Browser) -> None:
    for number in range(53):
        new_product(web, name=f"Plan {number:02}.")
    first = visitor.get("/pricing").text
    (more,) = [link for link in visitor.links("/pricing") if "after=" in link]
    second = visitor.get(more).text
    names = [f"Plan {number:02}." for number in range(53)]
    assert (sum(name in first for name in names), sum(name in second for name in names)) == (50, 3)
    assert all((name in first) != (name in second) for name in names)


def test_a_cursor_that_is_not_ours_is_refused(visitor: Browser) -> None:
    assert visitor.get("/pricing?after=abc").status_code == 400


def test_a_new_price_shows_at_once_and_is_kept_until_then(
    web: Web, visitor: Browser, product: Product
) -> None:
    eventually(lambda: visitor.get("/pricing").text and "/pricing" in web.site.cache._values)
    web.run(update_product(product.id, {"price": "9.99"}, by=ADMIN))
    eventually(lambda: "R 9.99" in visitor.get("/pricing").text)


def test_a_campaign_shows_its_price_in_any_spelling_of_its_code(
    visitor: Browser, campaign: Campaign
) -> None:
    other = visitor.get("/campaigns/summer2026")
    assert (other.status_code, other.headers["location"]) == (308, "/campaigns/SUMMER2026")
    page = visitor.get("/campaigns/SUMMER2026")
    told = words(page.text)
    assert page.status_code == 200
    assert "Now R 239.99 instead of R 299.99" in told
    assert "20% off" in told
    assert 'rel="nofollow sponsored"' in page.text
    order = f"/portal/checkout?product={campaign.product_id}&campaign=SUMMER2026"
    assert order in visitor.links("/campaigns/SUMMER2026")


@pytest.mark.parametrize("code", ["NOSUCH", "x", "a b", "%00", "é" * 10])
def test_a_code_that_is_none_is_unknown(visitor: Browser, code: str) -> None:
    page = visitor.get(f"/campaigns/{code}")
    assert page.status_code == 404
    assert "No longer available" in words(page.text)
    assert "/pricing" in Reader(page.text).links


def test_a_campaign_that_is_still_to_come_says_when_it_begins(
    web: Web, visitor: Browser, product: Product
) -> None:
    running_campaign(web, product.id, from_date=date(2090, 1, 15), to_date=date(2090, 2, 1))
    page = visitor.get("/campaigns/SUMMER2026")
    assert page.status_code == 200
    told = words(page.text)
    assert "begins on 15 January 2090" in told and "20% off" in told
    assert "No longer available" not in told and "Order with" not in told


def test_a_campaign_that_does_not_run_today_is_no_longer_available(
    web: Web, visitor: Browser, product: Product
) -> None:
    running_campaign(web, product.id, from_date=date(2020, 1, 1), to_date=date(2020, 2, 1))
    page = visitor.get("/campaigns/SUMMER2026")
    assert page.status_code == 200
    assert "No longer available" in words(page.text)
    assert "239.99" not in page.text


def test_a_campaign_whose_product_is_gone_is_no_longer_available(
    web: Web, visitor: Browser, campaign: Campaign
) -> None:
    web.run(soft_delete_product(campaign.product_id, by=ADMIN))
    assert "No longer available" in words(visitor.get("/campaigns/SUMMER2026").text)


def test_an_archived_campaign_is_no_longer_available(
    web: Web, visitor: Browser, campaign: Campaign
) -> None:
    web.run(soft_delete_campaign("SUMMER2026", by=ADMIN))
    page = visitor.get("/campaigns/SUMMER2026")
    assert page.status_code == 404
    assert "No longer available" in words(page.text) and "239.99" not in page.text


def test_what_changes_a_campaigns_price_shows_on_its_page(
    web: Web, visitor: Browser, campaign: Campaign
) -> None:
    assert "239.99" in visitor.get("/campaigns/SUMMER2026").text
    web.run(update_campaign("SUMMER2026", {"discount_percentage": "50"}, by=ADMIN))
    eventually(lambda: "R 150.00" in visitor.get("/campaigns/SUMMER2026").text)
    web.run(update_product(campaign.product_id, {"price": "100"}, by=ADMIN))
    eventually(lambda: "R 50.00" in visitor.get("/campaigns/SUMMER2026").text)


def test_the_page_of_a_campaign_is_kept_no_longer_than_today(
    web: Web, visitor: Browser, campaign: Campaign
) -> None:
    web.site.store.clock = lambda: datetime(2026, 11, 15, 23, 59, 59, tzinfo=UTC)
    path, kept = "/campaigns/SUMMER2026", web.site.cache._values
    for _ in range(100):  # until the site has heard that the campaign was made
        visitor.get(path)
        if path in kept:
            break
    _, until, _ = kept[path]
    assert 0 < until - web.site.cache.clock() <= 1


def test_days_end_when_they_do_in_the_zone_that_is_set(engine: Engine, tmp_path: Path) -> None:
    front, store = make_web(engine, tmp_path, time_zone="Pacific/Kiritimati")
    with TestClient(front, follow_redirects=False) as served:
        web = Web(front, served.app.application.state.context, store, served)  # type: ignore[attr-defined]
        there = (datetime.now(UTC) + timedelta(hours=14)).date()
        product = new_product(web)
        running_campaign(web, product.id, from_date=there, to_date=there)
        assert "239.99" in web.browser().get("/campaigns/SUMMER2026").text
        later(web, days=1)
        web.site.cache.clear()
        assert "239.99" not in web.browser().get("/campaigns/SUMMER2026").text


def test_offers_of_today_stand_beside_their_plans(
    web: Web, visitor: Browser, product: Product
) -> None:
    assert "off with" not in visitor.get("/pricing").text
    running_campaign(web, product.id, code="SMALL_5", discount_percentage=5)
    running_campaign(web, product.id, code="LARGE_20", discount_percentage=20)
    web.site.cache.clear()
    page = visitor.get("/pricing").text
    assert "20% off with LARGE_20" in words(page) and "SMALL_5" not in page
    assert f"/portal/checkout?product={product.id}&campaign=LARGE_20" in visitor.links("/pricing")
