"""Trending deals: the deals of a category by their engagement, those of a brand by their discount.

A deal's place is its score, which is in the key, and a key cannot be updated. So each engagement
deletes the deal's item and puts it under its new score, in one transaction: the deal is never
missing, never listed twice, and concurrent engagements are all counted.

1. The caller that records engagement passes the place that it has seen, from a list or from
   `find_trending`. The transaction succeeds only if the place is still as it was seen.
2. If it is not, a strongly consistent query of the category finds the deal, and the transaction is
   tried again. So an unknown or outdated place costs a read of the category's trending deals.
3. A deal gets its first place once. `start_trending` searches for the deal, and puts it on
   condition that the key is free. Only one process may call it: no key prevents a deal from having
   two places.

The engagement score is the views plus five for each click. A score that was calculated in another
way stays as stored until the next engagement is recorded.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from bigtime import model as bt
from bigtime.systems.catalog import errors
from bigtime.systems.catalog.design import PAGE, Deal, TrendingDeal, rank_of
from bigtime.systems.catalog.values import BrandId, CategoryId, DealId, not_negative

CLICK = 5
"""How many views a click counts for."""
TRIES = 10
ENGAGEMENT = ("deal_id", "views", "clicks")
"""The fields that are compared to tell whether a place is as it was seen."""


@bt.pattern("Pattern #15 get_trending_by_category", index="Main table")
def get_trending_by_category(
    category_id: CategoryId,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: bt.Position | None = None,
    consistent: bool = False,
) -> bt.Steps[bt.Page[TrendingDeal]]:
    """Get trending deals for a category sorted by engagement score.

    The highest comes first.
    """
    places = TrendingDeal.within("main", category_id=category_id)
    return (
        yield from bt.query(
            places, newest_first=not ascending, limit=limit, after=after, consistent=consistent
        )
    )


@bt.pattern("Pattern #16 get_highly_engaged_deals", index="Main table")
def get_highly_engaged_deals(
    category_id: CategoryId,
    min_score: int,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: bt.Position | None = None,
    consistent: bool = False,
) -> bt.Steps[bt.Page[TrendingDeal]]:
    """Get deals of a category with engagement score above threshold.

    Those with that very score are among them.
    """
    places = TrendingDeal.within("main", category_id=category_id, rank=bt.at_least(min_score))
    return (
        yield from bt.query(
            places, newest_first=not ascending, limit=limit, after=after, consistent=consistent
        )
    )


@bt.pattern("Pattern #17 get_high_discount_deals", index="TrendingByDiscount")
def get_high_discount_deals(
    brand_id: BrandId,
    min_discount: Decimal,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: bt.Position | None = None,
) -> bt.Steps[bt.Page[TrendingDeal]]:
    """Get deals by brand with high discount percentage.

    The highest comes first; those with that very discount are among them.
    """
    discounted = TrendingDeal.within(
        "TrendingByDiscount", brand_id=brand_id, discount_percentage=bt.at_least(min_discount)
    )
    return (yield from bt.query(discounted, newest_first=not ascending, limit=limit, after=after))


@bt.pattern("Find trending deal", index="Main table")
def find_trending(category_id: CategoryId, deal_id: DealId) -> bt.Steps[TrendingDeal]:
    """A deal's place among the trending ones of its category, all of which are read."""
    places = yield from places_of(category_id, deal_id)
    if not places:
        raise errors.NotTrending
    return places[0]


@bt.pattern("Start trending deal", index="Main table")
def start_trending(
    deal_id: DealId, discount_percentage: Decimal, *, views: int = 0, clicks: int = 0
) -> bt.Steps[TrendingDeal]:
    """Give a deal its first place among the trending ones of its category."""
    deal = yield from bt.get(Deal.key(deal_id), missing=errors.UnknownDeal, consistent=True)
    place = place_of(deal, discount_percentage, views=views, clicks=clicks)
    if (yield from places_of(deal.category_id, deal_id)):
        raise errors.AlreadyTrending
    return (yield from bt.create(place, unless_exists=errors.AlreadyTrending))


