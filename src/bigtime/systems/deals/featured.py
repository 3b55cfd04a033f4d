"""Featured deals, chosen by editors for the front page, the editor's choice page or a category.

An editor sends all of them at once. A page holds copies of them, so that it takes one read. When a
deal changes, its copies are updated from the stream; an editor can also refresh all copies of a
page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.deals import design, errors
from bigtime.systems.deals.design import EDITORS_CHOICE, FRONT_PAGE
from bigtime.systems.deals.values import CategoryName, DealId, deal_id_of


@dataclass(frozen=True, slots=True)
class Limits:
    """How many deals an editor may feature."""

    least: int
    most: int


ON_A_PAGE: Final = Limits(1, 10)
IN_A_CATEGORY: Final = Limits(5, 10)
FIVE: Final = [bt.Ksuid(f"{number:027}") for number in range(5)]


class PageName(StrEnum):
    """A page with featured deals that is no category."""

    FRONT_PAGE = "FRONTPAGE"
    EDITORS_CHOICE = "EDITORSCHOICE"

    @classmethod
    def _missing_(cls, value: object) -> PageName:
        if value == "EDITORSCHOICEPAGE":
            return cls.EDITORS_CHOICE
        raise errors.UnknownPage()


@bt.pattern("Set Featured Deals for Front Page", index="N/A", takes="N/A")
def set_front_page_deals(
    deal_ids: list[DealId], *, limits: Limits = ON_A_PAGE
) -> bt.Steps[design.FrontPage]:
    """Editor; sends up all featured deals."""
    featured = yield from copies(deal_ids, limits)
    return (yield from FRONT_PAGE.update(featured_deals=featured))


@bt.pattern("Set Featured Deals for Category", index="N/A", takes="N/A", sample={"deal_ids": FIVE})
def set_category_deals(
    category_name: CategoryName, deal_ids: list[DealId], *, limits: Limits = IN_A_CATEGORY
) -> bt.Steps[design.Category]:
    """Editor; sends up all featured deals."""
    check_choice(deal_ids, limits)
    category = yield from bt.get(design.Category.key(category_name), missing=errors.UnknownCategory)
    featured = yield from copies(deal_ids, limits)
    check_category(category, featured)
    return (
        yield from bt.update(
            category.own_key(), featured_deals=featured, if_exists=errors.UnknownCategory
        )
    )


@bt.pattern("Set Featured Deals for Editor's Choice Page", index="N/A", takes="N/A")
def set_editors_choice_deals(
    deal_ids: list[DealId], *, limits: Limits = ON_A_PAGE
) -> bt.Steps[design.EditorsChoice]:
    """Editor; sends up all featured deals."""
    featured = yield from copies(deal_ids, limits)
    return (yield from EDITORS_CHOICE.update(featured_deals=featured))


@bt.pattern("Fetch Editor's Choice Page", index="Main table")
def fetch_editors_choice() -> bt.Steps[design.EditorsChoice]:
    """Editor's choice item."""
    return (yield from EDITORS_CHOICE.get())


@bt.pattern("Refresh Featured Deals of Page", index="Main table")
def refresh_page_deals(page_name: PageName) -> bt.Steps[design.FrontPage | design.EditorsChoice]:
    """Editor; the same deals, as they are now."""
    page = PAGES[PageName(page_name)]
    stored: design.FrontPage | design.EditorsChoice = yield from page.get(consistent=True)
    if stored.featured_deals:
        featured = yield from copies_of([copy.deal_id for copy in stored.featured_deals])
        stored = yield from page.update(
            featured_deals=featured, when=features(stored.featured_deals), otherwise=bt.Conflict
        )
    return stored


@bt.pattern("Refresh Featured Deals of Category", index="Main table")
def refresh_category_deals(category_name: CategoryName) -> bt.Steps[design.Category]:
    """Editor; the same deals, as they are now."""
    key = design.Category.key(category_name)
    stored = yield from bt.get(key, missing=errors.UnknownCategory, consistent=True)
    if not stored.featured_deals:
        return stored
    featured = yield from copies_of([copy.deal_id for copy in stored.featured_deals])
    return (yield from category_write(stored, featured))


# Updating the copies


@bt.reaction(design.BIG_TIME_DEALS, of=[design.Deal])
def follow_featured_deals(change: bt.Change[bt.Entity]) -> bt.Steps[None]:
    """Renews the copies of a deal that has changed.

    Those of a deal that is deleted or not published are removed; so is that of a category which it
    is not in any more.
    """
    event = change.of(design.Deal)
    if event is None or event.before is None:
        return
    deal = yield from bt.get(event.key, consistent=True)
    copy = copy_of(deal) if deal and deal.is_listed else None
    deal_id, category = event.before.deal_id, event.before.category
    yield from bt.together(
        *(replace_copy(page.key, deal_id, copy) for page in PAGES.values()),
        replace_copy(
            design.Category.key(category),
            deal_id,
            copy if copy and copy.category == category else None,
        ),
    )


