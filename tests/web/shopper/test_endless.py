"""More deals, and more: until there are none, and then nothing says that there are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bigtime.model import load_many
from bigtime.site.cache_tags import LATEST, brand_deals_tag, category_deals_tag, list_tags
from bigtime.systems.deals.design import Deal
from tests.web.browsing import Browser, Web, titles, words
from tests.web.conftest import old_deal

LISTS = ("/", "/categories/HOME", "/brands/APPLE")


def days_ago(*ages: int) -> list[Deal]:
    now = datetime.now(UTC).replace(microsecond=0)
    return [
        old_deal(now - timedelta(days=age, minutes=number), number)
        for number, age in enumerate(ages)
    ]


def more_on(visitor: Browser, path: str) -> str:
    return next((link for link in visitor.links(path) if "after=" in link), "")


def pages_from(visitor: Browser, path: str) -> list[list[str]]:
    """What is on each page, as somebody sees it who asks for more until there is none."""
    pages: list[list[str]] = []
    while path:
        pages.append(titles(visitor.get(path).text))
        path = more_on(visitor, path)
    return pages


@pytest.mark.parametrize("path", LISTS)
def test_every_page_has_a_deal_however_far_apart_they_are(
    web: Web, visitor: Browser, path: str
) -> None:
    deals = days_ago(1, 2, 40, 41, 400, 900)
    web.run(load_many(deals))
    assert pages_from(visitor, path) == [[deal.title for deal in deals]]


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("count", [24, 25, 50])
def test_after_the_last_deal_there_is_no_more(
    web: Web, visitor: Browser, path: str, count: int
) -> None:
    web.run(load_many(days_ago(*range(count))))
    pages = pages_from(visitor, path)
    assert [len(page) for page in pages] == [min(count, 25)] * (1 + count // 50)


@pytest.mark.parametrize("path", LISTS)
def test_where_there_are_no_deals_there_is_no_more(visitor: Browser, path: str) -> None:
    assert pages_from(visitor, path) == [[]]


@pytest.mark.parametrize("path", LISTS)
def test_an_older_deal_that_is_loaded_later_is_found_as_well(
    web: Web, visitor: Browser, path: str
) -> None:
    web.run(load_many(days_ago(*range(25))))
    assert more_on(visitor, path) == ""
    (oldest,) = days_ago(500)
    web.run(load_many([oldest]))
    web.site.cache.clear()  # its keeper follows the data ten times a second
    assert titles(visitor.get(more_on(visitor, path)).text) == [oldest.title]


def test_a_page_is_made_anew_when_its_list_has_another_deal() -> None:
    (deal,) = days_ago(500)
    assert {
        LATEST,
        brand_deals_tag(deal.brand),
        category_deals_tag(deal.category),
    } <= set(list_tags(deal))


def test_no_deals_in_a_list_are_told(visitor: Browser) -> None:
    assert "No deals right now." in words(visitor.get("/").text)
