"""Where deals are featured: the front page, the editors' choice, and each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from bigtime.model import Kept, Page, Position, Steps, Write, get, together
from bigtime.systems.deals.categories import CATEGORIES
from bigtime.systems.deals.design import Category, Deal, EditorsChoice, FrontPage
from bigtime.systems.deals.errors import UnknownCategory
from bigtime.systems.deals.featured import (
    IN_A_CATEGORY,
    ON_A_PAGE,
    PAGES,
    Limits,
    PageName,
    choosing_for_category,
    choosing_for_page,
    copy_of,
)
from bigtime.systems.deals.front_page import all_days
from bigtime.systems.deals.latest import category_days, latest
from bigtime.systems.deals.values import DealId, category_key
from bigtime.web.tags import (
    EDITORS_CHOICE,
    FRONT_PAGE,
    LATEST,
    category_deals_tag,
    category_tag,
)

Featuring: TypeAlias = FrontPage | EditorsChoice | Category
"""What keeps featured deals."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place for featured deals: `path` leads to its form, `shown_at` to what everybody sees."""

    name: str
    of: PageName | str
    path: str
    shown_at: str
    tag: str
    limits: Limits

    @property
    def category(self) -> str | None:
        return None if isinstance(self.of, PageName) else self.of

    @property
    def listed(self) -> str:
        """The tag of the deals that could be featured there."""
        return LATEST if self.category is None else category_deals_tag(self.category)


FRONT: Final = Place(
    "Front page", PageName.FRONT_PAGE, "/editor/featured/front-page", "/", FRONT_PAGE, ON_A_PAGE
)
CHOICE: Final = Place(
    "Editor's choice",
    PageName.EDITORS_CHOICE,
    "/editor/featured/editors-choice",
    "/editors-choice",
    EDITORS_CHOICE,
    ON_A_PAGE,
)


def place_of_category(name: str) -> Place:
    key = category_key(name)
    return Place(
        name,
        key,
        f"/editor/featured/categories/{key}",
        f"/categories/{key}",
        category_tag(key),
        IN_A_CATEGORY,
    )


PLACES: Final = (FRONT, CHOICE, *map(place_of_category, CATEGORIES))


def featuring(place: Place) -> Steps[Featuring]:
    """What features deals there, as it is now."""
    if isinstance(place.of, PageName):
        page: Featuring = yield from PAGES[place.of].get(consistent=True)
        return page
    return (yield from get(Category.key(place.of), missing=UnknownCategory, consistent=True))


def outdated(chosen: Sequence[Deal], stored: Featuring) -> set[str]:
    """Deals that have changed since they were published there."""
    copies = {one.deal_id: one for one in stored.featured_deals}
    there = (deal for deal in chosen if deal.deal_id in copies)
    return {deal.deal_id for deal in there if copy_of(deal) != copies[deal.deal_id]}


def outdated_places(deal: Deal) -> Steps[list[Place]]:
    """Where a deal is featured as it was before it was changed."""
    places = [place for place in PLACES if place.category in (None, deal.category)]
    found = yield from together(*(featuring(place) for place in places))
    return [place for place, one in zip(places, found, strict=True) if outdated([deal], one)]


def choosing(place: Place, deal_ids: Sequence[DealId], seen: Featuring) -> Steps[Write[Any]]:
    """The write that features deals there instead of those that were seen."""
    if isinstance(seen, Category):
        return (yield from choosing_for_category(seen, deal_ids, limits=place.limits))
    assert isinstance(place.of, PageName)
    return (
        yield from choosing_for_page(place.of, deal_ids, seen.featured_deals, limits=place.limits)
    )


def latest_for(place: Place, after: Position | None, kept: Kept[Deal]) -> Steps[Page[Deal]]:
    """The latest deals that could be featured there."""
    days = all_days() if place.category is None else category_days(place.category)
    return (yield from latest(days, None, after=after, kept=kept))
