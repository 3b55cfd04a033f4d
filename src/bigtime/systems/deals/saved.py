"""Saved deals: a user's own list of deals, each with its price when it was saved."""

from __future__ import annotations

from contextlib import suppress

from bigtime import model as bt
from bigtime.systems.deals import errors, values
from bigtime.systems.deals.deals import fetch_deal
from bigtime.systems.deals.design import MOST_SAVED, SavedDeal, SavedDeals

HAS_ROOM = bt.attr("deals").size() < MOST_SAVED


class NoList(bt.NotFound):
    """You have saved no deals yet."""


class ListExists(bt.Clash):
    """The list was made at the same moment."""


@bt.pattern("Save Deal for User", index="Main table")
def save_deal(deal_id: values.DealId, username: values.Username) -> bt.Steps[None]:
    """In the map on the user's list; one that is saved already stays as it is."""
    deal = yield from fetch_deal(deal_id)
    at = yield from bt.now()
    saved = SavedDeal(title=deal.title, price=deal.price, saved_at=at.replace(microsecond=0))
    try:
        yield from add_to_list(str(deal.deal_id), saved, username)
    except NoList:
        first = SavedDeals(username=username, deals={str(deal.deal_id): saved})
        try:
            yield from bt.create(first, unless_exists=ListExists)
        except ListExists:
            yield from add_to_list(str(deal.deal_id), saved, username)


def add_to_list(deal_id: str, saved: SavedDeal, username: str) -> bt.Steps[None]:
    place = bt.attr("deals", deal_id)
    yield from bt.update(
        SavedDeals.key(username),
        bt.At(("deals", deal_id), bt.IfMissing(saved)),
        if_exists=NoList,
        when=HAS_ROOM | place.exists(),
        otherwise=errors.TooManySaved,
    )


@bt.pattern("Unsave Deal", index="Main table")
def unsave_deal(deal_id: values.DealId, username: values.Username) -> bt.Steps[None]:
    """REMOVE from the map; one that is not saved is no error."""
    with suppress(NoList):
        yield from bt.update(
            SavedDeals.key(username),
            bt.At(("deals", str(values.deal_id_of(deal_id))), bt.Remove()),
            if_exists=NoList,
        )


@bt.pattern("Fetch Saved Deals of User", index="Main table")
def fetch_saved_deals(username: values.Username) -> bt.Steps[dict[str, SavedDeal]]:
    """GetItem, strongly consistent; the last saved is first."""
    stored = yield from bt.get(SavedDeals.key(username), consistent=True)
    saved = stored.deals.items() if stored else ()
    return dict(sorted(saved, key=lambda entry: (entry[1].saved_at, entry[0]), reverse=True))
