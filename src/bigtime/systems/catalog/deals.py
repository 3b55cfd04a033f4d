"""Deals, by id, by brand and by category; brands, by id."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from bigtime import model as bt
from bigtime.systems.catalog import errors, values
from bigtime.systems.catalog.design import PAGE, Brand, Deal, DealStatus


class CategoryDeal(bt.View, of=Deal, index="DealsByCategory"):
    """What DealsByCategory holds of a deal."""

    deal_id: values.DealId
    category_id: values.CategoryId
    posted_at: values.Moment
    title: values.Name
    price: values.Price
    brand_name: values.Name


@bt.pattern("Pattern #1 get_deal_by_id", index="Main table")
def get_deal_by_id(deal_id: values.DealId, *, consistent: bool = True) -> bt.Steps[Deal]:
    """Get deal details by deal_id.

    The schema asks for a consistent read. One that need not be may come from a cache.
    """
    return (yield from bt.get(Deal.key(deal_id), missing=errors.UnknownDeal, consistent=consistent))


@bt.pattern("Pattern #2 create_deal", index="Main table")
def create_deal(deal: Deal) -> bt.Steps[Deal]:
    """Create a new deal."""
    return (yield from bt.create(deal, unless_exists=errors.DealExists))


@bt.pattern("Pattern #3 get_deals_by_brand", index="DealsByBrand")
def get_deals_by_brand(
    brand_id: values.BrandId,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: bt.Position | None = None,
) -> bt.Steps[bt.Page[Deal]]:
    """Get all deals for a brand sorted by creation date."""
    listed = Deal.within("DealsByBrand", brand_id=brand_id)
    return (yield from bt.query(listed, newest_first=not ascending, limit=limit, after=after))


@bt.pattern("Pattern #4 get_deals_by_category", index="DealsByCategory")
def get_deals_by_category(
    category_id: values.CategoryId,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: bt.Position | None = None,
) -> bt.Steps[bt.Page[CategoryDeal]]:
    """Get all deals for a category sorted by creation date."""
    listed = CategoryDeal.within(category_id=category_id)
    return (yield from bt.query(listed, newest_first=not ascending, limit=limit, after=after))


@bt.pattern("Pattern #5 get_recent_deals_by_brand", index="DealsByBrand")
def get_recent_deals_by_brand(
    brand_id: values.BrandId,
    since_date: datetime,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: bt.Position | None = None,
) -> bt.Steps[bt.Page[Deal]]:
    """Get recent deals for a brand after a specific date.

    Those of that very second are among them.
    """
    recent = Deal.within("DealsByBrand", brand_id=brand_id, posted_at=bt.at_least(since_date))
    return (yield from bt.query(recent, newest_first=not ascending, limit=limit, after=after))


@bt.pattern("Put deal", index="Main table")
def put_deal(deal: Deal) -> bt.Steps[Deal]:
    """Create a deal, or write over the one with its id."""
    return (yield from bt.put(deal))


@bt.pattern("Update deal", index="Main table", sample={"title": "A title", "price": Decimal(5)})
def update_deal(
    deal_id: values.DealId,
    *,
    title: str | None = None,
    description: str | None = None,
    price: Decimal | None = None,
    brand_id: values.BrandId | None = None,
    brand_name: str | None = None,
    category_id: values.CategoryId | None = None,
    category_name: str | None = None,
    price_history: Sequence[str] | None = None,
) -> bt.Steps[Deal]:
    """Change what a deal says of itself.

    With other ids, it is in the lists of another brand or category.
    """
    changed = values.given_fields(
        title=title,
        description=description,
        price=price,
        brand_id=brand_id,
        brand_name=brand_name,
        category_id=category_id,
        category_name=category_name,
        price_history=price_history,
    )
    return (yield from bt.update(Deal.key(deal_id), if_exists=errors.UnknownDeal, **changed))


@bt.pattern("Change deal status", index="Main table")
def change_deal_status(
    deal_id: values.DealId, status: DealStatus, *, seen: DealStatus | None = None
) -> bt.Steps[Deal]:
    """List a deal, feature it, or take it off the lists; given what was seen, only from that."""
    return (
        yield from bt.update(
            Deal.key(deal_id),
            status=status,
            if_exists=errors.UnknownDeal,
            when=None if seen is None else bt.attr("status") == seen,
            otherwise=errors.DealMoved,
        )
    )


@bt.pattern("Expire deal", index="Main table")
def expire_deal(deal_id: values.DealId) -> bt.Steps[Deal]:
    """Take a deal off the lists of its brand and its category."""
    return (yield from change_deal_status(deal_id, DealStatus.EXPIRED))


# Brands


@bt.pattern("Pattern #8 get_brand_by_id", index="Main table")
def get_brand_by_id(brand_id: values.BrandId, *, consistent: bool = False) -> bt.Steps[Brand]:
    """Get brand details by brand_id."""
    return (
        yield from bt.get(Brand.key(brand_id), missing=errors.UnknownBrand, consistent=consistent)
    )


@bt.pattern("Pattern #9 create_brand", index="Main table")
def create_brand(brand: Brand) -> bt.Steps[Brand]:
    """Create a new brand."""
    return (yield from bt.create(brand, unless_exists=errors.BrandExists))


@bt.pattern("Put brand", index="Main table")
def put_brand(brand: Brand) -> bt.Steps[Brand]:
    """Create a brand, or write over the one with that id."""
    return (yield from bt.put(brand))


@bt.pattern("Update brand", index="Main table", sample={"brand_name": "A name"})
def update_brand(
    brand_id: values.BrandId,
    *,
    brand_name: str | None = None,
    description: str | None = None,
    logo_url: str | None = None,
) -> bt.Steps[Brand]:
    """Change what a brand says of itself.

    Deals and watches keep the name that they were made with.
    """
    changed = values.given_fields(brand_name=brand_name, description=description, logo_url=logo_url)
    return (yield from bt.update(Brand.key(brand_id), if_exists=errors.UnknownBrand, **changed))
