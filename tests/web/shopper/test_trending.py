"""Trending deals: by category, the highest first, as the catalogue has them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from bigtime.model import load_many
from bigtime.systems.catalog.design import TrendingDeal, rank_of
from bigtime.systems.catalog.trending import record_engagement
from bigtime.systems.deals.design import Deal
from tests.web.browsing import Browser, Web, titles, words
from tests.web.portal.waiting import eventually

OldDeals = Callable[[int], list[Deal]]


def place(deal_id: str, *, views: int, clicks: int = 0) -> TrendingDeal:
    return TrendingDeal(
        category_id="HOME",
        rank=rank_of(views + 5 * clicks, deal_id),
        deal_id=deal_id,
        title="As it was",
        brand_id="APPLE",
        discount_percentage=Decimal(33),
        views=views,
        clicks=clicks,
    )


def test_the_highest_comes_first_and_says_why(
    web: Web, visitor: Browser, old_deals: OldDeals
) -> None:
    deals = old_deals(3)
    told = [(0, 10, 0), (1, 1_200, 3), (2, 70, 1)]
    web.run(load_many([place(deals[n].deal_id, views=v, clicks=c) for n, v, c in told]))
    for path in ("/trending", "/trending/HOME"):
        page = visitor.get(path).text
        assert titles(page) == ["Lamp 1", "Lamp 2", "Lamp 0"]
        assert "1,200 views, 3 clicks" in words(page) and "70 views, 1 click " in words(page)


def test_deals_can_be_asked_for_by_their_score(
    web: Web, visitor: Browser, old_deals: OldDeals
) -> None:
    deals = old_deals(3)
    web.run(load_many([place(deals[n].deal_id, views=v) for n, v in enumerate((99, 100, 101))]))
    assert titles(visitor.get("/trending/HOME?least=100").text) == ["Lamp 2", "Lamp 1"]
    assert titles(visitor.get("/trending/HOME?least=1000").text) == []


@pytest.mark.parametrize("least", ["-1", "x", "1e3", str(10**10), ""])
def test_a_score_that_is_none_is_refused(visitor: Browser, least: str) -> None:
    assert visitor.get(f"/trending/HOME?least={least}").status_code in (400, 422)


def test_pages_of_a_trend_join_up(web: Web, visitor: Browser, old_deals: OldDeals) -> None:
    deals = old_deals(40)
    web.run(load_many([place(deal.deal_id, views=500 - n) for n, deal in enumerate(deals)]))
    for path in ("/trending/HOME", "/trending/HOME?least=100"):
        first = visitor.get(path).text
        (more,) = [link for link in visitor.links(path) if link.startswith("?after=")]
        rest = visitor.get(f"/trending/HOME{more}").text
        assert titles(first) + titles(rest) == [deal.title for deal in deals]


def test_a_deal_at_another_rank_is_shown_there(
    web: Web, visitor: Browser, old_deals: OldDeals
) -> None:
    first, second = old_deals(2)
    web.run(load_many([place(first.deal_id, views=9), place(second.deal_id, views=8)]))
    for path in ("/trending", "/trending/HOME"):
        assert titles(visitor.get(path).text) == ["Lamp 0", "Lamp 1"]
    web.run(record_engagement(place(second.deal_id, views=8), views=2))
    eventually(lambda: titles(visitor.get("/trending").text) == ["Lamp 1", "Lamp 0"])
    assert titles(visitor.get("/trending/HOME").text) == ["Lamp 1", "Lamp 0"]


def test_a_deal_that_is_gone_is_left_out(web: Web, visitor: Browser, old_deals: OldDeals) -> None:
    (deal,) = old_deals(1)
    places = [
        place("deal-0000001", views=9),
        place("0" * 27, views=8),
        place(deal.deal_id, views=1),
    ]
    web.run(load_many(places))
    assert titles(visitor.get("/trending/HOME").text) == ["Lamp 0"]


def test_nothing_trends_on_a_new_site(visitor: Browser) -> None:
    assert "Nothing is trending yet." in words(visitor.get("/trending").text)
    assert "Nothing trending in Toys yet." in words(visitor.get("/trending/TOYS").text)
