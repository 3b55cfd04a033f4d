"""The first deal of a list: noted from the stream, and the end of whoever reads on."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bigtime.model import get, verify
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.categories import fetch_category
from bigtime.systems.deals.deals import fetch_brand_deals
from bigtime.systems.deals.design import Deal, FirstDeal
from bigtime.systems.deals.first_deal import (
    ALL_DEALS,
    UNNOTED,
    fetch_first_deal,
    keep_first_deals,
    of_brand,
    of_category,
)
from bigtime.systems.deals.front_page import fetch_front_page, refresh_deals_cache
from bigtime.systems.deals.values import DealId
from bigtime.wire import Steps
from tests.store.places import START, Place
from tests.systems.deals.scene import deal, deals_of_days, dump, load, open_site, react


def everything(first: DealId) -> Steps[list[list[Deal]]]:
    """Every page of a brand, as somebody reads on who knows its first deal."""
    pages: list[list[Deal]] = []
    position = None
    while True:
        page = yield from fetch_brand_deals("APPLE", after=position, first=first)
        pages.append(page.items)
        position = page.position
        if position is None:
            return pages


def test_the_oldest_deal_of_each_list_is_noted(place: Place) -> None:
    apple = [deal(START - timedelta(days=age), age) for age in (3, 9, 5)]
    sony = deal(START - timedelta(days=7), 1, brand="Sony", category="Toys")
    load(place, [*apple, sony])
    react(place, keep_first_deals)
    firsts = {
        listed: place.run(fetch_first_deal(listed))
        for listed in (ALL_DEALS, of_brand("APPLE"), of_brand("SONY"), of_category("TOYS"))
    }
    assert firsts == {
        "DEALS": apple[1].deal_id,
        "BRAND APPLE": apple[1].deal_id,
        "BRAND SONY": sony.deal_id,
        "CATEGORY TOYS": sony.deal_id,
    }


def test_to_be_told_again_or_of_newer_deals_changes_nothing(place: Place) -> None:
    load(place, deals_of_days([2, 1]))
    react(place, keep_first_deals)
    before = [one for one in dump(place) if one["PK"]["S"].startswith("FIRSTDEAL")]
    load(place, [deal(START + timedelta(minutes=1), 77)])
    react(place, keep_first_deals, name="again")
    assert [one for one in dump(place) if one["PK"]["S"].startswith("FIRSTDEAL")] == before
    assert len(before) == 3
    assert place.run(verify(SYSTEM)) == []


def test_a_list_of_which_nothing_is_noted_is_looked_through_for_a_month(alone: Place) -> None:
    first = alone.run(fetch_first_deal(of_brand("APPLE")))
    assert abs(first.at - (alone.time.now - UNNOTED)) < timedelta(seconds=1)
    recent = deal(START - timedelta(days=20))
    load(alone, [recent])
    assert alone.run(everything(first)) == [[recent], []]
    assert alone.run(get(FirstDeal.key(ALL_DEALS))) is None


def test_an_empty_list_is_one_page_without_more(place: Place) -> None:
    open_site(place)
    for listed, steps in (
        (ALL_DEALS, lambda first: fetch_front_page(first=first)),
        (of_category("HOME"), lambda first: fetch_category("Home", first=first)),
    ):
        _, page = place.run(steps(place.run(fetch_first_deal(listed))))
        assert (page.items, page.position) == ([], None)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(gaps=st.lists(st.sampled_from([0, 0, 0, 0, 1, 4, 5, 6, 20]), max_size=40))
def test_no_page_is_empty_and_the_last_one_says_so(alone: Place, gaps: list[int]) -> None:
    """However many days lie between two deals, whoever reads on finds one on each page."""
    alone.time.now += timedelta(days=900)
    at, deals = alone.time.now, []
    for number, gap in enumerate([0, *gaps]):
        at -= timedelta(days=gap, minutes=1)
        deals.append(deal(at, number))
    load(alone, deals)
    react(alone, keep_first_deals, name=f"{alone.time.now}")
    pages = alone.run(everything(min(one.deal_id for one in deals)))
    assert [one for page in pages for one in page] == deals
    assert all(pages)


def test_exactly_one_page_of_deals_is_the_last_from_the_index_and_from_a_copy(
    place: Place,
) -> None:
    deals = deals_of_days([25])
    load(place, deals)
    first = deals[-1].deal_id
    for _ in range(2):
        _, page = place.run(fetch_front_page(first=first))
        assert (page.items, page.position) == (deals, None)
        place.run(refresh_deals_cache())
