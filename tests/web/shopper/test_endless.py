"""More deals, and more: until there are none, and then nothing says that there are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bigtime.model import load_many
from bigtime.site.cache_tags import LATEST, brand_deals_tag, category_deals_tag, tags_shown
from bigtime.systems.deals.design import Deal, FirstDeal
from bigtime.systems.deals.first_deal import note_first
from tests.web.browsing import Browser, Web, titles, words
from tests.web.conftest import old_deal

LISTS = ("/", "/categories/HOME", "/brands/APPLE")


def days_ago(*ages: int) -> list[Deal]:
    now = datetime.now(UTC).replace(microsecond=0)
    return [
        old_deal(now - timedelta(days=age, minutes=number), number)
        for number, age in enumerate(ages)
    ]


def write_down(web: Web, deals: list[Deal]) -> None:
    """Loads deals, newest first, and notes the oldest, as the second process does."""
    web.run(load_many(deals))
    web.run(note_first(deals[-1]))


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
    write_down(web, deals)
    pages = pages_from(visitor, path)
    assert [one for page in pages for one in page] == [deal.title for deal in deals]
    assert all(pages)


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("count", [24, 25, 50])
def test_after_the_last_deal_there_is_no_more(
    web: Web, visitor: Browser, path: str, count: int
) -> None:
    write_down(web, days_ago(*range(count)))
    pages = pages_from(visitor, path)
    assert [len(page) for page in pages if page] == [len(page) for page in pages]
    assert sum(map(len, pages)) == count


@pytest.mark.parametrize("path", LISTS)
def test_where_there_are_no_deals_there_is_no_more(visitor: Browser, path: str) -> None:
    assert pages_from(visitor, path) == [[]]


@pytest.mark.parametrize("path", LISTS)
def test_an_older_deal_that_is_loaded_later_is_found_as_well(
    web: Web, visitor: Browser, path: str
) -> None:
    write_down(web, days_ago(1))
    assert more_on(visitor, path) == ""
    (oldest,) = days_ago(500)
    write_down(web, [oldest])
    web.site.cache.clear()  # its keeper follows the data ten times a second
    assert titles(visitor.get(more_on(visitor, path)).text) == [oldest.title]


def test_a_page_is_made_anew_when_its_list_turns_out_to_be_longer() -> None:
    """The deal comes first, and that it is the oldest is noted later."""
    (deal,) = days_ago(500)
    noted = [FirstDeal(listed=one, deal_id=deal.deal_id)
             for one in ("DEALS", "BRAND CAST & CRUMB", "CATEGORY HOME")]  # fmt: skip
    assert [tag for one in noted for tag in tags_shown(one)] == [
        LATEST,
        brand_deals_tag("CAST & CRUMB"),
        category_deals_tag("HOME"),
    ]


def test_no_deals_in_a_list_are_told(visitor: Browser) -> None:
    assert "There are no deals yet." in words(visitor.get("/").text)
