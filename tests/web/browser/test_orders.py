"""A guest's cart becomes an order, and staff pack and send it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import Visits
from tests.web.browser.test_access import LOOKS, faults
from tests.web.browser.test_journeys import WINDOWS, fill_address, sign_up

pytestmark = pytest.mark.walk


def add_to_cart(page: Page, number: int) -> str:
    """Puts one of the deals of the front page in the cart; returns its title."""
    page.goto("/")
    links = page.locator("a[href^='/deals/']").evaluate_all("all => all.map(one => one.href)")
    page.goto(list(dict.fromkeys(links))[number])
    title = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("button", name="Add to cart").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cart")
    return title


def badge(page: Page) -> str:
    return page.locator("#header a[href='/cart']").inner_text()


@pytest.mark.parametrize("window", WINDOWS)
def test_a_guest_fills_a_cart_signs_up_and_orders(visits: Visits, window: str) -> None:
    page = visits.window(**WINDOWS[window])
    kept, removed = add_to_cart(page, 0), add_to_cart(page, 1)
    page.goto("/brands")
    assert re.search(r"\b2\b", badge(page))
    page.goto("/cart")
    remove = page.get_by_role("button", name=re.compile(f"^Remove.*{re.escape(removed)}"))
    remove.click()
    page.get_by_role("button", name="Undo").click()
    remove.click()
    page.get_by_label(f"Quantity of {kept}").fill("3")
    page.get_by_role("button", name="Check out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.get_by_role("main").get_by_role("link", name="Sign up").click()
    sign_up(page, f"gil.{re.sub('[^a-z]', '', window.lower())}", at=page.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Check out")
    expect(page.get_by_role("main")).to_contain_text(kept)
    expect(page.get_by_role("main")).to_contain_text(re.compile("3 .{1,2}\\$"))
    expect(page.get_by_role("main")).not_to_contain_text(removed)
    expect(page.get_by_role("main")).to_contain_text("No payment is taken here")
    fill_address(page)
    page.get_by_role("button", name=re.compile("^Place order")).click()
    expect(page.get_by_role("main")).to_contain_text("Your order was placed")
    assert not re.search(r"\d", badge(page))
    assert not [cookie for cookie in page.context.cookies() if cookie["name"] == "cart"]


@pytest.mark.parametrize("window", WINDOWS)
def test_staff_move_an_order_until_it_is_delivered(visits: Visits, window: str) -> None:
    page = visits.window(**WINDOWS[window])
    visits.site.log_in(page, "admin")
    page.goto("/admin/orders")
    page.get_by_role("main").locator("tbody th a").first.click()
    for button, label in (
        ("Start packing", "Being packed"),
        ("Mark as shipped", "On its way"),
        ("Mark as delivered", "Delivered"),
    ):
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("status")).to_have_text(f"This order is now “{label}”.")
        expect(page.get_by_role("main")).to_contain_text(f"admin changed its status to {label}")
    expect(page.get_by_role("button", name=re.compile("^(Mark|Start)"))).to_have_count(0)


def test_several_orders_are_moved_at_once_and_the_queue_follows(visits: Visits) -> None:
    page = visits.window()
    visits.site.log_in(page, "admin")
    page.goto("/admin/orders?status=PICKED")
    before = page.locator("tbody tr").count()
    picked = page.get_by_role("checkbox", name=re.compile("^Select order"))
    for number in range(2):
        picked.nth(number).focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Mark as shipped").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("2 orders are now “On its way”.")
    expect(page.locator("tbody tr")).to_have_count(before - 2)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_packing_list_prints_a_sheet_for_each_selected_order(visits: Visits, window: str) -> None:
    page = visits.window(**WINDOWS[window])
    visits.site.log_in(page, "admin")
    page.goto("/admin/orders?status=DELIVERED")
    page.get_by_role("link", name="Select all on this page").click()
    expect(page.get_by_role("checkbox", checked=True).first).to_be_visible()
    count = page.locator("tbody tr").count()
    page.get_by_role("button", name="Packing list").click()
    expect(page.locator("article.packing")).to_have_count(count)
    assert "$" not in page.get_by_role("main").inner_text()
    page.emulate_media(media="print")
    expect(page.locator("header.site")).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_be_hidden()
    expect(page.locator("article.packing address bdi").first).to_be_visible()


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing_on_the_pages_of_orders(visits: Visits, axe: str, look: str) -> None:
    page = visits.window(bypass_csp=True, **LOOKS[look])
    add_to_cart(page, 0)
    found = {"/cart": faults(page, axe)}
    visits.site.log_in(page, "admin")
    page.goto("/admin/orders?status=all")
    order = str(page.locator("tbody th a").first.get_attribute("href"))
    packing = f"/admin/orders/packing?order={order.rpartition('/')[2]}"
    for path in ("/admin/orders?status=all", "/admin/orders/find?q=x", order, packing):
        page.goto(path)
        found[path] = faults(page, axe)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert {path: told for path, told in found.items() if told} == {}
