"""Where deals are featured: the front page, the editors' choice, and each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from bigtime.model import Page, Position, Write, get, together
from bigtime.site.cache_tags import (
    ALL_DEALS,
    EDITORS_CHOICE,
    FRONT_PAGE,
    category_deals_tag,
    category_tag,
)
from bigtime.systems import deals
from bigtime.wire import Steps

Featuring: TypeAlias = deals.FrontPage | deals.EditorsChoice | deals.Category
"""What keeps featured deals."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place for featured deals: `path` leads to its form, `shown_at` to what everybody sees."""

    name: str
    of: deals.PageName | str
    path: str
    shown_at: str
    tag: str
    limits: deals.Limits

    @property
    def category(self) -> str | None:
        return None if isinstance(self.of, deals.PageName) else self.of

    @property
    def listed(self) -> str:
        """The tag of the deals that could be featured there."""
        return ALL_DEALS if self.category is None else category_deals_tag(self.category)


FRONT: Final = Place(
    "Front page",
    deals.PageName.FRONT_PAGE,
    "/editor/featured/front-page",
    "/",
    FRONT_PAGE,
    deals.ON_A_PAGE,
)
CHOICE: Final = Place(
    "Editor's choice",
    deals.PageName.EDITORS_CHOICE,
    "/editor/featured/editors-choice",
    "/editors-choice",
    EDITORS_CHOICE,
    deals.ON_A_PAGE,
)


def place_of_category(name: str) -> Place:
    key = deals.category_key(name)
    return Place(
        name,
        key,
        f"/editor/featured/categories/{key}",
        f"/categories/{key}",
        category_tag(key),
        deals.IN_A_CATEGORY,
    )


PLACES: Final = (FRONT, CHOICE, *map(place_of_category, deals.CATEGORIES))


def featuring(place: Place) -> Steps[Featuring]:
    """What features deals there, as it is now."""
    if isinstance(place.of, deals.PageName):
        page: Featuring = yield from deals.PAGES[place.of].get(consistent=True)
        return page
    return (
        yield from get(deals.Category.key(place.of), missing=deals.UnknownCategory, consistent=True)
    )


def outdated(chosen: Sequence[deals.Deal], stored: Featuring) -> set[str]:
    """Deals that have changed since they were published there."""
    copies = {one.deal_id: one for one in stored.featured_deals}
    there = (deal for deal in chosen if deal.deal_id in copies)
    return {deal.deal_id for deal in there if deals.copy_of(deal) != copies[deal.deal_id]}


def outdated_places(deal: deals.Deal) -> Steps[list[Place]]:
    """Where a deal is featured as it was before it was changed."""
    places = [place for place in PLACES if place.category in (None, deal.category)]
    found = yield from together(*(featuring(place) for place in places))
    return [place for place, one in zip(places, found, strict=True) if outdated([deal], one)]


def choosing(place: Place, deal_ids: Sequence[deals.DealId], seen: Featuring) -> Steps[Write[Any]]:
    """The write that features deals there instead of those that were seen."""
    if isinstance(seen, deals.Category):
        return (yield from deals.choosing_for_category(seen, deal_ids, limits=place.limits))
    assert isinstance(place.of, deals.PageName)
    return (
        yield from deals.choosing_for_page(
            place.of, deal_ids, seen.featured_deals, limits=place.limits
        )
    )


def latest_for(place: Place, after: Position | None) -> Steps[Page[deals.Deal]]:
    """The latest deals that could be featured there."""
    days = deals.all_days() if place.category is None else deals.category_days(place.category)
    return (yield from deals.latest(days, after=after))
