"""Deals: created and updated by editors; the latest of all deals, of a brand, of a category.

Deals are stored in one partition per UTC day. A page begins with the newest of today, or after the
last deal that its reader has seen, whose id tells the day. Only days that have deals are queried. A
page without a position is the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.deals import errors, values
from bigtime.systems.deals.design import (
    MOST_PRICES,
    PAGE,
    Brand,
    Category,
    Deal,
    DealStatus,
    PriceChange,
)


@lru_cache(maxsize=1024)
def brand_days(brand_name: values.BrandName) -> bt.Buckets[Deal]:
    """Cached: validating a name and building its buckets is the same for every page."""
    return bt.buckets(Deal, "GSI2", brand=brand_name)


@lru_cache(maxsize=64)
def category_days(category_name: values.CategoryName) -> bt.Buckets[Deal]:
    return bt.buckets(Deal, "GSI3", category=category_name)


def latest(
    days: bt.Buckets[Deal],
    last_seen: values.DealId | None = None,
    *,
    after: bt.Position | None = None,
) -> bt.Steps[bt.Page[Deal]]:
    """A page of deals, newest first; `after` continues from a page, `last_seen` from a deal."""
    if after is None and last_seen is not None:
        after = place_after(days, last_seen)
    return (yield from bt.newest_first(days, limit=PAGE, after=after))


def place_after(days: bt.Buckets[Deal], last_seen: values.DealId) -> bt.Position:
    """The position after a deal, which need not exist any more."""
    seen = values.deal_id_of(last_seen)
    return days.after(deal_id=seen, created_at=seen.at)


LINK = "https://deals.example/1"
FACTS: Final = ("title", "link", "price", "list_price", "description", "ends_at")
"""The facts of a deal that an editor may change; brand and category can also be corrected."""
PLACE: Final = ("brand", "category")


@bt.pattern("Create Deal", index="N/A", takes="N/A", sample={"link": LINK})
def create_deal(
    title: values.GivenTitle,
    link: values.GivenLink,
    price: values.GivenPrice,
    brand_name: values.BrandName,
    category_name: values.CategoryName,
    *,
    list_price: values.GivenPrice | None = None,
    description: values.GivenDescription | None = None,
    ends_at: values.GivenEnd | None = None,
) -> bt.Steps[Deal]:
    """Editor, in the CMS."""
    deal = yield from new_deal(
        title,
        link,
        price,
        brand_name,
        category_name,
        list_price=list_price,
        description=description,
        ends_at=ends_at,
    )
    return (yield from bt.create(deal, unless_exists=errors.DealExists))


def new_deal(
    title: values.GivenTitle,
    link: values.GivenLink,
    price: values.GivenPrice,
    brand_name: values.BrandName,
    category_name: values.CategoryName,
    *,
    list_price: values.GivenPrice | None = None,
    description: values.GivenDescription | None = None,
    ends_at: values.GivenEnd | None = None,
) -> bt.Steps[Deal]:
    """A deal that is not yet stored, for a transaction with other writes."""
    facts = values.given_fields(
        title=title,
        link=link,
        price=price,
        list_price=list_price,
        description=description,
        ends_at=ends_at,
    )
    place = yield from find_place(brand_name, category_name)
    moment = yield from bt.now()
    payload = yield from bt.random_bytes(16)
    deal = Deal(deal_id=bt.Ksuid.make(moment, payload), **place, **facts)
    check_discount(deal)
    if deal.ends_at is not None and deal.ends_at <= moment:
        raise errors.EndPassed()
    return deal


def find_place(
    brand_name: values.BrandName, category_name: values.CategoryName
) -> bt.Steps[dict[str, Any]]:
    """The brand and category fields of a deal; both must exist."""
    brand, category = yield from bt.together(
        bt.get(Brand.key(brand_name), missing=errors.UnknownBrand, consistent=True),
        bt.get(Category.key(category_name), missing=errors.UnknownCategory, consistent=True),
    )
    return {
        "brand": brand.brand,
        "brand_name": brand.name,
        "category": category.category,
        "category_name": category.name,
    }


@bt.pattern("Fetch Deal", index="Main table")
def fetch_deal(deal_id: values.DealId) -> bt.Steps[Deal]:
    """GetItem."""
    deal = yield from bt.get(Deal.key(values.deal_id_of(deal_id)), missing=errors.UnknownDeal)
    if not deal.is_listed:
        raise errors.DealUnpublished()
    return deal


def fetch_deal_for_editor(deal_id: values.DealId) -> bt.Steps[Deal]:
    """Strongly consistent; includes a deal that is unpublished."""
    key = Deal.key(values.deal_id_of(deal_id))
    return (yield from bt.get(key, missing=errors.UnknownDeal, consistent=True))


@bt.pattern("Fetch Deals", index="Main table", sample={"deal_ids": ["0" * 27]})
def fetch_deals(deal_ids: Sequence[str], *, unpublished: bool = False) -> bt.Steps[list[Deal]]:
    """BatchGetItem; unknown and malformed ids are left out.

    So are deals that are not published, unless they are asked for.
    """
    found = yield from bt.get_many(
        [Deal.key(deal_id) for deal_id in dict.fromkeys(ids_among(deal_ids))]
    )
    return [deal for deal in found if deal is not None and (unpublished or deal.is_listed)]


@bt.pattern("Update Deal", index="Main table", sample={"price": Decimal(5)})
def update_deal(
    deal_id: values.DealId,
    *,
    title: values.GivenTitle | None = None,
    link: values.GivenLink | None = None,
    price: values.GivenPrice | None = None,
    list_price: values.GivenPrice | None = None,
    description: values.GivenDescription | None = None,
    ends_at: values.GivenEnd | None = None,
) -> bt.Steps[Deal]:
    """Editor; fields that are not given stay, and so do brand, category and time.

    If two editors change the price of a deal at once, the later one gets Conflict, so that no
    discount results that neither meant.
    """
    changes = values.given_fields(
        title=title,
        link=link,
        price=price,
        list_price=list_price,
        description=description,
        ends_at=ends_at,
    )
    seen = yield from fetch_deal_for_editor(deal_id)
    check_discount(seen.model_copy(update=changes))
    if not changes:
        return seen
    moment = yield from bt.now()
    changes |= history_change(seen, changes.get("price", seen.price), moment)
    changes |= status_change(seen, changes.get("ends_at", seen.ends_at), moment)
    return (
        yield from bt.update(
            seen,
            if_exists=errors.UnknownDeal,
            when=bt.unchanged(seen, "price", "list_price", "price_history"),
            otherwise=bt.Conflict,
            **changes,
        )
    )


@bt.pattern("Rewrite Deal", index="Main table", sample={"link": LINK})
def rewrite_deal(
    deal_id: values.DealId,
    title: values.GivenTitle,
    link: values.GivenLink,
    price: values.GivenPrice,
    *,
    list_price: values.GivenPrice | None = None,
    description: values.GivenDescription | None = None,
    ends_at: values.GivenEnd | None = None,
) -> bt.Steps[Deal]:
    """Editor; fields that are not given are removed, but brand, category and time stay."""
    seen = yield from fetch_deal_for_editor(deal_id)
    facts = values.given_fields(
        title=title,
        link=link,
        price=price,
        list_price=list_price,
        description=description,
        ends_at=ends_at,
    )
    return (yield from facts_write(seen, facts, at=(yield from bt.now())))


def facts_write(seen: Deal, facts: Mapping[str, Any], *, at: datetime) -> bt.Write[Deal]:
    """The write that changes a deal's facts, on condition that they are still those that were seen.

    They may include what `find_place` returns; otherwise the deal keeps its brand and category.
    """
    changes = changed_facts(seen, facts, at)
    check_discount(seen.model_copy(update=changes))
    return bt.update(
        seen,
        if_exists=errors.UnknownDeal,
        when=bt.unchanged(seen, *FACTS, *PLACE, "price_history"),
        otherwise=bt.Conflict,
        **changes,
    )


def status_change(seen: Deal, ends_at: datetime | None, at: datetime) -> dict[str, DealStatus]:
    """The change of status that a new end causes: a later end reactivates an expired deal."""
    if ends_at == seen.ends_at or seen.status is DealStatus.UNPUBLISHED:
        return {}
    status = status_with_end(ends_at, at)
    return {} if status is seen.status else {"status": status}


def status_with_end(ends_at: datetime | None, at: datetime) -> DealStatus:
    """The status of a published deal that ends then."""
    return DealStatus.EXPIRED if ends_at is not None and ends_at <= at else DealStatus.ACTIVE


def changed_facts(seen: Deal, facts: Mapping[str, Any], at: datetime) -> dict[str, Any]:
    """All facts of a deal after a change, with the price history and status that result."""
    changes = {**dict.fromkeys(FACTS), **facts}
    changes |= status_change(seen, changes["ends_at"], at)
    return changes | history_change(seen, changes["price"], at)


def history_change(seen: Deal, price: Decimal, at: datetime) -> dict[str, list[str]]:
    """The price history with a new price; empty if the price is unchanged."""
    if price == seen.price:
        return {}
    changes = [*seen.prices, PriceChange(at, price)]
    return {"price_history": list(map(str, changes[-MOST_PRICES:]))}


def ids_among(texts: Sequence[str]) -> Iterator[bt.Ksuid]:
    for text in texts:
        with suppress(errors.UnknownDeal):
            yield values.deal_id_of(text)


def check_discount(deal: Deal) -> None:
    if deal.list_price is not None and deal.list_price <= deal.price:
        raise errors.NoDiscount()


@bt.pattern("Fetch Latest Deals for Brand", index="GSI2")
def fetch_brand_deals(
    brand_name: values.BrandName,
    last_deal_id_seen: values.DealId | None = None,
    *,
    after: bt.Position | None = None,
) -> bt.Steps[bt.Page[Deal]]:
    """Day partitions for up to 25 deals."""
    return (yield from latest(brand_days(brand_name), last_deal_id_seen, after=after))
