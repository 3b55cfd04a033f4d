"""What admins do, as they do it: users and roles, lists, features; and a customer's plans."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Visits
from tests.web.browser.outbox import code_to
from tests.web.browser.test_journeys import WINDOWS, sign_up

pytestmark = pytest.mark.walk


def find_user(page: Page, name: str) -> None:
    page.goto("/admin/users")
    page.get_by_label("Find by e-mail or username").fill(name)
    page.get_by_role("main").get_by_role("button", name="Find").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


def confirm(page: Page, question: str, answer: str) -> None:
    """Opens what asks once more, and says yes; a page without JavaScript has it too."""
    page.get_by_text(question, exact=True).click()
    page.get_by_role("button", name=answer).click()
    expect(page.get_by_role("status")).to_be_visible()


@pytest.mark.parametrize("window", WINDOWS)
def test_an_admin_gives_a_role_and_takes_it_away(visits: Visits, window: str) -> None:
    name = f"noor.{re.sub('[^a-z]', '', window.lower())}"
    member, admin = visits.window(), visits.window(**WINDOWS[window])
    sign_up(member, name)
    visits.site.log_in(admin, "admin")
    find_user(admin, name)
    confirm(admin, "Give editor", "Yes, give editor")
    expect(admin.get_by_role("main")).to_contain_text("admin gave the role editor")
    member.goto("/editor")
    expect(member.get_by_role("heading", level=1)).not_to_have_text("No access")
    confirm(admin, "Take away editor", "Yes, take away editor")
    expect(admin.get_by_role("main")).to_contain_text("took away the role editor")
    assert member.goto("/editor").status == 403  # type: ignore[union-attr]
    confirm(admin, "End all sessions", "Yes, end all sessions")
    member.goto("/me")
    expect(member).to_have_url(re.compile("/log-in"))


def test_one_s_own_admin_role_is_not_given_up_by_a_slip(visits: Visits) -> None:
    page = visits.window()
    visits.site.log_in(page, "admin")
    find_user(page, "admin@example.com")
    page.get_by_text("Take away admin", exact=True).press("Enter")
    page.get_by_role("button", name="Yes, take away admin").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This is your own admin role.")
    page.get_by_label("I give up my own admin role").check()
    page.get_by_role("button", name="Yes, take away admin").click()
    expect(page.get_by_role("alert")).to_contain_text("This is the only admin.")


@pytest.mark.parametrize("window", WINDOWS)
def test_a_list_is_sorted_leafed_through_and_downloaded(
    visits: Visits, window: str, tmp_path: Path
) -> None:
    page = visits.window(accept_downloads=True, **WINDOWS[window])
    visits.site.log_in(page, "admin")
    page.goto("/admin/tenants")
    page.get_by_role("columnheader").get_by_role("link", name="E-mail").or_(
        page.locator("thead").get_by_role("link", name="E-mail")
    ).first.click()
    expect(page.get_by_role("main")).to_contain_text("Sorted within this page")
    first = page.locator("tbody th").all_inner_texts()
    assert first == sorted(first)
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("tbody th").first).not_to_have_text(first[0])
    page.get_by_role("link", name="Previous page").click()
    expect(page.locator("tbody th").first).to_have_text(first[0])
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download CSV").click()
    kept = tmp_path / "tenants.csv"
    downloading.value.save_as(kept)
    assert len(kept.read_text().splitlines()) > len(first)


@pytest.mark.parametrize("window", WINDOWS)
def test_features_are_edited_row_by_row(visits: Visits, window: str) -> None:
    page = visits.window(**WINDOWS[window])
    visits.site.log_in(page, "admin")
    page.goto("/admin/products/new")
    name = f"Plan {window}"
    page.get_by_label("Name").fill(name)
    for text in ("Backups", "Mailboxes"):
        page.get_by_role("button", name="Add a feature").click()
        rows = page.get_by_role("textbox", name=re.compile("^Feature"))
        expect(rows.last).to_be_focused()
        rows.last.fill(text)
    page.get_by_role("button", name="Move feature 2 up").press("Enter")
    rows = page.get_by_role("textbox", name=re.compile("^Feature"))
    expect(rows.first).to_have_value("Mailboxes")
    page.get_by_role("button", name="Create product").click()
    expect(rows.first).to_have_value("Mailboxes")
    page.get_by_label("Description").fill("As you like it")
    page.get_by_label("Price in ZAR").fill("19.99")
    page.get_by_label("Billing").select_option("Monthly")
    page.get_by_role("button", name="Remove feature 2").click()
    page.get_by_label("Price in ZAR").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Created.")
    expect(page.get_by_role("textbox", name=re.compile("^Feature"))).to_have_count(1)
    page.get_by_text(f"Archive {name}", exact=True).click()
    page.get_by_role("button", name=f"Yes, archive {name}").click()


def test_a_second_order_is_asked_about_and_plans_add_up(visits: Visits) -> None:
    page = visits.window()
    page.goto("/pricing")
    page.get_by_role("main").get_by_role("link", name=re.compile("^Order ")).first.click()
    page.get_by_label("E-mail").fill("twice@home.example")
    page.get_by_role("button", name="Send me a code").click()
    page.get_by_label("Code").wait_for()
    page.get_by_label("Code").fill(code_to(visits.window(), "twice@home.example"))
    page.get_by_role("button", name="Continue").click()
    checkout = page.url
    page.get_by_role("button", name=re.compile("^Order for R ")).click()
    expect(page.get_by_role("status")).to_contain_text("Thank you")
    page.goto(checkout)
    expect(page.get_by_role("alert")).to_contain_text("You ordered this")
    page.get_by_role("button", name=re.compile("^Order again for R ")).click()
    expect(page.get_by_role("status")).to_contain_text("Thank you")
    page.goto("/portal")
    plans = page.get_by_role("region", name="Your plans")
    expect(plans).to_contain_text("a month")
    expect(plans).to_contain_text("2 \N{MULTIPLICATION SIGN}")