def replace_copy(
    key: bt.Key[Any], deal_id: DealId, copy: design.FeaturedDeal | None
) -> bt.Steps[None]:
    """Replaces the deal's old copy, if it is featured there and the copy differs.

    After too many conflicts the stream's consumer handles the record again.
    """
    for is_last in (False, False, True):
        stored = yield from bt.get(key, consistent=True)
        held: list[design.FeaturedDeal] = stored.featured_deals if stored else []
        renewed = [copy if each.deal_id == deal_id else each for each in held]
        featured = [each for each in renewed if each is not None]
        if featured == held:
            return
        try:
            yield from bt.update(
                key, featured_deals=featured, when=features(held), otherwise=bt.Conflict
            )
        except bt.Conflict:
            if is_last:
                raise
        else:
            return


# Featuring


def choosing_for_page(
    page_name: PageName,
    deal_ids: Sequence[DealId],
    seen: list[design.FeaturedDeal],
    *,
    limits: Limits = ON_A_PAGE,
) -> bt.Steps[bt.Write[Any]]:
    """Features deals on a page, on condition that it still has those that were seen."""
    featured = yield from copies(deal_ids, limits)
    chosen: bt.Write[Any] = PAGES[page_name].update(
        featured_deals=featured, when=features(seen), otherwise=bt.Conflict
    )
    return chosen


def choosing_for_category(
    category: design.Category, deal_ids: Sequence[DealId], *, limits: Limits = IN_A_CATEGORY
) -> bt.Steps[bt.Write[design.Category]]:
    """The same for a category, as it was seen."""
    featured = yield from copies(deal_ids, limits)
    check_category(category, featured)
    return category_write(category, featured)


def category_write(
    category: design.Category, featured: list[design.FeaturedDeal]
) -> bt.Write[design.Category]:
    """Features deals in a category, on condition that it still has those that were seen."""
    return bt.update(
        category.own_key(),
        featured_deals=featured,
        if_exists=errors.UnknownCategory,
        when=features(category.featured_deals),
        otherwise=bt.Conflict,
    )


def copies(deal_ids: Sequence[DealId], limits: Limits) -> bt.Steps[list[design.FeaturedDeal]]:
    """Copies of the deals that an editor has chosen."""
    check_choice(deal_ids, limits)
    return (yield from copies_of(deal_ids))


def check_choice(deal_ids: Sequence[DealId], limits: Limits) -> None:
    count = len(deal_ids)
    if count < limits.least:
        raise errors.TooFewFeatured(f"Feature at least {limits.least} deals; {count} are too few.")
    if count > limits.most:
        raise errors.TooManyFeatured(f"Feature at most {limits.most} deals; {count} are too many.")
    if len(set(deal_ids)) < count:
        raise errors.FeaturedTwice()


def check_category(category: design.Category, featured: Sequence[design.FeaturedDeal]) -> None:
    for deal in featured:
        if deal.category != category.category:
            raise errors.WrongCategory(
                f"{category.name} features only deals of its own; take out {deal.title!r}, which is"
                f" in {deal.category_name}."
            )


def copies_of(deal_ids: Sequence[DealId]) -> bt.Steps[list[design.FeaturedDeal]]:
    keys = [design.Deal.key(deal_id_of(deal_id)) for deal_id in deal_ids]
    deals = yield from bt.get_many(keys, consistent=True)
    return [
        copy_of(require_deal(deal, deal_id)) for deal, deal_id in zip(deals, deal_ids, strict=True)
    ]


def require_deal(deal: design.Deal | None, deal_id: DealId) -> design.Deal:
    if deal is None or not deal.is_listed:
        raise errors.UnknownDeal(f"There is no deal {deal_id}; take it out.")
    return deal


def copy_of(deal: design.Deal) -> design.FeaturedDeal:
    fields = {name: getattr(deal, name) for name in design.FeaturedDeal.model_fields}
    status = None if deal.status is design.DealStatus.ACTIVE else deal.status
    return design.FeaturedDeal(**{**fields, "status": status})


def features(deals: list[design.FeaturedDeal]) -> bt.Condition:
    """The condition that these are still the featured deals; a new page has none."""
    chosen = bt.attr("featured_deals")
    return chosen == deals if deals else chosen.missing() | (chosen == deals)


PAGES: Final[dict[PageName, Any]] = {
    PageName.FRONT_PAGE: FRONT_PAGE,
    PageName.EDITORS_CHOICE: EDITORS_CHOICE,
}
