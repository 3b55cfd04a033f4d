"""What only a browser shows: forms across sessions, the header after Back, a phone's pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from tests.engine.calls import until
from tests.web.browser.conftest import Visits

pytestmark = pytest.mark.walk

WINDOWS = {"with scripts": True, "without JavaScript": False}
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True}


def quantities(page: Page) -> list[str]:
    fields = page.get_by_label(re.compile("^Quantity of"))
    return [fields.nth(number).input_value() for number in range(fields.count())]


@pytest.mark.parametrize("window", WINDOWS)
def test_typed_quantities_reach_the_checkout(visits: Visits, window: str) -> None:
    page = visits.window(java_script_enabled=WINDOWS[window])
    visits.site.log_in(page, "shopper")
    page.goto("/cart")
    page.get_by_label(re.compile("^Quantity of")).nth(0).fill("7")
    page.get_by_label(re.compile("^Quantity of")).nth(1).fill("5")
    page.get_by_role("button", name="Check out").click()
    page.wait_for_url("**/checkout")
    page.goto("/cart")
    assert quantities(page)[:2] == ["7", "5"]
    page.get_by_label(re.compile("^Quantity of")).nth(1).fill("4")
    page.get_by_label(re.compile("^Quantity of")).nth(1).press("Enter")
    page.wait_for_load_state()
    assert quantities(page)[:2] == ["7", "4"]


@pytest.mark.parametrize(("width", "rows"), [(1089, 2), (1120, 2), (1216, 1), (1280, 1)])
def test_what_is_a_guests_own_is_in_the_first_row_of_the_header(
    visits: Visits, width: int, rows: int
) -> None:
    page = visits.window(viewport={"width": width, "height": 800})
    page.goto("/")
    name, search, links, own = page.locator("header.site > div > *").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect()).map(box => box.top + box.height / 2)"
    )
    assert max(name, search, own) - min(name, search, own) < 2
    assert (links - own > 20) == (rows == 2)


def test_labels_of_charts_can_be_read_on_a_phone(visits: Visits) -> None:
    page = visits.window(**PHONE)
    visits.site.log_in(page, "admin")
    labels = page.locator(".chart svg text:visible")

    def are_drawn() -> bool:
        page.goto("/analytics")
        return labels.count() > 0

    assert until(are_drawn)  # the worker copies the first changes within a minute
    heights = labels.evaluate_all("all => all.map(each => each.getBoundingClientRect().height)")
    assert heights and min(heights) >= 10
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert not wide


def test_labels_of_a_chart_are_not_cut_off(visits: Visits) -> None:
    """The last day is written under the end of the line, half of it beyond the drawing."""
    page = visits.window()
    visits.site.log_in(page, "editor")
    drawings = page.locator(".chart > svg")

    def are_drawn() -> bool:
        page.goto("/analytics")
        return drawings.count() > 0

    assert until(are_drawn)  # the worker copies the first changes within a minute
    assert {*drawings.evaluate_all("all => all.map(each => getComputedStyle(each).overflow)")} == {
        "visible"
    }


def test_the_words_of_the_header_stand_on_one_line(visits: Visits) -> None:
    page = visits.window()
    visits.site.log_in(page, "shopper")
    page.goto("/brands")
    words = page.locator("header.site .you").locator("a[href='/me'] bdi, button")
    boxes = words.evaluate_all(
        """all => all.map(each => {
          const range = document.createRange();
          range.selectNodeContents(each);
          return range.getBoundingClientRect().bottom;
        })"""
    )
    assert len(boxes) == 2 and abs(boxes[0] - boxes[1]) < 0.1


def test_a_form_outlives_its_session(visits: Visits) -> None:
    page = visits.window(java_script_enabled=False)
    visits.site.log_in(page, "editor")
    page.goto("/editor/deals/new")
    page.get_by_label("Title").fill("A lamp for later")
    page.get_by_label("Description").fill("Brass,\nand oak")
    page.context.add_cookies(
        [{"name": "session", "value": "over", "url": visits.site.url, "httpOnly": True}]
    )
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("main")).to_contain_text("You were signed out.")
    visits.site.states.pop("editor")
    page.get_by_label("E-mail").fill("editor@example.com")
    page.get_by_label("Password").fill(visits.site.passwords["editor"])
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("Title")).to_have_value("A lamp for later")
    expect(page.get_by_label("Description")).to_have_value("Brass,\nand oak")


def test_the_carts_badge_is_right_after_back(visits: Visits) -> None:
    page = visits.window()
    visits.site.log_in(page, "shopper")
    page.goto("/brands")
    before = page.get_by_role("link", name=re.compile("^Cart")).inner_text()
    page.goto("/")
    page.locator("#latest-deals .card a[href^='/deals/']").nth(17).click()
    page.get_by_role("button", name="Add to cart").click()
    page.wait_for_url("**/cart")
    after = page.get_by_role("link", name=re.compile("^Cart")).inner_text()
    assert after != before
    count = re.sub(r"\D", "", after)
    page.go_back()
    page.go_back()
    expect(page.get_by_role("link", name=re.compile("^Cart"))).to_have_text(
        re.compile(rf"Cart\s*{count}\b")
    )


def test_a_phone_shows_all_of_the_navigation_and_every_column(visits: Visits) -> None:
    page = visits.window(**PHONE)
    visits.site.log_in(page, "admin")
    page.goto("/admin/tenants")
    for name in ("Categories", "Hosting plans", "Admin"):
        box = page.get_by_role("navigation", name="Site").get_by_text(name).bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390, name
    cell = page.locator("td[data-label='Status']").first
    expect(cell).to_be_visible()
    box = cell.bounding_box()
    assert box and box["x"] + box["width"] <= 390
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.parametrize("path", ["users", "tenants", "products", "campaigns", "operations"])
def test_a_phone_shows_no_label_without_its_value(visits: Visits, path: str) -> None:
    page = visits.window(**PHONE)
    visits.site.log_in(page, "admin")
    page.goto(f"/admin/{path}")
    cells = page.locator("td[data-label]:visible")
    assert cells.count() > 0
    assert [text for text in cells.all_inner_texts() if not text.strip()] == []


def test_times_are_local_and_relative(visits: Visits) -> None:
    page = visits.window(timezone_id="Asia/Tokyo")
    page.goto("/")
    page.locator("#latest-deals .card a[href^='/deals/']").first.click()
    posted = page.locator("time").first
    expect(posted).to_have_text(re.compile("ago|yesterday|just now"))
    assert "UTC" in (posted.get_attribute("title") or "")
    without = visits.window(java_script_enabled=False)
    without.goto(page.url)
    expect(without.locator("time").first).to_have_text(re.compile("UTC"))


@pytest.mark.parametrize("width", [1216, 1280])
def test_a_guest_has_room_to_type_a_search(visits: Visits, width: int) -> None:
    """The field stays as wide as its placeholder beside the whole navigation."""
    page = visits.window(viewport={"width": width, "height": 800})
    page.goto("/")
    box = page.get_by_role("combobox", name="Search deals").bounding_box()
    assert box is not None
    assert box["width"] >= 140


@pytest.mark.parametrize("who", [None, "shopper"])
@pytest.mark.parametrize("width", [320, 360, 390])
def test_nothing_overlaps_in_the_header_of_a_phone(
    visits: Visits, who: str | None, width: int
) -> None:
    page = visits.window(viewport={"width": width, "height": 800})
    if who is not None:
        visits.site.log_in(page, who)
    page.goto("/")
    assert page.evaluate(OVERLAPPING) == []
    links = page.locator("header.site .you > a")
    assert (
        links.evaluate_all("all => all.filter(each => each.scrollWidth > each.clientWidth)") == []
    )


OVERLAPPING = """() => {
  const name = document.createRange();
  name.selectNodeContents(document.querySelector("header.site .name"));
  const links = [...document.querySelectorAll("header.site .you > a")];
  const boxes = [name, ...links].map(each => each.getBoundingClientRect());
  return links.filter((_, at) => {
    const [before, box] = [boxes[at], boxes[at + 1]];
    const isBeside = Math.min(box.bottom, before.bottom) > Math.max(box.top, before.top);
    return isBeside && box.left < before.right + 6;
  }).map(link => link.textContent);
}"""


def test_the_wide_last_card_has_its_picture_beside_its_text(visits: Visits) -> None:
    page = visits.window(viewport={"width": 1280, "height": 800})
    page.goto("/")
    cards = page.locator(".featured .card")
    assert cards.count() % 4 == 0, "the demo's featured deals end with a wide card"
    picture = cards.last.locator(".picture").bounding_box()
    heading = cards.last.get_by_role("heading").bounding_box()
    badge = cards.last.locator(".saving").bounding_box()
    assert picture is not None and heading is not None and badge is not None
    assert picture["x"] + picture["width"] <= heading["x"]
    assert badge["x"] + badge["width"] <= picture["x"] + picture["width"]


def test_cards_of_this_year_say_the_day_and_the_month(visits: Visits) -> None:
    page = visits.window()
    page.goto("/trending")
    days = [
        text
        for text in page.locator(".card time").all_inner_texts()
        if re.match("[A-Z][a-z]{2} ", text)
    ]
    this_year = f"{datetime.now(UTC):%Y}"
    assert days
    assert [text for text in days if text.endswith(f", {this_year}")] == []
