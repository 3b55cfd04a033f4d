"""What everybody can read and reach: axe finds nothing, in light, in dark, on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.web.browser.conftest import Visits

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}},
}
PAGES = {
    None: [
        "/", "/categories", "/categories/HOME", "/brands", "/brands/VOLTAIC", "/editors-choice",
        "/trending", "/trending/HOME", "/log-in", "/sign-up", "/pricing", "/outbox", "/docs",
        "/no-such-page",
    ],
    "shopper": ["/", "/inbox", "/me", "/me/addresses", "/cart", "/checkout", "/orders"],
    "editor": ["/editor", "/editor/deals/new", "/editor/brands/new", "/editor/changes"],
    "admin": ["/admin", "/admin/tenants", "/admin/products", "/admin/campaigns"],
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
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [
        f"{one['id']}: {one['help']} ({node['target']})" for one in found for node in one["nodes"]
    ]


@pytest.mark.parametrize("path", ["/", "/brands", "/trending", "/pricing", "/log-in"])
def test_nothing_is_wider_than_a_phone(visits: Visits, path: str) -> None:
    page = visits.window(**LOOKS["phone"])
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
