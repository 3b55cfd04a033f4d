"""RSS feeds of the lists of deals."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from email.utils import format_datetime, parsedate_to_datetime
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import update
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import Deal, DealStatus
from bigtime.web.shop.feeds import element
from tests.web.browsing import Browser, Web
from tests.web.conftest import PostDeal
from tests.web.portal.waiting import eventually

FEEDS = {
    "/": "/feed",
    "/brands/APPLE": "/brands/APPLE/feed",
    "/brands/CAST%20%26%20CRUMB": "/brands/CAST%20%26%20CRUMB/feed",
    "/categories/HOME": "/categories/HOME/feed",
}
SELF = "{http://www.w3.org/2005/Atom}link"


def channel(browser: Browser, path: str) -> ElementTree.Element:
    answer = browser.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/rss+xml"
    tree = ElementTree.fromstring(answer.content)
    assert (tree.tag, tree.get("version")) == ("rss", "2.0")
    found = tree.find("channel")
    assert found is not None
    return found


def texts(found: ElementTree.Element, name: str) -> list[str]:
    return [item.findtext(name) or "" for item in found.iter("item")]


@pytest.mark.parametrize("page", FEEDS)
def test_a_feed_is_valid_and_its_page_leads_to_it(
    visitor: Browser, post_deal: PostDeal, page: str
) -> None:
    """What the RSS specification requires of a channel and its items."""
    brand = "Cast & Crumb" if "CRUMB" in page else "Apple"
    deal = post_deal("A <lamp> & more", brand_name=brand, description="Oak.\nNew.")
    assert 'type="application/rss+xml" title="' in visitor.get(page).text
    assert f'href="{FEEDS[page]}"' in visitor.get(page).text
    found = channel(visitor, FEEDS[page])
    assert all(found.findtext(name) for name in ("title", "link", "description"))
    base = (found.findtext("link") or "").removesuffix(page)
    assert base.startswith("http://")
    own = found.find(SELF)
    assert own is not None and own.get("href") == f"{base}{FEEDS[page]}"
    (item,) = found.iter("item")
    assert item.findtext("title") == "A <lamp> & more: $19.99"
    assert item.findtext("link") == item.findtext("guid") == f"{base}/deals/{deal.deal_id}"
    assert parsedate_to_datetime(item.findtext("pubDate") or "") == deal.created_at
    assert "<p>Oak.\nNew.</p>" in (item.findtext("description") or "")


def test_a_list_has_its_own_deals_newest_first(
    visitor: Browser, post_deal: PostDeal, old_deals: Callable[[int], list[Deal]]
) -> None:
    deals = old_deals(30)
    post_deal("A pan", brand_name="Cast & Crumb", category_name="Kitchen")
    wanted = [f"{deal.title}: $19.99" for deal in deals]
    assert texts(channel(visitor, "/feed"), "title") == ["A pan: $19.99", *wanted[:24]]
    assert texts(channel(visitor, "/brands/APPLE/feed"), "title") == wanted[:25]
    assert texts(channel(visitor, "/categories/KITCHEN/feed"), "title") == ["A pan: $19.99"]
    assert texts(channel(visitor, "/categories/TOYS/feed"), "title") == []


def test_what_is_not_there_has_no_feed(visitor: Browser) -> None:
    for path in ("/brands/NOPE/feed", "/categories/NOPE/feed", "/brands/%23/feed"):
        assert visitor.get(path).status_code == 404
    moved = visitor.get("/brands/apple/feed")
    assert (moved.status_code, moved.headers["location"]) == (308, "/brands/APPLE/feed")


@pytest.mark.parametrize("path", ["/feed", "/brands/APPLE/feed", "/categories/HOME/feed"])
def test_a_feed_that_is_kept_follows_its_list(
    web: Web, visitor: Browser, post_deal: PostDeal, path: str
) -> None:
    assert texts(channel(visitor, path), "title") == []
    deal = post_deal()
    eventually(lambda: texts(channel(visitor, path), "title") == ["A lamp: $19.99"])
    web.run(update_deal(deal.deal_id, price=Decimal(5)))
    eventually(lambda: texts(channel(visitor, path), "title") == ["A lamp: $5.00"])


def test_an_expired_deal_is_told_from_others(
    web: Web, visitor: Browser, post_deal: PostDeal
) -> None:
    web.run(update(post_deal(), status=DealStatus.EXPIRED))
    assert texts(channel(visitor, "/feed"), "title") == ["Expired: A lamp: $19.99"]


def test_who_has_a_feed_is_not_sent_it_again(
    web: Web, visitor: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal()
    first = visitor.get("/feed")
    tag, date = first.headers["etag"], first.headers["last-modified"]
    later = format_datetime(parsedate_to_datetime(date) + timedelta(days=1), usegmt=True)
    earlier = format_datetime(parsedate_to_datetime(date) - timedelta(days=1), usegmt=True)
    for headers, status in (
        ({"if-none-match": tag}, 304),
        ({"if-none-match": f'"x", W/{tag}'}, 304),
        ({"if-none-match": "*"}, 304),
        ({"if-none-match": '"x"'}, 200),
        ({"if-none-match": '"x"', "if-modified-since": later}, 200),
        ({"if-modified-since": date}, 304),
        ({"if-modified-since": later}, 304),
        ({"if-modified-since": earlier}, 200),
        ({"if-modified-since": "yesterday"}, 200),
        ({"if-modified-since": "Sun Nov  6 08:49:37 1994"}, 200),
    ):
        answer = visitor.get("/feed", headers=headers)
        assert (answer.status_code, bool(answer.content)) == (status, status == 200), headers
        assert answer.headers["etag"] == tag
    web.run(update_deal(deal.deal_id, price=Decimal(5)))
    eventually(lambda: visitor.get("/feed", headers={"if-none-match": tag}).status_code == 200)


@given(st.text())
def test_any_text_is_xml(text: str) -> None:
    found = ElementTree.fromstring(element("title", text)).text or ""
    assert [char for char in found if char.isprintable()] == [
        char for char in text if char.isprintable()
    ]
