"""A deal's end: it expires at its time, or editors unpublish it and publish it again.

An active deal with an end has a `DealEnd`, which is written in one transaction with the deal. All
of these are one partition in order of time, so the deals that are due are one query, however many
deals there are. A deal expires in one transaction with the deletion of its `DealEnd`, on condition
that its end and its status are as they were read: so it expires once, by however many workers, and
what a crash leaves undone is done in the next run. An end that was moved meanwhile is not due.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.deals import errors, values
from bigtime.systems.deals.deals import fetch_deal_for_editor, find_place, status_with_end
from bigtime.systems.deals.design import PAGE, Deal, DealEnd, DealStatus, UnpublishedDeal

AT_ONCE: Final = 25


@bt.pattern("Expire Deals", index="Main table")
def expire_deals() -> bt.Steps[int]:
    """Query of the ends that have passed; a transaction each. Returns how many have expired."""
    moment = yield from bt.now()
    due = DealEnd.within("main", ends_at=bt.at_most(moment.replace(microsecond=0)))
    count, position = 0, None
    while True:
        page = yield from bt.query(due, limit=AT_ONCE, after=position, consistent=True)
        expired = yield from bt.together(*(expire_deal(end) for end in page))
        count += sum(expired)
        position = page.position
        if position is None:
            return count


def expire_deal(end: DealEnd) -> bt.Steps[bool]:
    """Expires a deal unless its end or status has changed meanwhile; returns whether it did."""
    deal = yield from bt.get(Deal.key(end.deal_id), consistent=True)
    if deal is None or (deal.ends_at, deal.status) != (end.ends_at, DealStatus.ACTIVE):
        return False
    with suppress(bt.Conflict, errors.UnknownDeal):
        yield from bt.update(deal, status=DealStatus.EXPIRED, if_exists=errors.UnknownDeal)
        return True
    return False


@bt.pattern("Unpublish Deal", index="Main table", sample={"why": "A mistake"})
def unpublish_deal(deal_id: values.DealId, *, why: values.GivenWhy | None = None) -> bt.Steps[Deal]:
    """Editor; takes a deal off all lists, where shoppers do not find it any more."""
    return (yield from unpublish_write((yield from fetch_deal_for_editor(deal_id)), why))


@bt.pattern("View Unpublished Deals", index="Main table")
def view_unpublished_deals(
    *, after: bt.Position | None = None, limit: int = PAGE
) -> bt.Steps[bt.Page[Deal]]:
    """Editor; a query of their markers, then BatchGetItem; newest first."""
    found = yield from bt.query(
        UnpublishedDeal.within("main"),
        newest_first=True,
        limit=limit,
        after=after,
        consistent=True,
    )
    deals = yield from bt.get_many([Deal.key(each.deal_id) for each in found], consistent=True)
    return bt.Page([deal for deal in deals if deal is not None], found.position)


@bt.pattern("Publish Deal again", index="Main table")
def publish_deal(deal_id: values.DealId) -> bt.Steps[Deal]:
    """Editor; puts a deal into its lists again."""
    seen = yield from fetch_deal_for_editor(deal_id)
    place = yield from find_place(seen.brand, seen.category)
    return (yield from publish_write(seen, place, at=(yield from bt.now())))


def unpublish_write(seen: Deal, why: values.GivenWhy | None = None) -> bt.Write[Deal]:
    """The write that takes a deal off all lists, if it is unchanged."""
    return bt.update(
        seen,
        status=DealStatus.UNPUBLISHED,
        if_exists=errors.UnknownDeal,
        **{"unpublished_why": None, **values.given_fields(unpublished_why=why)},
    )


def publish_write(seen: Deal, place: Mapping[str, Any], *, at: datetime) -> bt.Write[Deal]:
    """The write that publishes a deal again, if it is unchanged; as expired if its end has passed.

    `place` is what `find_place` returns: its brand may have another name by now.
    """
    return bt.update(
        seen,
        status=status_with_end(seen.ends_at, at),
        unpublished_why=None,
        if_exists=errors.UnknownDeal,
        **place,
    )
