"""What everybody can read and reach: axe finds nothing, in light, in dark, on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.web.browser.conftest import Visits

pytestmark = pytest.mark.walk

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}},
}
PAGES = {
    None: [
        "/", "/categories", "/categories/HOME", "/brands", "/brands/VOLTAIC", "/editors-choice",
        "/trending", "/trending/HOME", "/log-in", "/sign-up", "/pricing", "/campaigns/SWITCH2US",
        "/forgot-password", "/outbox", "/docs", "/docs/getting-started", "/no-such-page", "/about",
        "/privacy", "/terms", "/account-deleted",
    ],
    "shopper": [
        "/", "/inbox", "/me", "/me/saved", "/me/addresses", "/me/tokens", "/cart", "/checkout",
        "/orders", "/me/email", "/me/notifications", "/me/data",
        "/me/delete",
    ],
    "editor": [
        "/editor", "/editor/deals/new", "/editor/brands/new", "/editor/featured",
        "/editor/featured/front-page", "/editor/unpublished", "/editor/changes",
    ],
    "admin": [
        "/admin", "/admin/tenants?sort=email", "/admin/products", "/admin/campaigns",
        "/admin/products/new", "/admin/users", "/admin/users/user?login=admin%40example.com",
        "/admin/users/log", "/admin/users/find?text=nobody", "/admin/operations",
    ],
}  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("who", PAGES, ids=["nobody", "shopper", "editor", "admin"])
def test_axe_finds_nothing(visits: Visits, axe: str, who: str | None, look: str) -> None:
    page = visits.window(bypass_csp=True, **LOOKS[look])
    if who is not None:
        visits.site.log_in(page, who)
    page.goto("/")
    deal = str(page.locator("a[href^='/deals/']").first.get_attribute("href"))
    found = {path: violations(page, path, axe) for path in (*PAGES[who], deal)}
    assert {path: faults for path, faults in found.items() if faults} == {}


def violations(page: Page, path: str, axe: str) -> list[str]:
    page.goto(path)
    return faults(page, axe)


def faults(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [
        f"{each['id']}: {each['help']} ({node['target']})"
        for each in found
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("who", PAGES, ids=["nobody", "shopper", "editor", "admin"])
def test_nothing_is_wider_than_a_phone(visits: Visits, who: str | None) -> None:
    page = visits.window(**LOOKS["phone"])
    if who is not None:
        visits.site.log_in(page, who)
    assert {path: width for path in PAGES[who] if (width := width_of(page, path)) > 360} == {}


def width_of(page: Page, path: str) -> int:
    page.goto(path)
    return int(page.evaluate("document.documentElement.scrollWidth"))


def test_what_the_page_of_the_apis_unfolds_is_readable_too(visits: Visits, axe: str) -> None:
    page = visits.window(bypass_csp=True)
    page.goto("/docs")
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert faults(page, axe) == []
