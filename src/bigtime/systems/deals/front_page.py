"""The front page, and copies of the latest deals, which make its first page one read.

Most visits begin at the front page. Its latest deals are therefore copied into ten items, of which
a reader takes one at random. If that copy is missing, not full, or over a minute old, the index is
queried instead.

The copies are written again when a deal is created, or when a deal in them has changed:

1. Only if their contents change. So a stream record that is handled twice writes nothing, and
   loading a million old deals writes the copies just once.
2. The index is eventually consistent, so it may lack the newest deals or hold old versions. It only
   supplies ids; the new deal and those in the copies are added, as far back as the index page
   reaches. The deals themselves are read from the table.
3. The first copy is the one compared, and it is written last: so the other copies hold what it
   holds.

Where new deals are rare, running `refresh_deals_cache` twice a minute keeps the copies in use.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from typing import Final

from bigtime import model as bt
from bigtime.systems.deals import design
from bigtime.systems.deals.deals import latest, place_after
from bigtime.systems.deals.design import Deal, DealsCache
from bigtime.systems.deals.values import DealId

FRESH: Final = timedelta(seconds=60)


@bt.pattern("Fetch Front Page & Latest Deals", index="Main table, GSI1")
def fetch_front_page(
    last_deal_id_seen: DealId | None = None, *, after: bt.Position | None = None
) -> bt.Steps[tuple[design.FrontPage, bt.Page[Deal]]]:
    """Front page item; day partitions for up to 25 deals."""
    is_first = last_deal_id_seen is None and after is None
    walk = latest(all_days(), last_deal_id_seen, after=after)
    deals = first_page(otherwise=walk) if is_first else walk
    return (yield from bt.together(design.FRONT_PAGE.get(), deals))


def first_page(*, otherwise: bt.Steps[bt.Page[Deal]]) -> bt.Steps[bt.Page[Deal]]:
    """The first page from a copy, or else from `otherwise`."""
    cached = yield from any_copy()
    return (yield from otherwise) if cached is None else cached


def any_copy() -> bt.Steps[bt.Page[Deal] | None]:
    """The page in one of the copies; None if that copy is missing, not full or too old."""
    shard = yield from bt.any_shard(design.CACHE_SHARDS)
    copy = yield from bt.get(DealsCache.key(shard + 1))
    moment = yield from bt.now()
    if copy is None or len(copy.deals) < design.PAGE or abs(moment - copy.written_at) > FRESH:
        return None
    last = copy.deals[-1].deal_id
    return bt.Page(copy.deals, place_after(all_days(), last) if copy.more_follow else None)


@cache
def all_days() -> bt.Buckets[Deal]:
    return bt.buckets(Deal, "GSI1")


@bt.pattern("Refresh Deals Cache", index="GSI1, then Main table")
def refresh_deals_cache() -> bt.Steps[list[Deal]]:
    """Every copy, whether or not there is a new deal."""
    held = yield from bt.get(DealsCache.key(1), consistent=True)
    deals, more_follow = yield from newest(ids_in(held))
    yield from write_copies(deals, more_follow=more_follow)
    return deals


@bt.reaction(design.BIG_TIME_DEALS, of=[Deal])
def keep_deals_cache(change: bt.Change[bt.Entity]) -> bt.Steps[None]:
    """Rewrites the copies of the latest deals when one appears or changes."""
    event = change.of(Deal)
    if event is None:
        return
    held = yield from bt.get(DealsCache.key(1), consistent=True)
    deal_id = event.key.fields["deal_id"]
    is_new = event.before is None or not event.before.is_listed
    if held is not None and not may_change(held, deal_id, is_new=is_new):
        return
    deals, more_follow = yield from newest([deal_id, *ids_in(held)])
    if held is None or deals != held.deals or more_follow != held.more_follow:
        yield from write_copies(deals, more_follow=more_follow)


def may_change(held: DealsCache, deal_id: DealId, *, is_new: bool) -> bool:
    """Whether the copies may need an update for a deal that has appeared or changed.

    A deal that is published again has appeared.
    """
    deals = held.deals
    if any(deal.deal_id == deal_id for deal in deals):
        return not is_new
    return is_new and (
        len(deals) < design.PAGE or not held.more_follow or deal_id > deals[-1].deal_id
    )


def newest(known: Iterable[DealId]) -> bt.Steps[tuple[list[Deal], bool]]:
    """Rule 2: the deals in the index and the known ones not older, all read from the table.

    Also returns whether more deals follow.
    """
    found = yield from latest(all_days())
    ids = [deal.deal_id for deal in found]
    oldest = ids[-1] if ids else ""
    every = sorted({*ids, *(deal_id for deal_id in known if deal_id >= oldest)}, reverse=True)
    stored = yield from bt.get_many((Deal.key(deal_id) for deal_id in every), consistent=True)
    deals = [deal for deal in stored if deal is not None and deal.is_listed]
    return deals[: design.PAGE], len(deals) > design.PAGE or found.position is not None


def ids_in(copy: DealsCache | None) -> list[DealId]:
    return [deal.deal_id for deal in copy.deals] if copy else []


def write_copies(deals: list[Deal], *, more_follow: bool) -> bt.Steps[None]:
    """Rule 3: the first copy last."""
    moment = yield from bt.now()
    first, *others = (
        DealsCache(n=n, deals=deals, more_follow=more_follow, written_at=moment)
        for n in range(1, design.CACHE_SHARDS + 1)
    )
    yield from bt.put_many(others)
    yield from bt.put(first)
