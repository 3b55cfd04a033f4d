"""Reading on to the end, typing what is no number, and going back after logging out."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.browser.conftest import Visits

pytestmark = pytest.mark.walk

CARDS = "#latest-deals > li.card"
MOST_CLICKS = 40


@pytest.mark.parametrize("path", ["/", "/categories/ELECTRONICS", "/brands/VOLTAIC"])
def test_more_deals_come_until_there_are_none_and_focus_goes_with_them(
    visits: Visits, path: str
) -> None:
    page = visits.window()
    page.goto(path)
    more = page.locator("li.more a")
    for _ in range(MOST_CLICKS):
        if not more.count():
            break
        before = page.locator(CARDS).count()
        more.focus()
        page.keyboard.press("Enter")
        expect(page.locator(CARDS)).not_to_have_count(before)
        expect(page.locator(CARDS).nth(before).get_by_role("link").first).to_be_focused()
    expect(more).to_have_count(0)
    addresses = page.locator(f"{CARDS} :is(h2, h3) a").evaluate_all("all => all.map(a => a.href)")
    assert addresses and len(addresses) == len({*addresses})


def test_a_count_that_is_no_number_stays_as_it_was_typed(visits: Visits) -> None:
    page = visits.window()
    visits.site.log_in(page, "shopper")
    page.goto("/")
    page.locator("a[href^='/deals/']").first.click()
    page.get_by_role("button", name="Add to cart").click()
    count = page.get_by_role("textbox", name="Quantity of").first
    count.fill("2x")
    count.press("Enter")
    expect(count).to_have_value("2x")
    expect(count).to_have_attribute("aria-invalid", "true")
    expect(count).to_be_focused()


def test_who_goes_back_after_logging_out_sees_nothing_of_their_own(visits: Visits) -> None:
    page = visits.window()
    page.goto("/log-in?next=/me")  # a session of its own, for it ends here
    page.get_by_label("E-mail").fill("shopper@example.com")
    page.get_by_label("Password").fill(visits.site.passwords["shopper"])
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("main")).to_contain_text("Signed in as shopper@example.com")
    page.get_by_role("banner").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("deals")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(page.get_by_text("Signed in as")).to_have_count(0)
