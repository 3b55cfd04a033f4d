"""The prices of a deal on its page, and the deals beside it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count, pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import delete, update
from bigtime.store.driver import Exchange
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import MOST_PRICES, Deal, DealStatus
from bigtime.systems.deals.lifecycle import unpublish_deal
from bigtime.web.pages.charts import LEFT, RIGHT, SMALL_HEIGHT, SMALL_WIDTH, price_chart
from bigtime.web.pages.page_cache import TaggedCache
from bigtime.web.shop.deals import RELATED_SECONDS
from tests.web.browsing import Browser, Web, titles, words
from tests.web.conftest import PostDeal
from tests.web.portal.waiting import eventually

START = datetime(2026, 11, 1, tzinfo=UTC)


def related_titles(page: str) -> list[str]:
    _, _, rest = page.partition('id="related-deals"')
    return titles(rest)


# Prices


def test_a_deal_with_one_price_shows_no_chart(visitor: Browser, post_deal: PostDeal) -> None:
    page = visitor.get(f"/deals/{post_deal().deal_id}").text
    assert "Price history" not in page and 'class="chart"' not in page


def test_a_deal_shows_its_prices_as_a_chart_and_as_a_table(
    web: Web, visitor: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal()
    path = f"/deals/{deal.deal_id}"
    visitor.get(path)  # and that is kept
    for price in (15, 25):
        web.run(update_deal(deal.deal_id, price=Decimal(price)))

    eventually(lambda: "Price history" in visitor.get(path).text)

    page = visitor.get(path).text
    assert "Lowest price so far: $15.00 ," in words(page)
    (chart,) = re.findall(r"<svg viewBox.*?</svg>", page, re.DOTALL)[:1]
    tree = ElementTree.fromstring(chart)
    assert tree.findtext("title") == "Price history"
    assert "From $19.99 to $25.00 in 2 changes" in (tree.findtext("desc") or "")
    rows = re.findall(r'<td class="number">([^<]+)</td>', page)
    assert rows == ["$25.00", "$15.00", "$19.99"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [(1, "lowest price so far."), (25, f"lowest price of the last {MOST_PRICES}.")],
)
def test_the_present_price_may_be_the_lowest(
    web: Web, visitor: Browser, post_deal: PostDeal, changes: int, said: str
) -> None:
    deal = post_deal()
    for number in range(changes):
        web.run(update_deal(deal.deal_id, price=Decimal(15) - number / Decimal(2)))
    assert f"This is the {said}" in words(visitor.get(f"/deals/{deal.deal_id}").text)


@given(
    st.lists(
        st.tuples(st.integers(0, 10_000_000), st.decimals("0.01", "99999999", places=2)),
        min_size=2,
        max_size=MOST_PRICES,
    )
)
def test_every_point_of_a_chart_is_in_the_drawing(found: list[tuple[int, Decimal]]) -> None:
    changes = [(START + timedelta(seconds=at), price) for at, price in sorted(found)]
    chart = price_chart("Price history", changes)
    points = [tuple(map(float, point.split(","))) for point in chart.lines[0].points.split()]
    assert all(LEFT <= x <= SMALL_WIDTH - RIGHT for x, _ in points)
    assert all(0 <= y <= SMALL_HEIGHT for _, y in points)
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert 2 <= len(chart.levels) <= 8
    for (x, y), (next_x, next_y) in pairwise(points):
        assert x == next_x or y == next_y


@pytest.mark.parametrize(("count", "told"), [(1, "in 1 change,"), (2, "in 2 changes,")])
def test_a_chart_counts_its_changes(count: int, told: str) -> None:
    changes = [(START + timedelta(days=day), Decimal(day + 1)) for day in range(count + 1)]
    assert told in price_chart("Price history", changes).summary


@pytest.mark.parametrize(
    ("hours", "labels"),
    [
        (4, ["22:20 UTC", "23:26 UTC", "00:32 UTC", "01:38 UTC"]),
        (96, ["31 Oct", "2 Nov", "3 Nov", "4 Nov"]),
    ],
)
def test_a_chart_says_whole_times(hours: int, labels: list[str]) -> None:
    began = START - timedelta(minutes=100)
    changes = [(began, Decimal(9)), (began + timedelta(hours=hours), Decimal(8))]
    assert [label for _, label in sorted(price_chart("Price history", changes).days)] == labels


# Related deals


def test_related_deals_are_those_of_the_brand_then_those_of_the_category(
    visitor: Browser, post_deal: PostDeal
) -> None:
    lamp = post_deal()
    post_deal("A rug", brand_name="Cast & Crumb")
    post_deal("A pan", brand_name="Cast & Crumb", category_name="Kitchen")
    post_deal("A phone", category_name="Electronics")
    page = visitor.get(f"/deals/{lamp.deal_id}").text
    assert related_titles(page) == ["A phone", "A rug"]


def test_a_lone_deal_has_none(visitor: Browser, post_deal: PostDeal) -> None:
    assert "Related deals" not in visitor.get(f"/deals/{post_deal().deal_id}").text


def test_at_most_four_are_shown_and_never_the_deal_itself(
    visitor: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    deals = old_deals(6)
    page = visitor.get(f"/deals/{deals[1].deal_id}").text
    assert related_titles(page) == [deals[number].title for number in (0, 2, 3, 4)]


@pytest.mark.parametrize("change", ["new", "price", "gone", "expired", "unpublished"])
def test_a_page_that_is_kept_follows_its_related_deals(
    web: Web, visitor: Browser, post_deal: PostDeal, change: str
) -> None:
    lamp, rug = post_deal(), post_deal("A rug")
    path = f"/deals/{lamp.deal_id}"
    assert related_titles(visitor.get(path).text) == ["A rug"]
    if change == "new":
        post_deal("A chair")
        wanted = ["A chair", "A rug"]
    elif change == "price":
        web.run(update_deal(rug.deal_id, price=Decimal("7.77")))
        wanted = ["A rug"]
    elif change == "gone":
        web.run(delete(Deal.key(rug.deal_id)))
        wanted = []
    elif change == "expired":
        web.run(update(rug, status=DealStatus.EXPIRED))
        wanted = []
    else:
        web.run(unpublish_deal(rug.deal_id))
        wanted = []
    eventually(lambda: sorted(related_titles(visitor.get(path).text)) == wanted)
    eventually(lambda: ("$7.77" in visitor.get(path).text) is (change == "price"))


def test_a_page_with_all_its_related_deals_has_the_tags_of_deals_alone(
    web: Web, visitor: Browser, post_deal: PostDeal, old_deals: Callable[[int], list[Deal]]
) -> None:
    """A new deal of the brand leaves it; it shows the new one when its few minutes are over."""
    deals = old_deals(6)
    path = f"/deals/{deals[1].deal_id}"
    visitor.get(path)
    shown = [deals[number].deal_id for number in (1, 0, 2, 3, 4)]
    cache: TaggedCache[Any] = web.site.cache
    eventually(lambda: visitor.get(path) and path in cache._values)
    assert sorted(cache._values[path][2]) == sorted(f"deal {deal_id}" for deal_id in shown)
    post_deal("A chair")
    visits = count(1)

    def shows_the_new_one() -> bool:
        """Some minutes later each time: what is made before the stream is read is kept as long."""
        minutes = next(visits) * RELATED_SECONDS
        cache.clock = lambda: time.monotonic() + minutes
        return related_titles(visitor.get(path).text)[0] == "A chair"

    eventually(shows_the_new_one)


def test_a_hot_deal_asks_the_store_for_nothing(
    web: Web, visitor: Browser, alex: Browser, old_deals: Callable[[int], list[Deal]]
) -> None:
    """And another deal of the brand asks for itself, not for the lists again."""
    first, second, *_ = old_deals(8)
    for browser in (visitor, alex):
        browser.get(f"/deals/{first.deal_id}")
    sent: list[str] = []

    def note(exchange: Exchange) -> None:
        sent.append(exchange.request.operation)

    web.site.store.hooks = (*web.site.store.hooks, note)

    def look() -> list[str]:
        sent.clear()
        for browser in (visitor, alex):
            browser.get(f"/deals/{first.deal_id}")
        return sent

    # The caches hear of the deals that were loaded, and drop pages, at most a few times.
    assert any(look() == [] for _ in range(20))
    alex.get(f"/deals/{second.deal_id}")
    assert sent == ["GetItem"]
