"""The slots for featured deals: the front page, the editors' choice, and each category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from bigtime.model import Page, Position, Write, get, pattern, together
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
"""An item that holds featured deals."""


@dataclass(frozen=True, slots=True)
class FeaturedSlot:
    """A list of featured deals: `path` is that of its form, `public_path` that of its page."""

    name: str
    of: deals.PageName | str
    path: str
    public_path: str
    tag: str
    limits: deals.Limits

    @property
    def category(self) -> str | None:
        return None if isinstance(self.of, deals.PageName) else self.of

    @property
    def listed(self) -> str:
        """The cache tag of the deals that could be featured in it."""
        return ALL_DEALS if self.category is None else category_deals_tag(self.category)


FRONT_SLOT: Final = FeaturedSlot(
    "Front page",
    deals.PageName.FRONT_PAGE,
    "/editor/featured/front-page",
    "/",
    FRONT_PAGE,
    deals.ON_A_PAGE,
)
CHOICE_SLOT: Final = FeaturedSlot(
    "Editor's choice",
    deals.PageName.EDITORS_CHOICE,
    "/editor/featured/editors-choice",
    "/editors-choice",
    EDITORS_CHOICE,
    deals.ON_A_PAGE,
)


def category_slot(name: str) -> FeaturedSlot:
    key = deals.category_key(name)
    return FeaturedSlot(
        name,
        key,
        f"/editor/featured/categories/{key}",
        f"/categories/{key}",
        category_tag(key),
        deals.IN_A_CATEGORY,
    )


SLOTS: Final = (FRONT_SLOT, CHOICE_SLOT, *map(category_slot, deals.CATEGORIES))


SAMPLE_SLOT: Final = {"slot": FRONT_SLOT}


@pattern("Fetch Featured Deals of Slot", index="Main table", sample=SAMPLE_SLOT)
def fetch_featuring(slot: FeaturedSlot) -> Steps[Featuring]:
    """The item that holds them, strongly consistent."""
    if isinstance(slot.of, deals.PageName):
        page: Featuring = yield from deals.PAGES[slot.of].get(consistent=True)
        return page
    return (
        yield from get(deals.Category.key(slot.of), missing=deals.UnknownCategory, consistent=True)
    )


def outdated_ids(chosen: Sequence[deals.Deal], stored: Featuring) -> set[str]:
    """The ids of deals that have changed since they were featured."""
    copies = {copy.deal_id: copy for copy in stored.featured_deals}
    featured = (deal for deal in chosen if deal.deal_id in copies)
    return {deal.deal_id for deal in featured if deals.copy_of(deal) != copies[deal.deal_id]}


@pattern("Fetch Slots with outdated Copy of Deal", index="Main table")
def fetch_outdated_slots(deal: deals.Deal) -> Steps[list[FeaturedSlot]]:
    """Those that feature the deal as it was before it was changed."""
    slots = [slot for slot in SLOTS if slot.category in (None, deal.category)]
    found = yield from together(*(fetch_featuring(slot) for slot in slots))
    return [slot for slot, stored in zip(slots, found, strict=True) if outdated_ids([deal], stored)]


def feature_write(
    slot: FeaturedSlot, deal_ids: Sequence[deals.DealId], seen: Featuring
) -> Steps[Write[Any]]:
    """The write that features deals in a slot, if it still holds the ones that were seen."""
    if isinstance(seen, deals.Category):
        return (yield from deals.choosing_for_category(seen, deal_ids, limits=slot.limits))
    assert isinstance(slot.of, deals.PageName)
    return (
        yield from deals.choosing_for_page(
            slot.of, deal_ids, seen.featured_deals, limits=slot.limits
        )
    )


@pattern("Fetch latest Deals for Slot", index="GSI1", sample=SAMPLE_SLOT)
def fetch_latest_for_slot(
    slot: FeaturedSlot, *, after: Position | None = None
) -> Steps[Page[deals.Deal]]:
    """The deals that could be featured in it: all, or those of its category by GSI3."""
    days = deals.all_days() if slot.category is None else deals.category_days(slot.category)
    return (yield from deals.latest(days, after=after))
