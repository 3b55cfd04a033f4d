"""What an operator types for the systems that come with Bigtime, and what they are told."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from typer.testing import Result

from tests.cli.program import invoke

TRENDING = {
    "category_id": "electronics",
    "rank": "850.25",
    "deal_id": "deal-1",
    "title": "Headphones",
    "brand_id": "sony",
    "discount_percentage": "50",
    "views": 850,
    "clicks": 0,
}
NEW_DEAL = {
    "title": "A lamp",
    "link": "https://shop.example/lamp",
    "price": "19.99",
    "brand-name": "Acme",
    "category-name": "Home",
}


class Operator:
    """Somebody at a terminal, with a store of their own."""

    def __init__(self, store: str) -> None:
        self.store = store

    def does(self, pattern: str, **options: object) -> Result:
        typed_options = [f"--{name.replace('_', '-')}={each}" for name, each in options.items()]
        return invoke("run", pattern, *typed_options, store=self.store)

    def sees(self, pattern: str, **options: object) -> str:
        done = self.does(pattern, **options)
        assert done.exit_code == 0, done.output
        return done.stdout

    def gets(self, pattern: str, **options: object) -> Any:
        typed_options = [f"--{name.replace('_', '-')}={each}" for name, each in options.items()]
        done = invoke("run", pattern, *typed_options, "--json", store=self.store)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def is_refused(self, pattern: str, **options: object) -> str:
        """The code of the error."""
        done = self.does(pattern, **options)
        assert done.exit_code == 1, done.output
        assert done.stderr.endswith(")\n"), done.stderr
        return done.stderr.rstrip(")\n").rpartition("(")[2]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "shop.db"
    for system in ("deals", "cart", "catalog", "portal"):
        assert invoke("tables", "create", system, store=f"file:{path}").exit_code == 0
    return path


@pytest.fixture
def operator(tmp_path: Path, template: Path) -> Operator:
    return Operator(f"file:{copy(template, tmp_path / 'shop.db')}")


def test_a_line_is_moved_by_the_sort_key_that_a_view_shows(operator: Operator) -> None:
    operator.sees("cart.put_in_cart", account_id="liz", item_sku="a", price="12.50")
    (line,) = operator.gets("cart.view_products", account_id="liz", status="ACTIVE")["items"]
    assert line["sk"] in operator.sees("cart.view_products", account_id="liz", status="ACTIVE")
    moved = operator.gets("cart.move_line", account_id="liz", sk=line["sk"], status="SAVED")
    assert moved["status"] == "SAVED"


def test_a_line_that_was_removed_is_put_back_as_it_was_printed(operator: Operator) -> None:
    line = operator.gets("cart.put_in_cart", account_id="liz", item_sku="a", price="12.50")
    removed = operator.gets("cart.remove_line", account_id="liz", sk=line["sk"])
    assert operator.gets("cart.put_back", line=json.dumps(removed)) == line


def test_a_trending_deal_is_seen_with_its_score(operator: Operator) -> None:
    """D10: the rank is how it is stored; people see the whole number."""
    assert operator.is_refused(
        "catalog.record_engagement", trending=json.dumps(TRENDING), views=1
    ) == ("not-trending")
    deal = {
        "deal_id": "deal-1",
        "title": "Headphones",
        "description": "Over the ear",
        "price": "149.99",
        "brand_id": "sony",
        "brand_name": "Sony",
        "category_id": "electronics",
        "category_name": "Electronics",
        "posted_at": "2026-01-15T10:00:00Z",
        "status": "active",
    }
    operator.sees("catalog.create_deal", deal=json.dumps(deal))
    operator.sees("catalog.start_trending", deal_id="deal-1", discount_percentage=50, views=7)
    (seen,) = operator.gets("catalog.get_trending_by_category", category_id="electronics")["items"]
    assert seen["engagement_score"] == 7
    after = operator.gets("catalog.record_engagement", trending=json.dumps(seen), clicks=1)
    assert after["engagement_score"] == 12


def test_what_is_computed_may_be_typed_but_a_slip_is_told(operator: Operator) -> None:
    line = operator.gets("cart.put_in_cart", account_id="liz", item_sku="a", price="12.50")
    done = operator.does("cart.put_back", line=json.dumps({**line, "colour": "red"}))
    assert done.exit_code == 2
    assert "colour" in done.stderr


def test_a_time_zone_is_typed_by_its_name(operator: Operator) -> None:
    product = operator.gets(
        "portal.create_product", name="Plan", description="A plan", price="9.00",
        billing_cycle="monthly", by="admin",
    )  # fmt: skip
    operator.sees(
        "portal.create_campaign", code="SUMMER", description="Summer", discount_percentage=10,
        product_id=product["id"], terms_conditions_link="https://example.com/terms",
        from_date="2026-01-01", to_date="2999-12-31", by="admin",
    )  # fmt: skip
    told = operator.gets("portal.get_campaign", code="summer", zone="Africa/Johannesburg")
    assert told["is_valid"] is True
    done = operator.does("portal.get_campaign", code="summer", zone="Africa/Atlantis")
    assert done.exit_code == 2
    assert done.stderr == (
        "--zone: there is no time zone 'Africa/Atlantis'; one is called Africa/Johannesburg.\n"
    )


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", "empty-name"),
        (" ", "empty-name"),
        ("a#b", "forbidden-character"),
        ("x" * 101, "name-too-long"),
    ],
    ids=["empty", "of spaces", "with #", "overlong"],
)
def test_a_bad_name_is_refused_by_its_code(operator: Operator, name: str, code: str) -> None:
    assert operator.is_refused("deals.create_brand", name=name) == code
    assert operator.is_refused("deals.fetch_brand", brand_name=name) == code
    assert operator.gets("deals.fetch_all_brands") == []


BAD_DEALS = {
    "a price of 0": ("price", "0", "price-refused"),
    "a price of half a cent": ("price", "1.005", "price-refused"),
    "a price that is a word": ("price", "much", "price-refused"),
    "a list price of 0": ("list-price", "0", "price-refused"),
    "a list price below the price": ("list-price", "5", "no-discount"),
    "no title": ("title", "", "title-refused"),
    "an overlong title": ("title", "x" * 201, "title-refused"),
    "a link that runs": ("link", "javascript:alert(1)", "link-refused"),
    "an overlong description": ("description", "x" * 501, "description-refused"),
    "an unknown brand": ("brand-name", "Nokia", "unknown-brand"),
    "an unknown category": ("category-name", "Cars", "unknown-category"),
}


@pytest.mark.parametrize("what", BAD_DEALS)
def test_a_bad_deal_is_refused_by_its_code(operator: Operator, what: str) -> None:
    name, wrong, code = BAD_DEALS[what]
    operator.sees("deals.create_categories")
    operator.sees("deals.create_brand", name="Acme")
    assert operator.is_refused("deals.create_deal", **{**NEW_DEAL, name: wrong}) == code
    assert operator.gets("deals.fetch_brand_deals", brand_name="Acme")["items"] == []


def test_a_bad_address_is_refused_by_its_code(operator: Operator) -> None:
    assert operator.is_refused("deals.create_user", username="alex", email="alex") == (
        "email-refused"
    )
    assert operator.is_refused("deals.read_user", username="alex") == "unknown-user"
