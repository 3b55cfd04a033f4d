"""The desk in a browser: what follows whoever types, and where the focus goes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Visits
from tests.web.browser.test_access import LOOKS, violations

pytestmark = pytest.mark.walk

FRONT = "/editor/featured/front-page"


@pytest.fixture
def desk(visits: Visits) -> Page:
    """An editor's window."""
    page = visits.window()
    visits.site.log_in(page, "editor")
    return page


def test_the_preview_of_a_brand_follows_whoever_types(desk: Page) -> None:
    desk.goto("/editor/brands/new")
    preview = desk.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("A brand")
    desk.get_by_label("Name").press_sequentially("Tom & Söhne")
    expect(preview.get_by_role("heading", name="Tom & Söhne")).to_be_visible()
    expect(preview.locator(".mark")).to_have_text("TS")
    expect(preview.get_by_role("link", name="Logo")).to_have_count(0)
    desk.get_by_label("Link to the logo").press_sequentially("https://shop.example/logo.png")
    logo = preview.get_by_role("link", name="Logo")
    expect(logo).to_have_attribute("href", "https://shop.example/logo.png")
    expect(desk.get_by_label("Name")).to_have_value("Tom & Söhne")
    expect(desk.get_by_label("Link to the logo")).to_be_focused()


def test_the_preview_of_a_brand_comes_without_a_script(visits: Visits) -> None:
    page = visits.window(java_script_enabled=False)
    visits.site.log_in(page, "editor")
    page.goto("/editor/brands/new")
    page.get_by_label("Name").fill("Tom & Söhne")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="Preview")).to_contain_text("Tom & Söhne")
    expect(page.get_by_label("Name")).to_have_value("Tom & Söhne")


def test_what_was_typed_for_a_featured_deal_stays_when_it_will_not_do(desk: Page) -> None:
    desk.goto(FRONT)
    field = desk.get_by_label("Deal id or link")
    field.click()
    desk.keyboard.type("nonsense")
    desk.keyboard.press("Enter")
    expect(field).to_have_accessible_description(re.compile("There is no such deal"))
    desk.wait_for_timeout(300)  # htmx settles a while after it has swapped
    expect(field).to_have_value("nonsense")
    expect(field).to_be_focused()


def test_a_deal_is_moved_to_the_top_and_the_end_by_keyboard(desk: Page) -> None:
    desk.goto(FRONT)
    draft = desk.get_by_role("list", name="Draft").get_by_role("listitem")
    last = draft.last.get_by_role("button", name=re.compile("^Up")).get_attribute("value")
    count = draft.count()
    assert count > 2
    desk.locator(f"#up-{last}").focus()
    for place in range(count - 2, -1, -1):
        desk.keyboard.press("Enter")
        expect(draft.nth(place).locator(f"#remove-{last}")).to_be_visible()
        expect(desk.locator(f"#up-{last}" if place else f"#down-{last}")).to_be_focused()
    for place in range(1, count):
        desk.keyboard.press("Enter")
        expect(draft.nth(place).locator(f"#remove-{last}")).to_be_visible()
        expect(
            desk.locator(f"#down-{last}" if place < count - 1 else f"#up-{last}")
        ).to_be_focused()


def test_the_focus_stays_near_a_deal_that_is_removed_or_added(desk: Page) -> None:
    desk.goto(FRONT)
    removing = desk.get_by_role("button", name=re.compile("^Remove"))
    count = removing.count()
    removing.nth(0).focus()
    desk.keyboard.press("Enter")
    expect(removing).to_have_count(count - 1)
    expect(removing.nth(0)).to_be_focused()
    adding = desk.get_by_role("button", name=re.compile("^Add ?: "))
    second = adding.nth(1).get_attribute("id")
    adding.nth(0).focus()
    desk.keyboard.press("Enter")
    expect(removing).to_have_count(count)
    expect(desk.locator(f"#{second}")).to_be_focused()


def test_of_two_editors_the_later_sees_both_choices_and_goes_on(visits: Visits, desk: Page) -> None:
    other = visits.window()
    visits.site.log_in(other, "editor")
    choice = "/editor/featured/editors-choice"
    for page in (desk, other):
        page.goto(choice)
    other.get_by_role("button", name=re.compile("^Remove")).first.click()
    expect(other.get_by_role("link", name="Discard changes")).to_be_visible()
    other.get_by_role("button", name="Publish").click()
    expect(other.get_by_role("status")).to_contain_text("Published.")

    desk.get_by_role("button", name=re.compile("^Down")).first.click()
    expect(desk.get_by_role("link", name="Discard changes")).to_be_visible()
    desk.get_by_role("button", name="Publish").click()

    expect(desk.get_by_role("alert")).to_contain_text("Someone else has published another choice")
    expect(desk.get_by_role("list", name="Theirs")).to_be_visible()
    desk.get_by_role("button", name="Publish mine instead").click()
    expect(desk.get_by_role("status")).to_contain_text("Published.")


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_where_two_editors_meet(visits: Visits, axe: str, look: str) -> None:
    page = visits.window(bypass_csp=True, **LOOKS[look])
    visits.site.log_in(page, "editor")
    page.goto("/editor")
    deal = str(page.locator("a[href^='/editor/deals/'][href$='/hot']").first.get_attribute("href"))
    assert violations(page, deal.removesuffix("/hot"), axe) == []
    for path, button in ((deal.removesuffix("/hot"), "Save changes"), (FRONT, "Publish")):
        page.goto(path)
        page.eval_on_selector_all(
            "input[name=seen]", "all => all.forEach(one => one.value = 'old')"
        )
        if path != FRONT:
            page.get_by_label("Title").fill(f"Another title, seen in {look}")
        else:
            page.get_by_role("button", name=re.compile("^Down")).first.click()
            expect(page.get_by_role("link", name="Discard changes")).to_be_visible()
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("link", name="Use theirs")).to_be_visible()
        page.evaluate(axe)
        assert page.evaluate("axe.run()")["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
