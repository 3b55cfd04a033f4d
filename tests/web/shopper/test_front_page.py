"""The front page: what is featured, what is new, and more of it."""

from __future__ import annotations

import re
from collections.abc import Callable

from bigtime.model import update
from bigtime.systems.deals.design import Deal, Picture
from bigtime.systems.deals.featured import set_editors_choice_deals, set_front_page_deals
from tests.web.browsing import Browser, Web, titles, words


def test_an_empty_site_says_so(visitor: Browser) -> None:
    page = visitor.get("/")
    assert page.status_code == 200
    assert "No deals right now." in words(page.text)
    assert 'id="featured"' not in page.text


def test_featured_deals_come_before_the_latest(
    web: Web, visitor: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    deals = old_deals(3)
    web.run(set_front_page_deals([deals[2].deal_id]))
    page = visitor.get("/").text
    assert titles(page) == ["Lamp 2", "Lamp 0", "Lamp 1"]
    assert page.index('id="featured"') < page.index('id="latest"')


def test_the_large_card_asks_for_a_picture_of_its_width(
    web: Web, visitor: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    deals = old_deals(3)
    picture = Picture.make("0" * 32, [200, 400, 800], 600)
    for deal in deals:
        web.run(update(deal, picture=picture))
    web.run(set_front_page_deals([deals[1].deal_id, deals[2].deal_id]))
    sizes = re.findall('sizes="([^"]*)"', visitor.get("/").text)
    assert ["37rem" in each for each in sizes] == [True, False, False]


def test_more_goes_on_to_the_last_deal_without_gap_or_repeat(
    visitor: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    deals = old_deals(60)
    found: list[str] = []
    path = "/"
    while path:
        page = visitor.get(path)
        assert page.status_code == 200
        found += titles(page.text)
        path = next((link for link in visitor.links(path) if link.startswith("/?after=")), "")
    assert found == [deal.title for deal in deals]


def test_only_the_first_page_has_what_is_featured(
    web: Web, visitor: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    deals = old_deals(30)
    web.run(set_front_page_deals([deals[0].deal_id]))
    (more,) = [link for link in visitor.links("/") if link.startswith("/?after=")]
    assert titles(visitor.get(more).text) == [deal.title for deal in deals[26:]]


def test_what_is_featured_is_not_latest_too_and_no_deal_is_skipped(
    web: Web, visitor: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    """Of the featured deals one is on the second page, where it is among the latest."""
    deals = old_deals(70)
    featured = [*deals[0:12:2], deals[24], deals[40]]
    web.run(set_front_page_deals([deal.deal_id for deal in featured]))
    first = titles(visitor.get("/").text)
    assert first[:8] == [deal.title for deal in featured]
    wanted = [deal.title for deal in deals if deal not in featured[:7]]
    assert first[8:] == wanted[:25]
    (more,) = [link for link in visitor.links("/") if link.startswith("/?after=")]
    assert titles(visitor.get(more).text) == wanted[25:50]


def test_a_front_page_whose_deals_are_all_featured_ends_there(
    web: Web, visitor: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    deals = old_deals(3)
    web.run(set_front_page_deals([deal.deal_id for deal in deals]))
    page = visitor.get("/").text
    assert len(titles(page)) == 3 and 'id="latest"' not in page


def test_a_cursor_that_is_not_ours_is_refused(
    visitor: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    old_deals(30)
    (more,) = [link for link in visitor.links("/") if link.startswith("/?after=")]
    cursor = more.removeprefix("/?after=")
    for path in ("/?after=", "/?after=x", f"/?after={cursor}x", f"/brands/APPLE?after={cursor}"):
        refused = visitor.get(path)
        assert refused.status_code == 400
        assert refused.headers["content-type"].startswith("text/html")


def test_every_category_is_one_link_away(visitor: Browser) -> None:
    links = visitor.links("/")
    assert {"/categories/ELECTRONICS", "/categories/BEAUTY", "/categories", "/brands"} <= {*links}


def test_the_editors_choice_shows_what_they_chose(
    web: Web, visitor: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    assert "No picks yet." in words(visitor.get("/editors-choice").text)
    deals = old_deals(4)
    web.run(set_editors_choice_deals([deals[3].deal_id, deals[1].deal_id]))
    web.site.cache.clear()
    assert titles(visitor.get("/editors-choice").text) == ["Lamp 3", "Lamp 1"]
