"""Journeys through the site, as people take them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Visits
from tests.web.browser.outbox import code_to

pytestmark = pytest.mark.walk

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
WINDOWS: dict[str, dict[str, Any]] = {
    "dark": {"color_scheme": "dark"},
    "phone": PHONE,
    "without JavaScript": {"java_script_enabled": False},
}


def sign_up(page: Page, username: str, at: str = "/sign-up") -> None:
    page.goto(at)
    page.get_by_label("Username").fill(username)
    page.get_by_label("E-mail").fill(f"{username}@home.example")
    page.get_by_label("Password").fill("a long enough one")
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    page.get_by_label("Code").wait_for()
    page.get_by_label("Code").fill(code_to(page, f"{username}@home.example"))
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("link", name="Inbox").first.wait_for()


def post_deal(page: Page, title: str, brand: str) -> None:
    page.goto("/editor/deals/new")
    page.get_by_label("Title").fill(title)
    page.get_by_label("Link to the offer").fill("https://shop.example/thing")
    page.get_by_label(re.compile("^Price")).fill("19.99")
    page.get_by_label("Brand").fill(brand)
    page.get_by_label("Category").select_option("Electronics")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("main")).to_contain_text(title)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_new_shopper_is_told_of_a_deal_and_buys_it(visits: Visits, window: str) -> None:
    """Sign up, watch a brand, be told of an editor's new deal, buy it, see the order."""
    name = f"kim.{re.sub('[^a-z]', '', window.lower())}"
    title = f"Voltaic torch for {name}"
    shopper, editor = visits.window(**WINDOWS[window]), visits.window()
    sign_up(shopper, name)
    shopper.goto("/brands/VOLTAIC")
    shopper.get_by_role("button", name="Watch").click()
    expect(shopper.get_by_role("button", name="Watch", pressed=True)).to_be_visible()

    visits.site.log_in(editor, "editor")
    post_deal(editor, title, "Voltaic")

    inbox = shopper.get_by_role("link", name=re.compile("^Inbox.*1"))
    for _ in range(120):
        shopper.goto("/")
        if inbox.count():
            break
        shopper.wait_for_timeout(500)
    inbox.click()
    shopper.get_by_role("link", name=re.compile(re.escape(title))).first.press("Enter")
    expect(shopper.get_by_role("heading", level=1)).to_contain_text(title)
    shopper.get_by_role("main").locator("a[href^='/deals/']").first.click()
    expect(shopper.get_by_role("heading", level=1)).to_have_text(title)

    shopper.get_by_role("button", name=re.compile("cart", re.IGNORECASE)).click()
    shopper.goto("/cart")
    expect(shopper.get_by_role("main")).to_contain_text(title)
    shopper.get_by_role("button", name="Check out").click()
    fill_address(shopper)
    shopper.get_by_role("button", name=re.compile("^Place order")).click()
    expect(shopper.get_by_role("main")).to_contain_text(title)
    shopper.goto("/orders")
    shopper.get_by_role("main").locator("a[href^='/orders/']").first.click()
    expect(shopper.get_by_role("main")).to_contain_text(title)
    expect(shopper.get_by_role("main")).to_contain_text("$19.99")


def fill_address(page: Page) -> None:
    for label, value in (
        ("Full name", "Kim Field"),
        ("Street and number", "1 Mill Lane"),
        ("City", "Leeds"),
        ("Postal code", "LS1 4AP"),
        ("Country", "GB"),
    ):
        page.get_by_label(re.compile(f"^{label}")).first.fill(value)


def test_everything_can_be_done_by_keyboard(visits: Visits) -> None:
    page = visits.window()
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()

    page.goto("/log-in")
    page.get_by_label("E-mail").focus()
    page.keyboard.type("shopper@example.com")
    page.keyboard.press("Tab")
    page.keyboard.type(visits.site.passwords["shopper"])
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()


def test_a_wrong_field_is_told_beside_it_and_what_was_typed_stays(visits: Visits) -> None:
    page = visits.window()
    page.goto("/sign-up")
    page.get_by_label("Username").fill("somebody#else")
    page.get_by_label("E-mail").fill("somebody@home.example")
    page.get_by_label("Password").fill("a long enough one")
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    username = page.get_by_label("Username")
    expect(username).to_have_value("somebody#else")
    expect(username).to_have_attribute("aria-invalid", "true")
    expect(username).to_have_accessible_description(re.compile("cannot contain #"))


def test_the_front_page_goes_on_and_on(visits: Visits) -> None:
    page = visits.window()
    page.goto("/")
    seen = page.locator("a[href^='/deals/']")
    first = seen.count()
    page.get_by_role("link", name=re.compile("^More")).click()
    expect(seen.nth(first)).to_be_attached()
    ids = [
        each.get_attribute("href")
        for each in page.locator("[id^=latest] ~ * a[href^='/deals/']").all()
    ]
    assert len(ids) == len({*ids})


def test_a_customer_of_the_portal_buys_a_plan_and_registers(visits: Visits) -> None:
    page = visits.window()
    page.goto("/pricing")
    page.get_by_role("main").get_by_role("link", name=re.compile("^Order ")).first.click()
    page.get_by_label("E-mail").fill("new.customer@home.example")
    expect(page.get_by_role("button", name="Send me a code")).to_have_count(1)
    page.get_by_label("E-mail").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your code")
    outbox = visits.window()
    page.get_by_label("Code").fill(code_to(outbox, "new.customer@home.example"))
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name=re.compile("^Order for R ")).click()
    expect(page.get_by_role("main")).to_contain_text("R ")
    outbox.goto("/outbox")
    expect(outbox.get_by_role("main")).to_contain_text(re.compile("order", re.IGNORECASE))


def test_an_admin_sees_what_a_price_change_means_before_it_happens(visits: Visits) -> None:
    page = visits.window()
    visits.site.log_in(page, "admin")
    page.goto("/admin/products")
    page.get_by_role("main").get_by_role(
        "link", name=re.compile("Hosting|WordPress|Starter", re.IGNORECASE)
    ).first.click()
    expect(page.get_by_role("main")).to_contain_text("R ")
