"""Downloading one's data and deleting one's account, as people do it."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Visits
from tests.web.browser.test_access import faults
from tests.web.browser.test_journeys import PHONE, WINDOWS, sign_up

pytestmark = pytest.mark.walk

PASSWORD = "a long enough one"


def open_own_data(page: Page) -> None:
    page.goto("/me")
    page.get_by_role("main").get_by_role("link", name="Your data").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your data")


@pytest.mark.parametrize("window", WINDOWS)
def test_a_shopper_downloads_their_data_and_deletes_their_account(
    visits: Visits, axe: str, window: str
) -> None:
    """A wrong password first; then the file; then the account, and a sign-in that is refused."""
    name = f"lee.{re.sub('[^a-z]', '', window.lower())}"
    can_run = window != "without JavaScript"
    page = visits.window(**WINDOWS[window], **({"bypass_csp": True} if can_run else {}))
    sign_up(page, name)
    page.goto("/brands/VOLTAIC")
    page.get_by_role("button", name="Like").click()
    expect(page.get_by_role("button", name="Like", pressed=True)).to_be_visible()

    open_own_data(page)
    page.get_by_label("Password").fill("wrong")
    page.get_by_label("Password").press("Enter")
    expect(page.get_by_role("main")).to_contain_text("This is not your password")
    if can_run:
        assert faults(page, axe) == []
    page.get_by_label("Password").fill(PASSWORD)
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Download").press("Enter")
    found = json.loads(downloaded.value.path().read_text())
    assert re.fullmatch(r"bigtime-data-\d{4}-\d\d-\d\d\.json", downloaded.value.suggested_filename)
    assert found["data"]["deals"]["BrandLike"] == [{"brand": "VOLTAIC", "username": name}]

    open_own_data(page)
    page.get_by_role("link", name=re.compile("^Delete account")).click()
    expect(page.get_by_role("main")).to_contain_text("Your orders, for our books")
    delete = page.get_by_role("button", name="Delete account")
    page.get_by_label("Password").fill(PASSWORD)
    delete.click()
    expect(page.get_by_role("main")).to_contain_text("Please fill out this field.")
    if can_run:
        assert faults(page, axe) == []
    page.get_by_label(re.compile("^Type your e-mail")).fill("delete")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Password").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account is closed")
    if can_run:
        assert faults(page, axe) == []

    page.goto("/me")
    page.get_by_label("E-mail").fill(f"{name}@home.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("main")).to_contain_text("Wrong e-mail or password")


def test_the_only_administrator_is_told_why_they_cannot_leave(visits: Visits, axe: str) -> None:
    page = visits.window(**PHONE, bypass_csp=True)
    visits.site.log_in(page, "admin")
    page.goto("/me/delete")
    page.get_by_label(re.compile("^Type your e-mail")).fill("admin@example.com")
    page.get_by_label("Password").fill(visits.site.passwords["admin"])
    page.get_by_role("button", name="Delete account").click()
    expect(page.get_by_role("alert")).to_contain_text("the only admin")
    assert faults(page, axe) == []
