"""Journeys of an account: a forgotten password, another e-mail address, mails and their end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browser.conftest import Visits, serve_site
from tests.web.browser.outbox import code_to
from tests.web.browser.served import Served
from tests.web.browser.test_access import faults
from tests.web.browser.test_journeys import post_deal

pytestmark = pytest.mark.walk

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True}
WINDOWS: dict[str, dict[str, Any]] = {
    "dark": {"color_scheme": "dark"},
    "phone": {**PHONE, "color_scheme": "light"},
    "without JavaScript": {"java_script_enabled": False},
}


@pytest.fixture(scope="module")
def own_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A site of these walks alone: they change who can sign in, and use up its codes."""
    yield from serve_site(tmp_path_factory.mktemp("accounts"))


@pytest.fixture
def walks(chromium: Browser, own_site: Served) -> Iterator[Visits]:
    visits = Visits(chromium, own_site)
    yield visits
    visits.close()
    assert visits.elsewhere == [] and visits.broken == []


def log_in(page: Page, login: str, password: str) -> None:
    page.goto("/log-in")
    page.get_by_label("E-mail").fill(login)
    page.get_by_label("Password").fill(password)
    page.get_by_label("Password").press("Enter")
    page.get_by_role("link", name="Inbox").first.wait_for()


def test_a_forgotten_password_is_set_anew_from_the_sign_in_page(walks: Visits) -> None:
    page = walks.window(**PHONE, color_scheme="dark")
    page.goto("/log-in")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("E-mail").fill("shopper@example.com")
    page.get_by_label("E-mail").press("Enter")
    page.get_by_label("Code").wait_for()
    page.get_by_label("Code").fill(code_to(page, "shopper@example.com"))
    page.get_by_label("New password").fill("a quite new one 1")
    page.get_by_role("button", name="Reset password").click()
    expect(page.get_by_role("main")).to_contain_text("Password changed.")
    walks.site.passwords["shopper"] = "a quite new one 1"


@pytest.mark.parametrize("window", WINDOWS)
def test_an_account_moves_to_another_address(walks: Visits, axe: str, window: str) -> None:
    """By keyboard; the next window signs in with the new address."""
    login = walks.site.passwords.get("login of shopper", "shopper@example.com")
    email = f"{re.sub('[^a-z]', '', window.lower())}@home.example"
    password = walks.site.passwords["shopper"]
    page = walks.window(bypass_csp=True, **WINDOWS[window])
    log_in(page, login, password)
    page.goto("/me")
    page.get_by_role("link", name="Change e-mail address").press("Enter")
    page.get_by_label("New e-mail").fill(email)
    page.get_by_label("Current password").fill(password)
    page.get_by_label("Current password").press("Enter")
    page.get_by_label(f"Code sent to {login}").wait_for()
    if "JavaScript" not in window:
        assert faults(page, axe) == []
    codes = code_to(page, login), code_to(page, email)
    page.get_by_label(f"Code sent to {login}").fill(codes[0])
    page.get_by_label(f"Code sent to {email}").fill(codes[1])
    page.get_by_label(f"Code sent to {email}").press("Enter")
    expect(page.get_by_role("main")).to_contain_text(f"Signed in as {email}.")
    expect(page.get_by_role("main")).to_contain_text("E-mail address changed.")
    walks.site.passwords["login of shopper"] = email


@pytest.mark.parametrize("window", WINDOWS)
def test_mails_are_chosen_and_end_by_their_link(walks: Visits, axe: str, window: str) -> None:
    title = f"Torch for {window}"
    login = walks.site.passwords.get("login of shopper", "shopper@example.com")
    page = walks.window(bypass_csp=True, **WINDOWS[window])
    log_in(page, login, walks.site.passwords["shopper"])
    page.goto("/brands/VOLTAIC")
    if page.get_by_role("button", name="Watch", pressed=False).count():
        page.get_by_role("button", name="Watch", pressed=False).click()
        expect(page.get_by_role("button", name="Watch", pressed=True)).to_be_visible()
    page.goto("/me/notifications")
    page.get_by_label("New deals from what you watch").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Save changes").press("Enter")
    expect(page.get_by_role("main")).to_contain_text("Changes saved.")
    expect(page.get_by_label("New deals from what you watch")).to_be_checked()

    editor = walks.window()
    walks.site.log_in(editor, "editor")
    post_deal(editor, title, "Voltaic")
    link = find_link(editor, title)

    reader = walks.window(bypass_csp=True, **WINDOWS[window])
    reader.goto(link)
    if "JavaScript" not in window:
        assert faults(reader, axe) == []
    reader.get_by_role("button", name="Unsubscribe").press("Enter")
    expect(reader.get_by_role("main")).to_contain_text("You no longer get new deals")
    page.goto("/me/notifications")
    expect(page.get_by_label("New deals from what you watch")).not_to_be_checked()


def find_link(page: Page, title: str) -> str:
    """The link that ends the mails, from the mail about a deal."""
    letter = page.get_by_role("article").filter(has_text=title)
    for _ in range(120):
        page.goto("/outbox")
        if letter.count():
            break
        page.wait_for_timeout(500)
    return str(letter.first.get_by_role("link", name="/unsubscribe/").get_attribute("href"))
