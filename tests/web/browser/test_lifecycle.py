"""The life of a deal at the desk: an end, taken off, published again, corrected; brands; a test."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Visits
from tests.web.browser.test_access import LOOKS, faults

pytestmark = pytest.mark.walk

NUMBERS = count(1)


@pytest.fixture(params=LOOKS)
def desk(visits: Visits, request: pytest.FixtureRequest) -> Page:
    """An editor's window, in each look."""
    page = visits.window(bypass_csp=True, **LOOKS[request.param])
    visits.site.log_in(page, "editor")
    return page


def post_deal(page: Page, **fields: str) -> str:
    """Posts a deal; gives the path of its form."""
    page.goto("/editor/deals/new")
    brand = page.locator("#brands option").first.get_attribute("value")
    page.get_by_label("Brand", exact=True).fill(str(brand))
    page.get_by_label("Category").select_option("HOME")
    page.get_by_label("Title").fill(f"A lamp, number {next(NUMBERS)}")
    page.get_by_label("Price in $", exact=True).fill("19.99")
    page.get_by_label("Link to the offer").fill("https://shop.example/lamp")
    for label, text in fields.items():
        page.locator(f"#{label}").fill(text)
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("status").filter(has_text="Deal published.")).to_be_visible()
    return page.url.partition("?")[0]


def check_page(page: Page, axe: str) -> None:
    assert faults(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_deal_gets_an_end_and_expires(desk: Page, axe: str) -> None:
    path = post_deal(desk, ends_at="2099-12-24T18:30")
    expect(desk.get_by_role("main")).to_contain_text("24 December 2099, 18:30 UTC")
    check_page(desk, axe)
    desk.get_by_label("Ends at, in UTC").fill("2026-01-01T00:00")
    desk.get_by_role("button", name="Save changes").press("Enter")
    expect(desk.get_by_role("main")).to_contain_text("Expired 1 January 2026, 00:00 UTC")
    check_page(desk, axe)
    desk.get_by_role("link", name="View page").click()
    expect(desk.get_by_role("status")).to_contain_text("This deal has expired")
    expect(desk.get_by_role("button", name="Add to cart")).to_have_count(0)
    check_page(desk, axe)
    desk.goto("/categories/HOME")
    expired = desk.locator(".card.expired").first
    expect(expired).to_contain_text("Expired")
    check_page(desk, axe)
    desk.goto(path)
    desk.get_by_label("Ends at, in UTC").fill("")
    desk.get_by_role("button", name="Save changes").click()
    desk.get_by_role("link", name="View page").click()
    expect(desk.get_by_role("button", name="Add to cart")).to_be_visible()


def test_the_worker_marks_an_expired_deal_within_a_minute(visits: Visits) -> None:
    page = visits.window()
    visits.site.log_in(page, "editor")
    soon = datetime.now(UTC) + timedelta(seconds=10)
    post_deal(page, ends_at=soon.strftime("%Y-%m-%dT%H:%M:%S"))
    page.get_by_role("link", name="View page").click()
    for _ in range(60):
        if page.get_by_text("This deal has expired").count():
            break
        page.wait_for_timeout(1_000)
        page.reload()
    expect(page.get_by_role("status")).to_contain_text("This deal has expired")


def test_a_deal_is_taken_off_by_keyboard_and_comes_back(
    visits: Visits, desk: Page, axe: str
) -> None:
    path = post_deal(desk)
    public = path.replace("/editor/", "/")
    shopper = visits.window()
    visits.site.log_in(shopper, "shopper")
    shopper.goto(public)
    shopper.get_by_role("button", name="Add to cart").click()

    desk.get_by_role("link", name="Unpublish", exact=True).focus()
    desk.keyboard.press("Enter")
    expect(desk.get_by_role("heading", name="Unpublish this deal?")).to_be_visible()
    check_page(desk, axe)
    desk.get_by_label("Reason").fill("The price was wrong")
    desk.keyboard.press("Enter")
    expect(desk.get_by_role("status")).to_contain_text("Unpublished. Shoppers do not see this deal")
    check_page(desk, axe)

    shopper.goto("/cart")
    line = shopper.get_by_role("listitem").filter(has_text="No longer available")
    expect(line).to_have_count(1)
    expect(shopper.get_by_role("button", name="Check out")).to_have_count(0)
    line.get_by_role("button", name=re.compile("^Remove")).click()
    assert shopper.goto(public).status == 404  # type: ignore[union-attr]
    expect(shopper.get_by_role("main")).to_contain_text("This deal is no longer available.")

    desk.get_by_role("button", name="Publish again").click()
    expect(desk.get_by_role("status")).to_contain_text("Deal published again.")
    assert shopper.goto(public).status == 200  # type: ignore[union-attr]


def test_brand_and_category_are_corrected(desk: Page) -> None:
    path = post_deal(desk)
    brand = str(desk.locator("#brands option").nth(1).get_attribute("value"))
    desk.get_by_label("Brand", exact=True).fill(brand)
    desk.get_by_label("Category").select_option("TOYS")
    desk.get_by_role("button", name="Save changes").click()
    expect(desk.get_by_role("status")).to_contain_text("Changes saved.")
    expect(desk.get_by_role("main")).to_contain_text(f"{brand} in Toys")
    desk.goto("/categories/TOYS")
    deal_id = path.rpartition("/")[2]
    expect(desk.locator(f"a[href='/deals/{deal_id}']").first).to_be_visible()


def test_a_brand_is_edited(desk: Page, axe: str) -> None:
    desk.goto("/editor/brands/new")
    brand = str(desk.locator("#brands option").last.get_attribute("value"))
    desk.get_by_label("Edit a brand").fill(brand)
    desk.get_by_role("button", name="Edit").click()
    desk.get_by_label("Description").fill("Made to last.")
    check_page(desk, axe)
    desk.get_by_role("button", name="Save changes").click()
    expect(desk.get_by_role("status")).to_contain_text("Changes saved.")
    desk.get_by_role("link", name="View page").click()
    expect(desk.get_by_role("main")).to_contain_text("Made to last.")
    desk.get_by_role("main").get_by_role("link", name="Edit").click()
    desk.get_by_label("Name").fill("Another brand")
    desk.get_by_role("button", name="Save changes").click()
    expect(desk.get_by_label("Name")).to_have_accessible_description(
        re.compile("this would be another brand")
    )
    check_page(desk, axe)


def test_a_test_of_a_hot_message_comes_to_its_editor(desk: Page, axe: str) -> None:
    path = post_deal(desk)
    desk.goto(f"{path}/hot")
    expect(desk.get_by_role("main")).to_contain_text(re.compile(r"It reaches about [\d,]+ users"))
    check_page(desk, axe)
    desk.get_by_role("button", name="Send a test to me").click()
    desk.get_by_role("link", name="See it in your inbox").click()
    expect(desk.get_by_role("heading", name=re.compile("^Test: Hot: A lamp"))).to_be_visible()
    expect(desk.get_by_role("main")).to_contain_text("A test that only you got.")
    check_page(desk, axe)
