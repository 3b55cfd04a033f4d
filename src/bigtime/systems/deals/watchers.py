"""Telling those who watch a brand, or a category, of its new deal."""

from __future__ import annotations

from bigtime.model import KeyRange, get, pattern, query
from bigtime.systems.deals.delivery import READ_AT_ONCE, deliver
from bigtime.systems.deals.design import BrandWatch, CategoryWatch, Deal, MessageKind
from bigtime.systems.deals.errors import UnknownDeal
from bigtime.systems.deals.values import DealId, deal_id_of
from bigtime.wire import Steps


@pattern(
    "Send new Brand Deal Message to Brand Watchers",
    index="Main table",
    takes="BrandName",
    sample={"page_size": 10},
)
def send_brand_deal_message(deal_id: DealId, *, page_size: int = READ_AT_ONCE) -> Steps[int]:
    """Query of watchers; a message each; on the stream's insert of a Deal."""
    deal = yield from get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal, consistent=True)
    return (yield from tell_brand_watchers(deal, MessageKind.BRAND, page_size))


@pattern(
    "Send new Category Deal Message to Category Watchers",
    index="Main table",
    takes="CategoryName",
    sample={"page_size": 10},
)
def send_category_deal_message(deal_id: DealId, *, page_size: int = READ_AT_ONCE) -> Steps[int]:
    """Likewise."""
    deal = yield from get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal, consistent=True)
    return (yield from tell_category_watchers(deal, MessageKind.CATEGORY, page_size))


def tell_brand_watchers(deal: Deal, kind: MessageKind, page_size: int = READ_AT_ONCE) -> Steps[int]:
    """How many of them did not know yet."""
    watches = BrandWatch.within("main", brand=deal.brand)
    return (yield from tell_each(watches, deal, kind, page_size))


def tell_category_watchers(
    deal: Deal, kind: MessageKind, page_size: int = READ_AT_ONCE
) -> Steps[int]:
    watches = CategoryWatch.within("main", category=deal.category)
    return (yield from tell_each(watches, deal, kind, page_size))


def tell_each(
    watches: KeyRange[BrandWatch] | KeyRange[CategoryWatch],
    deal: Deal,
    kind: MessageKind,
    page_size: int,
) -> Steps[int]:
    told, position = 0, None
    while True:
        page = yield from query(watches, limit=page_size, after=position, consistent=True)
        told += yield from deliver(deal, kind, [one.username for one in page])
        position = page.position
        if position is None:
            return told
