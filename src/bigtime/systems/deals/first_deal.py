"""The first deal of a list: before it there is nothing, and whoever reads on need not look.

Deals lie in partitions of a day, and no index tells which days have any. So the oldest deal of each
list is noted, of all deals, of each brand and each category, when the stream tells of a deal that
is older than the one that was noted. To be told again, or of newer ones, changes nothing.

A list of which nothing is noted has no deals, or none but those that the stream has not told of
yet. It is therefore looked through for a month, and not to the beginning of time.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from bigtime.model import (
    Change,
    Conflict,
    Ksuid,
    Write,
    attr,
    create,
    get,
    get_many,
    now,
    pattern,
    reaction,
    transact,
    update,
)
from bigtime.systems.deals.design import BIG_TIME_DEALS, Deal, FirstDeal
from bigtime.systems.deals.values import DealId
from bigtime.wire import Steps

ALL_DEALS: Final = "DEALS"
UNNOTED: Final = timedelta(days=31)
TRIES: Final = 16


class NotedMeanwhile(Conflict):
    """Somebody else has noted the first deal of this list."""


def of_brand(brand: str) -> str:
    """What the list of a brand's deals is called."""
    return f"BRAND {brand}"


def of_category(category: str) -> str:
    return f"CATEGORY {category}"


@pattern("Fetch First Deal of List", index="Main table")
def fetch_first_deal(listed: str) -> Steps[DealId]:
    """GetItem; where nothing is noted, an id of a month ago."""
    noted = yield from get(FirstDeal.key(listed))
    if noted is not None:
        return noted.deal_id
    return Ksuid.make((yield from now()) - UNNOTED, bytes(16))


@reaction(BIG_TIME_DEALS, of=[Deal])
def keep_first_deals(change: Change[Any]) -> Steps[None]:
    """Notes a deal that is older than all others of its lists."""
    told = change.of(Deal)
    if told is None or told.kind != "insert" or told.after is None:
        return
    for _ in range(TRIES - 1):
        try:
            return (yield from note_first(told.after))
        except Conflict:
            continue
    yield from note_first(told.after)


def note_first(deal: Deal) -> Steps[None]:
    lists = (ALL_DEALS, of_brand(deal.brand), of_category(deal.category))
    found = yield from get_many([FirstDeal.key(one) for one in lists], consistent=True)
    writes = [
        noting(listed, deal.deal_id, noted)
        for listed, noted in zip(lists, found, strict=True)
        if noted is None or deal.deal_id < noted.deal_id
    ]
    if writes:
        yield from transact(*writes)


def noting(listed: str, deal_id: DealId, noted: FirstDeal | None) -> Write[FirstDeal]:
    if noted is None:
        return create(FirstDeal(listed=listed, deal_id=deal_id), unless_exists=NotedMeanwhile)
    return update(
        noted.own_key(),
        deal_id=deal_id,
        if_exists=NotedMeanwhile,
        when=attr("deal_id") == noted.deal_id,
        otherwise=NotedMeanwhile,
    )
