"""An editor's picture, from the file on their machine to the cards that shoppers see."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.pictures import images
from tests.web.browser.conftest import Visits
from tests.web.browser.test_access import faults

pytestmark = pytest.mark.walk

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.jpg"
    path.write_bytes(images.jpeg(1600, 1200, quality=90))
    return path


def is_drawn(page: Page, selector: str) -> bool:
    """Whether the browser has decoded the picture there."""
    script = "image => image.complete && image.naturalWidth > 0"
    return bool(page.locator(selector).first.evaluate(script))


def new_deal(page: Page, title: str) -> None:
    page.goto("/editor/deals/new")
    page.get_by_label("Brand").fill("Lumora")
    page.get_by_label("Category").select_option("ELECTRONICS")
    page.get_by_label("Title").fill(title)
    page.get_by_label("Price in $", exact=True).fill("12.50")
    page.get_by_label("Link to the offer").fill("https://shop.example/lamp")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_is_uploaded_and_seen(visits: Visits, photo: Path, axe: str, scheme: str) -> None:
    desk = visits.window(color_scheme=scheme, viewport=PHONE if scheme == "dark" else None)
    visits.site.log_in(desk, "editor")
    title = f"A lamp in the {scheme}"
    new_deal(desk, title)
    desk.get_by_label("Picture").set_input_files(photo)
    desk.get_by_role("button", name="Publish").click()
    expect(desk.get_by_role("status").first).to_contain_text("Deal published.")
    expect(desk.locator("#picture-state img")).to_be_visible()  # once the worker has prepared it
    assert is_drawn(desk, "#picture-state img")
    assert faults(desk, axe) == []
    page = visits.window(color_scheme=scheme, viewport=PHONE)
    page.goto("/")
    card = page.locator(".card", has_text=title).first
    card.scroll_into_view_if_needed()
    image = card.locator("img")
    expect(image).to_have_attribute("srcset", re.compile(r"/pictures/\w{32}/320\.webp 320w"))
    expect(image).to_have_js_property("complete", True)
    page.get_by_role("link", name=title).first.click()
    shown = page.get_by_role("img", name=title)
    expect(shown).to_be_visible()
    assert is_drawn(page, ".deal .photo img")
    assert shown.evaluate("image => image.getBoundingClientRect().right <= innerWidth")
    assert faults(page, axe) == []


def test_a_picture_is_replaced_and_removed_by_keyboard_and_typed_text_stays(
    visits: Visits, photo: Path
) -> None:
    desk = visits.window()
    visits.site.log_in(desk, "editor")
    new_deal(desk, "A lamp to be changed")
    desk.get_by_role("button", name="Publish").click()
    expect(desk.locator("#picture-state")).to_contain_text("No picture yet.")
    desk.get_by_label("Title").fill("A lamp half typed")
    photo.with_name("bad.jpg").write_bytes(photo.read_bytes() + b"PK\x03\x04 and more")
    desk.get_by_label("New picture").set_input_files(photo.with_name("bad.jpg"))
    desk.get_by_role("button", name="Upload picture").focus()
    desk.keyboard.press("Enter")
    expect(desk.get_by_label("New picture")).to_have_accessible_description(
        re.compile("something else in it")
    )
    expect(desk.get_by_label("Title")).to_have_value("A lamp half typed")
    desk.get_by_label("New picture").set_input_files(photo)
    desk.get_by_role("button", name="Upload picture").press("Enter")
    expect(desk.get_by_role("status").first).to_contain_text("not saved yet")
    expect(desk.locator("#picture-state img")).to_be_visible()
    expect(desk.get_by_label("Title")).to_have_value("A lamp half typed")
    desk.get_by_role("button", name="Remove picture").press("Enter")
    expect(desk.get_by_role("status").first).to_contain_text("Picture removed.")
    expect(desk.locator("#picture-state img")).to_have_count(0)


def test_a_logo_is_uploaded_without_a_script(visits: Visits, photo: Path) -> None:
    page = visits.window(java_script_enabled=False, viewport=PHONE)
    visits.site.log_in(page, "editor")
    page.goto("/editor/brands/LUMORA/picture")
    page.get_by_label("New logo").set_input_files(photo)
    page.get_by_role("button", name="Upload logo").click()
    expect(page.get_by_role("status").first).to_contain_text("Logo uploaded.")
    for _ in range(30):
        if not page.get_by_text("being prepared").count():
            break
        page.wait_for_timeout(1_000)
        page.reload()
    page.goto("/brands/LUMORA")
    expect(page.get_by_role("img", name="Lumora logo")).to_be_visible()
