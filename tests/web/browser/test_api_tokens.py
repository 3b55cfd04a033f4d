"""An API token, from the account's page to a program and back."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Visits
from tests.web.browser.test_access import faults

pytestmark = pytest.mark.walk

WINDOWS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 740}, "has_touch": True},
    "without JavaScript": {"java_script_enabled": False},
}


def ask(visits: Visits, token: str, method: str = "GET", path: str = "/me/user") -> int:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.request(method, f"{visits.site.url}/api/v1{path}", headers=headers).status_code


def create(page: Page, name: str) -> str:
    """Makes a token by keyboard alone; what is shown once."""
    page.get_by_label("Name", exact=True).focus()
    page.keyboard.type(name)
    page.get_by_label("Cart and orders").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Create token").focus()
    page.keyboard.press("Enter")
    shown = page.get_by_label("Token", exact=True)
    expect(shown).to_have_text(re.compile("^bigtime_[A-Za-z0-9_-]{43}$"))
    return shown.inner_text().strip()


@pytest.mark.parametrize("window", WINDOWS)
def test_a_token_is_made_seen_once_used_revoked_and_refused(
    visits: Visits, axe: str, window: str
) -> None:
    has_script = window != "without JavaScript"
    page = visits.window(bypass_csp=has_script, **WINDOWS[window])
    visits.site.log_in(page, "shopper")
    page.goto("/me")
    page.get_by_role("link", name="API tokens").click()
    name = f"Alerts in {window}"
    token = create(page, name)
    if has_script:
        assert faults(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    assert ask(visits, token) == 200
    assert ask(visits, token, "PUT", "/me/brands/VOLTAIC/like") == 403
    assert ask(visits, token, path="/me/session") == 403

    page.goto("/me/tokens")
    row = page.get_by_role("listitem").filter(has_text=name)
    expect(row).to_contain_text("Read only: Deals and catalog, Cart and orders")
    expect(row).to_contain_text("Last used")
    assert token not in page.content()
    row.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_contain_text("Token revoked")
    assert ask(visits, token) == 401
    page.goto("/me/activity")
    expect(page.get_by_role("main")).to_contain_text(f"Revoked the API token {name}")


def test_the_guide_and_the_reference_are_read_on_a_phone(visits: Visits) -> None:
    page = visits.window(**WINDOWS["phone"])
    page.goto("/docs")
    page.get_by_role("link", name="Get started").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Getting started")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="reference").click()
    page.get_by_text("PUT /api/v1/me/brands/{brandName}/like").click()
    command = page.get_by_text('curl "$SITE/api/v1/me/brands/Oakmere/like"').first
    expect(command).to_be_visible()
