"""`bigtime search`: indexes are asked, rebuilt and looked at."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.model import setup
from bigtime.store import open_store
from bigtime.systems import deals
from tests.cli.program import invoke


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("BIGTIME_SEARCH")
    setting = f"file:{tmp_path / 'shop.db'}"
    with open_store(setting) as opened:
        opened.run(setup(deals.SYSTEM))
        opened.run(deals.create_categories())
        opened.run(deals.create_brand("Sony"))
        for title, price in (("Noise cancelling headphones", 50), ("Wireless headphones", 20)):
            link = "https://shop.example/1"
            opened.run(deals.create_deal(title, link, Decimal(price), "Sony", "Electronics"))
    return setting


def test_an_index_is_missing_then_rebuilt_then_asked(store: str, tmp_path: Path) -> None:
    missing = invoke("search", "status", "deals", store=store)
    assert missing.exit_code == 1 and "missing" in missing.stdout
    nothing = invoke("search", "find", "deals", "headphones", store=store)
    assert nothing.exit_code == 1 and "Search is not available" in nothing.stderr

    built = invoke("search", "rebuild", "deals", store=store)
    assert built.exit_code == 0, built.output
    assert "deals: 2 documents" in built.stdout
    assert (tmp_path / "shop.db.search" / "deals").is_dir()

    status = invoke("search", "status", "deals", store=store)
    assert status.exit_code == 0 and "ready" in status.stdout and " s " in status.stdout
    found = invoke("search", "find", "deals", "headfones", "--sort", "price", store=store)
    assert found.exit_code == 0, found.output
    assert "No headfones; showing headphones." in found.stdout
    wireless, noise = (found.stdout.index(word) for word in ("Wireless", "Noise"))
    assert wireless < noise and "2 found, 2 shown" in found.stdout
    assert "brand: SONY 2" in found.stdout


def test_a_program_gets_json(store: str) -> None:
    assert invoke("search", "rebuild", "deals", store=store).exit_code == 0
    asked = ("search", "find", "deals", "wireless", "--filter", "brand=SONY", "--json")
    page = json.loads(invoke(*asked, store=store).stdout)
    assert page["total"] == 1 and page["facets"]["category"] == {"ELECTRONICS": 1}
    assert page["items"][0]["highlights"]["title"] == "<mark>Wireless</mark> headphones"


def test_another_place_is_an_option(store: str, tmp_path: Path) -> None:
    place = f"folder:{tmp_path / 'elsewhere'}"
    assert invoke("search", "rebuild", "deals", "--search", place, store=store).exit_code == 0
    assert (tmp_path / "elsewhere" / "deals").is_dir()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("find", "deals", "x", "--filter", "colour=red"), "is filtered by category, brand"),
        (("find", "deals", "x", "--sort", "colour"), "is sorted by created_at, price, discount"),
        (("find", "cart", "x"), "cart declares no search"),
        (("status", "deals", "--search", "nowhere"), "search must be a folder"),
        (("rebuild", "deals", "--index", "tenants"), "Choose one of the indexes"),
        (("find", "deals", "x", "--search", "off"), "Search is turned off"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    store: str, arguments: tuple[str, ...], words: str
) -> None:
    done = invoke("search", *arguments, store=store)
    assert done.exit_code in (1, 2) and words in done.stderr, done.output
