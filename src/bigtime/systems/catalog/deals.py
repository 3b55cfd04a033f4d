"""Deals: by id, by brand and by category."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from bigtime.model import (
    Page,
    Position,
    View,
    at_least,
    attr,
    create,
    get,
    pattern,
    put,
    query,
    update,
)
from bigtime.systems.catalog.design import PAGE, Deal, DealStatus
from bigtime.systems.catalog.errors import DealExists, DealMoved, UnknownDeal
from bigtime.systems.catalog.values import (
    BrandId,
    CategoryId,
    DealId,
    Moment,
    Name,
    Price,
    given_fields,
)
from bigtime.wire import Steps


class CategoryDeal(View, of=Deal, index="DealsByCategory"):
    """What the index of a category tells of a deal."""

    deal_id: DealId
    category_id: CategoryId
    posted_at: Moment
    title: Name
    price: Price
    brand_name: Name


@pattern("Pattern #1 get_deal_by_id", index="Main table")
def get_deal_by_id(deal_id: DealId, *, consistent: bool = True) -> Steps[Deal]:
    """Get deal details by deal_id.

    The schema asks for a consistent read. One that need not be may come from a cache.
    """
    return (yield from get(Deal.key(deal_id), missing=UnknownDeal, consistent=consistent))


@pattern("Pattern #2 create_deal", index="Main table")
def create_deal(deal: Deal) -> Steps[Deal]:
    """Create a new deal."""
    return (yield from create(deal, unless_exists=DealExists))


@pattern("Pattern #3 get_deals_by_brand", index="DealsByBrand")
def get_deals_by_brand(
    brand_id: BrandId,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: Position | None = None,
) -> Steps[Page[Deal]]:
    """Get all deals for a brand sorted by creation date."""
    listed = Deal.within("DealsByBrand", brand_id=brand_id)
    return (yield from query(listed, newest_first=not ascending, limit=limit, after=after))


@pattern("Pattern #4 get_deals_by_category", index="DealsByCategory")
def get_deals_by_category(
    category_id: CategoryId,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: Position | None = None,
) -> Steps[Page[CategoryDeal]]:
    """Get all deals for a category sorted by creation date."""
    listed = CategoryDeal.within(category_id=category_id)
    return (yield from query(listed, newest_first=not ascending, limit=limit, after=after))


@pattern("Pattern #5 get_recent_deals_by_brand", index="DealsByBrand")
def get_recent_deals_by_brand(
    brand_id: BrandId,
    since_date: datetime,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: Position | None = None,
) -> Steps[Page[Deal]]:
    """Get recent deals for a brand after a specific date.

    Those of that very second are among them.
    """
    recent = Deal.within(
        "DealsByBrand",
        brand_id=brand_id,
        posted_at=at_least(since_date),
    )
    return (yield from query(recent, newest_first=not ascending, limit=limit, after=after))


@pattern("Put deal", index="Main table")
def put_deal(deal: Deal) -> Steps[Deal]:
    """Create a deal, or write over the one with its id."""
    return (yield from put(deal))


@pattern("Update deal", index="Main table", sample={"title": "A title", "price": Decimal(5)})
def update_deal(
    deal_id: DealId,
    *,
    title: str | None = None,
    description: str | None = None,
    price: Decimal | None = None,
    brand_name: str | None = None,
    category_name: str | None = None,
) -> Steps[Deal]:
    """Change what a deal says of itself."""
    changed = given_fields(
        title=title,
        description=description,
        price=price,
        brand_name=brand_name,
        category_name=category_name,
    )
    return (yield from update(Deal.key(deal_id), if_exists=UnknownDeal, **changed))


@pattern("Change deal status", index="Main table")
def change_deal_status(
    deal_id: DealId, status: DealStatus, *, seen: DealStatus | None = None
) -> Steps[Deal]:
    """List a deal, feature it, or take it off the lists; given what was seen, only from that."""
    return (
        yield from update(
            Deal.key(deal_id),
            status=status,
            if_exists=UnknownDeal,
            when=None if seen is None else attr("status") == seen,
            otherwise=DealMoved,
        )
    )


@pattern("Expire deal", index="Main table")
def expire_deal(deal_id: DealId) -> Steps[Deal]:
    """Take a deal off the lists of its brand and its category."""
    return (yield from change_deal_status(deal_id, DealStatus.EXPIRED))
