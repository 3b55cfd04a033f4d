"""Brands and categories: their lists and their pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bigtime.systems.deals.brands import CATEGORIES, create_brand
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.featured import set_category_deals
from tests.web.browsing import Browser, Web, titles, words
from tests.web.conftest import PostDeal

OldDeals = Callable[[int], list[Deal]]


def test_all_categories_are_listed_with_what_is_featured(
    web: Web, visitor: Browser, old_deals: OldDeals
) -> None:
    deals = old_deals(5)
    web.run(set_category_deals("Home", [deal.deal_id for deal in deals]))
    page = visitor.get("/categories").text
    assert [name for name in CATEGORIES if name in words(page)] == list(CATEGORIES)
    assert "Lamp 0, $19.99" in words(page)


def test_a_category_shows_what_is_featured_and_what_is_new(
    web: Web, visitor: Browser, old_deals: OldDeals
) -> None:
    deals = old_deals(33)
    web.run(set_category_deals("Home", [deal.deal_id for deal in deals[5:10]]))
    page = visitor.get("/categories/HOME").text
    assert titles(page) == [deal.title for deal in (*deals[5:10], *deals[:5], *deals[10:30])]
    (more,) = [link for link in visitor.links("/categories/HOME") if "after=" in link]
    assert titles(visitor.get(more).text) == [deal.title for deal in deals[30:]]
    assert titles(visitor.get("/categories/TOYS").text) == []


def test_brands_are_listed_under_their_letters(web: Web, visitor: Browser) -> None:
    for name in ("apricot", "3M", "Émile"):
        web.run(create_brand(name))
    said = words(visitor.get("/brands").text)
    assert "5 brands." in said
    assert "0-9 3M A Apple apricot C Cast & Crumb É Émile" in said
    links = visitor.links("/brands")
    assert {"/brands/CAST%20%26%20CRUMB", "/brands/3M", "/brands/%C3%89MILE"} <= {*links}


def test_brands_that_begin_with_no_letter_stand_together(web: Web, visitor: Browser) -> None:
    """Also those that come after Z: no letter stands over two lists."""
    for name in ("_under", "3M", "~tilde", "Zulu"):
        web.run(create_brand(name))
    said = words(visitor.get("/brands").text)
    assert said.count("0-9 ") == 2  # the letter and the list
    assert "0-9 3M _under ~tilde A Apple C Cast & Crumb Z Zulu" in said


def test_a_brand_shows_its_latest_deals(visitor: Browser, old_deals: OldDeals) -> None:
    deals = old_deals(30)
    page = visitor.get("/brands/APPLE").text
    assert titles(page) == [deal.title for deal in deals[:25]]
    assert "0 likes · 0 watches" in words(page)
    (more,) = [link for link in visitor.links("/brands/APPLE") if "after=" in link]
    assert titles(visitor.get(more).text) == [deal.title for deal in deals[25:]]


@pytest.mark.parametrize("name", ["A/B", "What?", "50% Off", "A & B", "naïve ☂", "a+b", "x;y"])
def test_a_brand_of_any_name_can_be_reached_from_the_list(
    web: Web, visitor: Browser, post_deal: PostDeal, name: str
) -> None:
    brand = web.run(create_brand(name))
    post_deal("A rug", brand_name=name)
    (link,) = [
        link
        for link in visitor.links("/brands")
        if "APPLE" not in link and "CAST" not in link and link.startswith("/brands/")
    ]
    page = visitor.get(link)
    assert page.status_code == 200, link
    assert titles(page.text) == ["A rug"]
    assert brand.name in words(page.text)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/brands/apple", "/brands/APPLE"),
        ("/brands/cast%20%26%20%20crumb", "/brands/CAST%20%26%20CRUMB"),
        ("/categories/Home", "/categories/HOME"),
        ("/trending/home", "/trending/HOME"),
    ],
)
def test_other_spellings_lead_to_the_one(visitor: Browser, path: str, where: str) -> None:
    moved = visitor.get(path)
    assert (moved.status_code, moved.headers["location"]) == (308, where)
    assert visitor.get(where).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/brands/NOPE", "/brands/%23", "/brands/%20", f"/brands/{'A' * 101}", "/brands/%00",
        "/categories/NOPE", "/categories/A%23B", "/trending/NOPE", "/trending/%23",
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found(visitor: Browser, path: str) -> None:
    assert visitor.get(path).status_code == 404
