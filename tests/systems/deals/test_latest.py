"""The latest deals, over the days: pages that join up, and end."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bigtime.model import CursorError, Cursors, Page, Position, verify
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.brands import fetch_category
from bigtime.systems.deals.deals import fetch_brand_deals
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.front_page import fetch_front_page
from tests.store.places import START, Place
from tests.systems.deals.scene import deal, deals_of_days, load, open_site

CURSORS = Cursors(["a secret for the tests, long enough"])


def front_deals(place: Place, after: Position | None = None) -> Page[Deal]:
    _, deals = place.run(fetch_front_page(after=after))
    return deals


def test_the_first_page_of_deals_is_not_empty(place: Place) -> None:
    """Deciding test 1 (B14)."""
    open_site(place)
    deals = deals_of_days([3])
    load(place, deals)

    category, of_category = place.run(fetch_category("home"))

    assert front_deals(place).items == deals
    assert of_category.items == deals and category.name == "Home"
    assert place.run(fetch_brand_deals("apple")).items == deals


def test_a_page_is_exactly_25_over_several_days_and_pages_join_up(place: Place) -> None:
    """Deciding test 2 (B16, B17)."""
    deals = deals_of_days([7, 0, 12, 20, 0, 0, 30])
    load(place, deals)

    first = front_deals(place)
    second = front_deals(place, first.position)
    third = front_deals(place, second.position)

    assert [len(page) for page in (first, second, third)] == [25, 25, 19]
    assert [*first, *second, *third] == deals
    assert place.run(verify(SYSTEM)) == []


def test_the_last_deal_seen_goes_on_where_a_position_does(place: Place) -> None:
    open_site(place)
    deals = deals_of_days([20, 20])
    load(place, deals)
    last = deals[24].deal_id

    _, front = place.run(fetch_front_page(last))
    _, category = place.run(fetch_category("Home", last))

    assert front.items == category.items == deals[25:]
    assert place.run(fetch_brand_deals("Apple", last)).items == deals[25:]


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(counts=st.lists(st.sampled_from([0, 0, 1, 3, 24, 25, 26]), min_size=1, max_size=12))
def test_pages_join_up_whatever_the_days_are_like(alone: Place, counts: list[int]) -> None:
    alone.time.now += timedelta(seconds=1)
    brand = f"Brand {alone.time.now:%M%S}"
    deals = deals_of_days(counts, newest=alone.time.now, brand=brand)
    load(alone, deals)

    found: list[Deal] = []
    position, pages = None, 0
    while len(found) < len(deals):
        page = alone.run(fetch_brand_deals(brand, after=position))
        found += page
        assert len(page) == 25 or page.position is None
        assert (page.position is None) == (len(found) == len(deals))
        position, pages = page.position, pages + 1

    assert found == deals
    assert pages == -(-len(deals) // 25)


def test_deals_that_appear_between_two_pages_move_nothing(place: Place) -> None:
    deals = deals_of_days([30, 5])
    load(place, deals)
    first = front_deals(place)
    load(place, [deal(START + timedelta(seconds=1), 9_999)])
    assert [*first, *front_deals(place, first.position)] == deals


def test_empty_days_are_not_asked_and_end_no_page(place: Place) -> None:
    """B18: who has read on can tell nothing more from nothing yet."""
    deals = deals_of_days([2, 0, 0, 0, 0, 0, 0, 1])
    load(place, deals)
    assert (front_deals(place).items, front_deals(place).position) == (deals, None)


def test_a_page_without_a_position_is_the_last(alone: Place) -> None:
    page = alone.run(fetch_brand_deals("Apple"))
    assert not page and page.position is None


def test_a_full_page_with_nothing_after_it_is_the_last(place: Place) -> None:
    deals = deals_of_days([20, 0, 5])
    load(place, deals)
    assert (front_deals(place).items, front_deals(place).position) == (deals, None)
    assert place.run(fetch_brand_deals("Apple")).position is None


def test_a_day_is_that_of_greenwich(alone: Place) -> None:
    """B19: a deal of a minute before midnight, and one of a minute after."""
    midnight = START.replace(hour=0, minute=0)
    deals = [deal(midnight + timedelta(minutes=1), 1), deal(midnight - timedelta(minutes=1), 2)]
    load(alone, deals)
    alone.time.now = midnight + timedelta(minutes=2)
    assert alone.run(fetch_brand_deals("APPLE")).items == deals


def test_a_cursor_that_was_touched_is_refused(place: Place) -> None:
    """Deciding test 11 (T23): the web answers it with 400."""
    load(place, deals_of_days([30]))
    cursor = CURSORS.write(front_deals(place).position)
    assert cursor is not None
    assert len(front_deals(place, CURSORS.read(cursor))) == 5

    middle = len(cursor) // 2
    other = "A" if cursor[middle] != "A" else "B"
    for touched in (cursor + "x", cursor[:-1], cursor[:middle] + other + cursor[middle + 1 :], ""):
        with pytest.raises(CursorError):
            CURSORS.read(touched)


def test_a_cursor_belongs_to_its_list(place: Place) -> None:
    open_site(place)
    load(place, deals_of_days([30]))
    of_front, of_apple = front_deals(place), place.run(fetch_brand_deals("Apple"))
    for steps in (
        fetch_brand_deals("Apple", after=of_front.position),
        fetch_brand_deals("Sony", after=of_apple.position),
        fetch_category("Home", after=of_apple.position),
        fetch_front_page(after=of_apple.position),
    ):
        with pytest.raises(CursorError):
            place.run(steps)
