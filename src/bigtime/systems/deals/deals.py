"""Deals: made and mended by editors, read by everybody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import reduce
from operator import and_
from typing import Any, Final

from bigtime.model import (
    Condition,
    Conflict,
    Ksuid,
    Page,
    Position,
    Write,
    attr,
    create,
    get,
    get_many,
    now,
    pattern,
    random_bytes,
    together,
    update,
)
from bigtime.systems.deals.day_lists import brand_days, latest
from bigtime.systems.deals.design import Brand, Category, Deal
from bigtime.systems.deals.errors import (
    DealExists,
    NoDiscount,
    UnknownBrand,
    UnknownCategory,
    UnknownDeal,
)
from bigtime.systems.deals.values import (
    BrandName,
    CategoryName,
    DealId,
    GivenDescription,
    GivenLink,
    GivenPrice,
    GivenTitle,
    deal_id_of,
    given_fields,
)
from bigtime.wire import Steps

LINK = "https://deals.example/1"
FACTS: Final = ("title", "link", "price", "list_price", "description")
"""What an editor may change of a deal."""


@pattern("Create Deal", index="N/A", takes="N/A", sample={"link": LINK})
def create_deal(
    title: GivenTitle,
    link: GivenLink,
    price: GivenPrice,
    brand_name: BrandName,
    category_name: CategoryName,
    *,
    list_price: GivenPrice | None = None,
    description: GivenDescription | None = None,
) -> Steps[Deal]:
    """Editor, in the CMS."""
    deal = yield from new_deal(
        title,
        link,
        price,
        brand_name,
        category_name,
        list_price=list_price,
        description=description,
    )
    return (yield from create(deal, unless_exists=DealExists))


def new_deal(
    title: GivenTitle,
    link: GivenLink,
    price: GivenPrice,
    brand_name: BrandName,
    category_name: CategoryName,
    *,
    list_price: GivenPrice | None = None,
    description: GivenDescription | None = None,
) -> Steps[Deal]:
    """A deal that is not stored yet, for whoever stores it together with something else."""
    facts = given_fields(
        title=title, link=link, price=price, list_price=list_price, description=description
    )
    brand, category = yield from together(
        get(Brand.key(brand_name), missing=UnknownBrand, consistent=True),
        get(Category.key(category_name), missing=UnknownCategory, consistent=True),
    )
    moment = yield from now()
    payload = yield from random_bytes(16)
    deal = Deal(
        deal_id=Ksuid.make(moment, payload),
        brand=brand.brand,
        brand_name=brand.name,
        category=category.category,
        category_name=category.name,
        **facts,
    )
    check_discount(deal)
    return deal


@pattern("Fetch Deal", index="Main table")
def fetch_deal(deal_id: DealId) -> Steps[Deal]:
    """GetItem."""
    return (yield from get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal))


@pattern("Fetch Deals", index="Main table", sample={"deal_ids": ["0" * 27]})
def fetch_deals(deal_ids: Sequence[str]) -> Steps[list[Deal]]:
    """BatchGetItem; what is not there is left out, and so is what is no id."""
    found = yield from get_many(
        [Deal.key(fromkey) for fromkey in dict.fromkeys(ids_among(deal_ids))]
    )
    return [deal for deal in found if deal is not None]


@pattern("Update Deal", index="Main table", sample={"price": Decimal(5)})
def update_deal(
    deal_id: DealId,
    *,
    title: GivenTitle | None = None,
    link: GivenLink | None = None,
    price: GivenPrice | None = None,
    list_price: GivenPrice | None = None,
    description: GivenDescription | None = None,
) -> Steps[Deal]:
    """Editor; what is not told stays, and so do brand, category and time.

    Two editors who change the price of one deal at once do not end with a discount that neither
    meant: the later one is told.
    """
    changes = given_fields(
        title=title, link=link, price=price, list_price=list_price, description=description
    )
    key = Deal.key(deal_id_of(deal_id))
    seen = yield from get(key, missing=UnknownDeal, consistent=True)
    check_discount(seen.model_copy(update=changes))
    if not changes:
        return seen
    return (
        yield from update(
            key,
            if_exists=UnknownDeal,
            when=is_as(seen, "price", "list_price"),
            otherwise=Conflict,
            **changes,
        )
    )


@pattern("Rewrite Deal", index="Main table", sample={"link": LINK})
def rewrite_deal(
    deal_id: DealId,
    title: GivenTitle,
    link: GivenLink,
    price: GivenPrice,
    *,
    list_price: GivenPrice | None = None,
    description: GivenDescription | None = None,
) -> Steps[Deal]:
    """Editor; what is not told goes, but brand, category and time stay."""
    key = Deal.key(deal_id_of(deal_id))
    seen = yield from get(key, missing=UnknownDeal, consistent=True)
    facts = given_fields(
        title=title, link=link, price=price, list_price=list_price, description=description
    )
    return (yield from facts_write(seen, facts))


def facts_write(seen: Deal, facts: Mapping[str, Any]) -> Write[Deal]:
    """The write that gives a deal other facts, if it still has those that were seen."""
    changes = {**dict.fromkeys(FACTS), **facts}
    check_discount(seen.model_copy(update=changes))
    return update(
        seen.own_key(),
        if_exists=UnknownDeal,
        when=is_as(seen, *FACTS),
        otherwise=Conflict,
        **changes,
    )


def ids_among(texts: Sequence[str]) -> Iterator[Ksuid]:
    for text in texts:
        with suppress(UnknownDeal):
            yield deal_id_of(text)


def check_discount(deal: Deal) -> None:
    if deal.list_price is not None and deal.list_price <= deal.price:
        raise NoDiscount()


def is_as(seen: Deal, *names: str) -> Condition:
    """That a deal still has these facts."""
    return reduce(and_, (still(name, getattr(seen, name)) for name in names))


def still(name: str, value: Any) -> Condition:
    return attr(name).missing() if value is None else attr(name) == value


@pattern("Fetch Latest Deals for Brand", index="GSI2")
def fetch_brand_deals(
    brand_name: BrandName,
    last_deal_id_seen: DealId | None = None,
    *,
    after: Position | None = None,
) -> Steps[Page[Deal]]:
    """Day partitions for up to 25 deals."""
    return (yield from latest(brand_days(brand_name), last_deal_id_seen, after=after))
