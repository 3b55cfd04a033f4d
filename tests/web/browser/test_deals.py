"""A deal's prices, the deals beside it, saving it, and the feeds of its lists."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Visits
from tests.web.browser.test_access import faults
from tests.web.browser.test_journeys import post_deal

pytestmark = pytest.mark.walk

WINDOWS: dict[str, dict[str, Any]] = {
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 800}, "has_touch": True},
    "without JavaScript": {"java_script_enabled": False},
}


def post_new_deal(editor: Page, title: str) -> str:
    """The path of the new deal's page."""
    post_deal(editor, title, "Voltaic")
    editor.goto("/brands/VOLTAIC")
    path = editor.get_by_role("link", name=title).first.get_attribute("href")
    assert path is not None
    return path


def set_price(editor: Page, path: str, price: str) -> None:
    editor.goto(f"/editor{path}")
    editor.get_by_label(re.compile("^Price")).fill(price)
    editor.get_by_role("button", name="Save changes").click()
    expect(editor.get_by_role("main")).to_contain_text("Changes saved.")


@pytest.mark.parametrize("window", WINDOWS)
def test_a_shopper_saves_a_deal_and_sees_its_price_fall(
    visits: Visits, axe: str, window: str
) -> None:
    page = visits.window(bypass_csp=True, **WINDOWS[window])
    editor = visits.window()
    visits.site.log_in(editor, "editor")
    visits.site.log_in(page, "shopper")
    title = f"A torch to keep, {window}"
    path = post_new_deal(editor, title)
    page.goto(path)
    expect(page.get_by_role("heading", name="Price history")).to_have_count(0)
    page.get_by_role("button", name="Save", pressed=False).press("Enter")
    expect(page.get_by_role("button", name="Save", pressed=True)).to_be_visible()

    for price in ("24.99", "14.99"):
        set_price(editor, path, price)
    page.goto("/me/saved")
    row = page.get_by_role("listitem").filter(has_text=title)
    expect(row).to_contain_text("$14.99")
    expect(row).to_contain_text("Down $5.00")
    expect(row).to_contain_text("at $19.99")
    if "java_script_enabled" not in WINDOWS[window]:
        assert faults(page, axe) == []

    row.get_by_role("link", name=title).press("Enter")
    prices = page.get_by_role("region", name="Price history")
    expect(prices).to_contain_text("This is the lowest price so far.")
    expect(prices.get_by_role("img", name="Price history")).to_be_visible()
    prices.get_by_text("All prices").click()
    expect(prices.get_by_role("row")).to_have_text(
        [re.compile("Price"), re.compile("14.99"), re.compile("24.99"), re.compile("19.99")]
    )
    if "java_script_enabled" not in WINDOWS[window]:
        assert faults(page, axe) == []

    page.goto("/me/saved")
    row.get_by_role("button", name=re.compile("^Remove")).press("Enter")
    expect(row).to_have_count(0)


def test_a_deal_leads_to_others_like_it(visits: Visits) -> None:
    page = visits.window()
    page.goto("/")
    page.locator(".card a[href^='/deals/']").first.press("Enter")
    related = page.get_by_role("region", name="Related deals").locator(".card")
    expect(related.first).to_be_visible()
    assert 1 <= related.count() <= 4
    title = related.first.get_by_role("heading").inner_text()
    related.first.get_by_role("link").first.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


@pytest.mark.parametrize("path", ["/", "/brands/VOLTAIC", "/categories/HOME"])
def test_a_feed_reader_finds_the_feed_of_a_list(visits: Visits, path: str) -> None:
    page = visits.window()
    page.goto(path)
    feed = page.locator("link[rel=alternate]").get_attribute("href")
    assert feed is not None
    answer = page.request.get(feed)
    links = [item.text for item in ElementTree.fromstring(answer.body()).iterfind(".//item/link")]
    assert links and all(re.match(r"http://[^/]+/deals/\w{27}$", str(link)) for link in links)


def test_no_deal_is_on_the_front_page_twice(visits: Visits) -> None:
    page = visits.window()
    page.goto("/")
    cards = page.locator(".card :is(h2, h3) a")
    first = cards.count()
    page.get_by_role("link", name="More deals").click()
    expect(cards.nth(first)).to_be_attached()
    latest = page.locator("#latest-deals .card :is(h2, h3) a")
    shown = [str(latest.nth(number).get_attribute("href")) for number in range(latest.count())]
    assert len(shown) == len({*shown}) == 50
    featured = page.locator("#featured-deals .card :is(h2, h3) a")
    above = {str(featured.nth(number).get_attribute("href")) for number in range(featured.count())}
    assert above.isdisjoint(shown[:25])
