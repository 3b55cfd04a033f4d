"""The page of a deal, and the way to its offer."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.web.browsing import Browser, Reader, words
from tests.web.conftest import PostDeal


def test_a_deal_says_what_it_costs_and_what_that_saves(
    visitor: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal(
        "Oak lamp", price=Decimal("19.99"), list_price=Decimal("29.99"), description="Warm light."
    )
    page = visitor.get(f"/deals/{deal.deal_id}")
    said = words(page.text)
    for part in ("Oak lamp", "Now $19.99", "was $29.99", "You save $10.00 (33%)",
                 "Warm light.", "Apple", "Home"):  # fmt: skip
        assert part in said
    assert f'<time datetime="{deal.created_at.isoformat()}">' in page.text
    assert {"/brands/APPLE", "/categories/HOME"} <= {*Reader(page.text).links}


def test_a_deal_without_a_list_price_claims_no_saving(
    visitor: Browser, post_deal: PostDeal
) -> None:
    said = words(visitor.get(f"/deals/{post_deal().deal_id}").text)
    assert "was" not in said and "You save" not in said and "% off" not in said


def test_the_offer_is_one_redirect_away_and_no_search_engine_follows(
    visitor: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal(link="https://shop.example/lamp?colour=red&size=1#top")
    address = f"/deals/{deal.deal_id}/go"
    page = visitor.get(f"/deals/{deal.deal_id}").text
    assert f'<a class="button" href="{address}" rel="nofollow sponsored">' in page
    assert deal.link not in page
    went = visitor.get(address)
    assert (went.status_code, went.headers["location"]) == (303, deal.link)
    assert went.headers["cache-control"] == "no-store"


def test_a_link_in_any_script_leads_somewhere(visitor: Browser, post_deal: PostDeal) -> None:
    deal = post_deal(link="https://shop.example/лампа")
    went = visitor.get(f"/deals/{deal.deal_id}/go")
    assert went.status_code == 303
    assert went.headers["location"].isascii()


@pytest.mark.parametrize("way", ["", "/go"])
@pytest.mark.parametrize("deal_id", ["0" * 27, "x", "%00", "a" * 300, "..%2F..%2Fetc"])
def test_no_deal_is_not_found(visitor: Browser, deal_id: str, way: str) -> None:
    missing = visitor.get(f"/deals/{deal_id}{way}")
    assert missing.status_code == 404
    assert missing.headers["content-type"] == "text/html; charset=utf-8"


def test_everybody_can_put_it_in_the_cart(
    visitor: Browser, alex: Browser, post_deal: PostDeal
) -> None:
    """Also who is not signed in, with a form that is the same for all of them."""
    deal_id = post_deal().deal_id
    path = f"/deals/{deal_id}"
    assert alex.form(path, "/cart/add").fields["deal_id"] == deal_id
    assert visitor.form(path, "/cart/add").fields == {"deal_id": deal_id}


def test_a_description_keeps_its_lines(visitor: Browser, post_deal: PostDeal) -> None:
    deal = post_deal(description="Brass.\n\nAnd <oak>.")
    page = visitor.get(f"/deals/{deal.deal_id}").text
    assert '<p class="lead lines">Brass.\n\nAnd &lt;oak&gt;.</p>' in page


def test_addresses_in_a_description_are_links(visitor: Browser, post_deal: PostDeal) -> None:
    text = "See https://lamps.example/oak?a=1&b=2 <b>, not javascript:alert(1)."
    page = visitor.get(f"/deals/{post_deal(description=text).deal_id}").text
    assert '<a href="https://lamps.example/oak?a=1&amp;b=2" rel="nofollow noopener">' in page
    assert "&lt;b&gt;, not javascript:alert(1)." in page


def test_a_deal_and_its_card_name_the_store_and_the_time(
    visitor: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal(link="https://www.lamps.example/brass?x=1")
    at = deal.created_at.isoformat()
    for path in ("/", f"/deals/{deal.deal_id}"):
        page = visitor.get(path).text
        assert "lamps.example" in words(page) and f'<time datetime="{at}">' in page
        assert "www.lamps" not in words(page)
