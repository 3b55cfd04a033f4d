"""Featured deals: how many, which ones, and how fresh."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from bigtime.model import Conflict, DomainError, Ksuid, delete, verify
from bigtime.store.driver import Exchange
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.brands import fetch_category
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import Deal, FeaturedDeal
from bigtime.systems.deals.errors import (
    FeaturedTwice,
    TooFewFeatured,
    TooManyFeatured,
    UnknownCategory,
    UnknownDeal,
    UnknownPage,
    WrongCategory,
)
from bigtime.systems.deals.featured import (
    Limits,
    PageName,
    fetch_editors_choice,
    follow_featured_deals,
    refresh_category_deals,
    refresh_page_deals,
    set_category_deals,
    set_editors_choice_deals,
    set_front_page_deals,
)
from bigtime.systems.deals.front_page import fetch_front_page
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.deals.scene import deals_of_days, dump, load, open_site, raw, react

DEALS = deals_of_days([12])
IDS = [deal.deal_id for deal in DEALS]


def titles(featured: list[FeaturedDeal]) -> list[str]:
    return [each.title for each in featured]


def test_pages_and_categories_show_what_editors_chose(place: Place) -> None:
    open_site(place)
    load(place, DEALS)

    place.run(set_front_page_deals(IDS[:10]))
    place.run(set_editors_choice_deals(IDS[3:4]))
    place.run(set_category_deals("home", IDS[5:10]))

    front, _ = place.run(fetch_front_page())
    category, _ = place.run(fetch_category("HOME"))
    assert titles(front.featured_deals) == [deal.title for deal in DEALS[:10]]
    assert titles(place.run(fetch_editors_choice()).featured_deals) == [DEALS[3].title]
    assert titles(category.featured_deals) == [deal.title for deal in DEALS[5:10]]
    assert place.run(verify(SYSTEM)) == []


def test_a_choice_takes_the_place_of_the_one_before(place: Place) -> None:
    open_site(place)
    load(place, DEALS)
    place.run(set_front_page_deals(IDS[:10]))
    place.run(set_front_page_deals(IDS[4:6]))
    front, _ = place.run(fetch_front_page())
    assert [featured_deal.deal_id for featured_deal in front.featured_deals] == IDS[4:6]


def test_the_editors_choice_is_stored_under_its_one_name(alone: Place) -> None:
    """B2: the longer name is understood, and stored nowhere."""
    load(alone, DEALS)
    alone.run(set_editors_choice_deals(IDS[:1]))
    assert raw(alone, "EDITORSCHOICE", "EDITORSCHOICE") is not None
    assert raw(alone, "EDITORSCHOICEPAGE", "EDITORSCHOICEPAGE") is None
    assert PageName("EDITORSCHOICEPAGE") is PageName.EDITORS_CHOICE


WRONG: dict[str, tuple[Callable[[], Steps[Any]], type[DomainError]]] = {
    "4 in a category": (lambda: set_category_deals("Home", IDS[:4]), TooFewFeatured),
    "11 in a category": (lambda: set_category_deals("Home", IDS[:11]), TooManyFeatured),
    "none on the front page": (lambda: set_front_page_deals([]), TooFewFeatured),
    "11 on the front page": (lambda: set_front_page_deals(IDS[:11]), TooManyFeatured),
    "no editor's choice": (lambda: set_editors_choice_deals([]), TooFewFeatured),
    "11 editor's choices": (lambda: set_editors_choice_deals(IDS[:11]), TooManyFeatured),
    "one twice": (lambda: set_front_page_deals([*IDS[:3], IDS[0]]), FeaturedTwice),
    "one unknown": (lambda: set_front_page_deals([*IDS[:3], Ksuid("0" * 27)]), UnknownDeal),
    "one that is no id": (
        lambda: set_front_page_deals([*IDS[:3], "no id"]),  # type: ignore[list-item]
        UnknownDeal,
    ),
    "of another category": (lambda: set_category_deals("Toys", IDS[:5]), WrongCategory),
    "in no category": (lambda: set_category_deals("Cars", IDS[:5]), UnknownCategory),
    "refreshed in no category": (lambda: refresh_category_deals("Cars"), UnknownCategory),
    "refreshed on no page": (
        lambda: refresh_page_deals("HOMEPAGE"),  # type: ignore[arg-type]
        UnknownPage,
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_choice_that_cannot_be_changes_nothing(alone: Place, what: str) -> None:
    steps, error = WRONG[what]
    open_site(alone)
    load(alone, DEALS)
    alone.run(set_front_page_deals(IDS[:2]))
    before = dump(alone)
    with pytest.raises(error):
        alone.run(steps())
    assert dump(alone) == before


def test_how_many_can_be_configured(alone: Place) -> None:
    """B30."""
    open_site(alone)
    load(alone, DEALS)
    alone.run(set_category_deals("Home", IDS[:12], limits=Limits(2, 12)))
    with pytest.raises(TooFewFeatured, match="at least 2 deals; 1"):
        alone.run(set_category_deals("Home", IDS[:1], limits=Limits(2, 12)))


def test_a_copy_stays_as_it_was_until_an_editor_refreshes_it(place: Place) -> None:
    """B31."""
    open_site(place)
    load(place, DEALS)
    place.run(set_front_page_deals(IDS[:2]))
    place.run(set_category_deals("Home", IDS[:5]))
    place.run(update_deal(IDS[0], price=Decimal("5.00")))

    front, _ = place.run(fetch_front_page())
    category, _ = place.run(fetch_category("Home"))
    assert front.featured_deals[0].price == category.featured_deals[0].price == Decimal("19.99")

    place.run(refresh_page_deals(PageName.FRONT_PAGE))
    place.run(refresh_category_deals("Home"))
    front, _ = place.run(fetch_front_page())
    category, _ = place.run(fetch_category("Home"))
    assert front.featured_deals[0].price == category.featured_deals[0].price == Decimal("5.00")
    assert [featured_deal.deal_id for featured_deal in front.featured_deals] == IDS[:2]


def test_to_refresh_nothing_is_nothing(alone: Place) -> None:
    open_site(alone)
    before = dump(alone)
    alone.run(refresh_page_deals(PageName.EDITORS_CHOICE))
    alone.run(refresh_category_deals("Home"))
    assert dump(alone) == before


def test_a_refresh_does_not_undo_a_choice_that_was_made_meanwhile(alone: Place) -> None:
    load(alone, DEALS)
    alone.run(set_front_page_deals(IDS[:2]))

    def choose_meanwhile(exchange: Exchange) -> None:
        if exchange.request.operation == "BatchGetItem":
            alone.store.hooks = ()
            alone.run(set_front_page_deals(IDS[5:7]))

    alone.store.hooks = (choose_meanwhile,)
    with pytest.raises(Conflict):
        alone.run(refresh_page_deals(PageName.FRONT_PAGE))
    front, _ = alone.run(fetch_front_page())
    assert [featured_deal.deal_id for featured_deal in front.featured_deals] == IDS[5:7]


# Copies follow their deals


def feature_everywhere(place: Place) -> None:
    open_site(place)
    load(place, DEALS)
    place.run(set_front_page_deals(IDS[:3]))
    place.run(set_editors_choice_deals(IDS[1:2]))
    place.run(set_category_deals("home", IDS[:5]))
    react(place, follow_featured_deals)


def featured_prices(place: Place) -> list[list[Decimal]]:
    front, _ = place.run(fetch_front_page())
    category, _ = place.run(fetch_category("HOME"))
    lists = front, place.run(fetch_editors_choice()), category
    return [[copy.price for copy in stored.featured_deals] for stored in lists]


def test_copies_follow_a_changed_deal_wherever_it_is_featured(place: Place) -> None:
    """B31, and a replay changes nothing."""
    feature_everywhere(place)
    old = DEALS[0].price
    place.run(update_deal(IDS[1], price=Decimal(11)))
    react(place, follow_featured_deals)
    assert featured_prices(place) == [[old, 11, old], [11], [old, 11, old, old, old]]
    before = dump(place)
    react(place, follow_featured_deals, name="again")
    assert dump(place) == before


def test_a_deal_that_is_deleted_is_no_longer_featured(place: Place) -> None:
    feature_everywhere(place)
    place.run(delete(Deal.key(IDS[1])))
    react(place, follow_featured_deals)
    assert [len(prices) for prices in featured_prices(place)] == [2, 0, 4]


def test_what_an_editor_publishes_meanwhile_is_not_lost(alone: Place) -> None:
    feature_everywhere(alone)
    alone.run(update_deal(IDS[1], price=Decimal(11)))

    def publish(exchange: Exchange) -> None:
        if "FRONTPAGE" in str(exchange.request.params):  # it was read, and is not written yet
            alone.store.hooks = ()
            alone.run(set_front_page_deals([IDS[7], IDS[1]]))

    alone.store.hooks = (publish,)
    react(alone, follow_featured_deals)
    front, _ = alone.run(fetch_front_page())
    assert [copy.deal_id for copy in front.featured_deals] == [IDS[7], IDS[1]]
    assert [copy.price for copy in front.featured_deals] == [DEALS[7].price, 11]