@bt.pattern("Record engagement", index="Main table", sample={"views": 1, "clicks": 1})
def record_engagement(
    trending: TrendingDeal, *, views: int = 0, clicks: int = 0
) -> bt.Steps[TrendingDeal]:
    """Count views and clicks of a trending deal, and give it the place of its new score."""
    not_negative(views)
    not_negative(clicks)
    for _ in range(TRIES):
        try:
            return (
                yield from move_to_score(trending, trending.views + views, trending.clicks + clicks)
            )
        except (errors.EngagementMoved, bt.Conflict):
            trending = yield from find_trending(trending.category_id, trending.deal_id)
    raise errors.EngagementMoved


@bt.pattern("Stop trending deal", index="Main table")
def stop_trending(category_id: CategoryId, deal_id: DealId) -> bt.Steps[None]:
    """Take a deal from the trending ones of its category."""
    for _ in range(TRIES):
        place = yield from find_trending(category_id, deal_id)
        try:
            yield from delete_write(place)
            return
        except errors.EngagementMoved:
            continue
    raise errors.EngagementMoved


# Places


def engagement_score(*, views: int, clicks: int) -> int:
    return views + CLICK * clicks


def place_of(deal: Deal, discount_percentage: Decimal, *, views: int, clicks: int) -> TrendingDeal:
    """The place of a deal with this engagement."""
    score = engagement_score(views=not_negative(views), clicks=not_negative(clicks))
    return TrendingDeal(
        category_id=deal.category_id,
        rank=rank_of(score, deal.deal_id),
        deal_id=deal.deal_id,
        title=deal.title,
        brand_id=deal.brand_id,
        discount_percentage=discount_percentage,
        views=views,
        clicks=clicks,
    )


def places_of(category_id: str, *deal_ids: str) -> bt.Steps[list[TrendingDeal]]:
    """The places of up to a hundred deals of a category, all of which is read."""
    everything = TrendingDeal.within("main", category_id=category_id)
    ours = bt.attr("deal_id").one_of(*deal_ids)
    return (yield from bt.all_of(everything, filter=ours, consistent=True))


def move_to_score(seen: TrendingDeal, views: int, clicks: int) -> bt.Steps[TrendingDeal]:
    """Moves a deal to the place of its new score, if it is still as it was seen."""
    after = with_engagement(seen, views=views, clicks=clicks)
    # With a token, a request that is retried after a lost response counts once.
    token = (yield from bt.random_bytes(16)).hex()
    yield from bt.transact(*rank_writes(seen, after), token=token)
    return after


def with_engagement(seen: TrendingDeal, *, views: int, clicks: int) -> TrendingDeal:
    """The deal with this engagement, and at its place."""
    rank = rank_of(engagement_score(views=views, clicks=clicks), seen.deal_id)
    return seen.model_copy(update={"rank": rank, "views": views, "clicks": clicks})


def rank_writes(seen: TrendingDeal, after: TrendingDeal) -> tuple[bt.Write[Any], ...]:
    """The writes that move a deal to another place, for a transaction with other writes.

    They raise EngagementMoved if it is not as it was seen.
    """
    if (after.category_id, after.rank) == (seen.category_id, seen.rank):
        as_seen = bt.unchanged(seen, *ENGAGEMENT)
        return (bt.put(after, when=as_seen, otherwise=errors.EngagementMoved),)
    return delete_write(seen), bt.create(after, unless_exists=errors.EngagementMoved)


def delete_write(seen: TrendingDeal) -> bt.Write[TrendingDeal | None]:
    """The write that deletes a deal from its place, if it is as it was seen."""
    as_seen = bt.unchanged(seen, *ENGAGEMENT)
    return bt.delete(seen.own_key(), when=as_seen, otherwise=errors.EngagementMoved)
