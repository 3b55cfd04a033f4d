"""The pictures in the guides: each is kept, shown and small, and they can all be taken again."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser

from tests.web.browser.served import Served

ROOT = Path(__file__).parents[3]
PICTURES = ROOT / "docs" / "screenshots"
WALK = (ROOT / "docs" / "site.md").read_text()
MOST_BYTES = 150_000
MOST_BYTES_OF_ALL = 2_000_000
MAIN_PAGES = {
    "front-page", "front-page-dark", "front-page-phone", "brand", "deal", "deal-phone", "inbox",
    "cart", "order", "desk", "new-deal", "featured", "hot-deal", "pricing", "campaign", "admin",
    "tenants", "history", "api", "orders", "saved",
}  # fmt: skip


def names_in(folder: Path) -> set[str]:
    return {picture.stem for picture in folder.glob("*.png")}


def shown_in(guide: str) -> set[str]:
    return set(re.findall(r"screenshots/([\w-]+)\.png", guide))


def test_each_main_page_has_a_picture_that_is_shown() -> None:
    assert names_in(PICTURES) == MAIN_PAGES
    assert shown_in(WALK) == MAIN_PAGES


def test_every_picture_in_the_guides_is_kept_and_described() -> None:
    for guide in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = guide.read_text()
        assert shown_in(text) <= MAIN_PAGES, guide.name
        alternatives = re.findall(r"!\[(.*?)\]\([^)]*screenshots/", text)
        assert all(len(alternative) >= 10 for alternative in alternatives), guide.name


def test_pictures_are_small() -> None:
    sizes = {picture.name: picture.stat().st_size for picture in PICTURES.glob("*.png")}
    assert max(sizes.values()) < MOST_BYTES
    assert sum(sizes.values()) < MOST_BYTES_OF_ALL


def test_pictures_on_a_phone_are_as_wide_as_one() -> None:
    for picture in PICTURES.glob("*.png"):
        width, _ = struct.unpack(">II", picture.read_bytes()[16:24])
        assert (width == 360) is picture.stem.endswith("-phone"), picture.name


@pytest.mark.walk
def test_the_pictures_can_be_taken_again(chromium: Browser, tmp_path: Path) -> None:
    """As `make screenshots` does; that there is a browser is what the fixture is asked for."""
    program = [sys.executable, "docs/screenshots.py", str(tmp_path)]
    done = subprocess.run(
        program, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert names_in(tmp_path) == MAIN_PAGES


@pytest.mark.walk
def test_every_page_that_the_walk_names_is_there(served_site: Served) -> None:
    pages = set(re.findall(r"`(/[\w/.-]*[\w])`", WALK))
    assert {"/editor", "/admin/tenants", "/openapi.json"} <= pages
    with httpx.Client(base_url=served_site.url, timeout=60) as visitor:
        answers = {page: visitor.get(page).status_code for page in sorted(pages)}
    assert {page: status for page, status in answers.items() if status in (404, 500)} == {}


@pytest.mark.walk
def test_the_logins_that_the_walk_names_are_the_demo_logins(served_site: Served) -> None:
    assert set(re.findall(r"`(\w+)@example\.com`", WALK)) == served_site.passwords.keys()
