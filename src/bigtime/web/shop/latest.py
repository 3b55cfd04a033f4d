"""The latest deals below the featured ones of a page: none is shown twice."""

from __future__ import annotations

from collections.abc import Iterable

from bigtime.model import Buckets, Page
from bigtime.systems import deals
from bigtime.web.pages import AppContext


async def without_featured(
    context: AppContext,
    latest: Page[deals.Deal],
    featured: Iterable[deals.FeaturedDeal],
    tag: str,
    days: Buckets[deals.Deal],
) -> Page[deals.Deal]:
    """The first page of a list without what is featured above it, filled up with the next deals.

    The list is the one with that tag, in those days. Its next page begins after the last deal that
    is shown here.
    """
    hidden = {deal.deal_id for deal in featured}
    shown = [deal for deal in latest if deal.deal_id not in hidden]
    if len(shown) == len(latest.items) or latest.position is None:
        return Page(shown, latest.position)
    position = latest.position
    following = await context.deals.page(
        tag, latest.items[-1].deal_id, lambda: deals.latest(days, after=position)
    )
    shown += [deal for deal in following if deal.deal_id not in hidden]
    if len(shown) <= deals.PAGE:
        return Page(shown, following.position)
    shown = shown[: deals.PAGE]
    return Page(shown, deals.place_after(days, shown[-1].deal_id))
