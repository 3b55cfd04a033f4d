"""What happens when a deal appears: everyone who watches for it is told, once.

The schema has no table of notifications, so none is made up. To be told of a deal is something
that happens to a user, and lies among the activities, as `deal_notification`. Its time is the
deal's, and its id is made of the deal's id; so a user has one key for a deal, however often the
stream tells of it, and whether the brand is watched, the category, or both.

1. A deal appears when it is put in already listed, or when it becomes listed. One that is put in
   more than an hour after it was posted is history: imported, restored, or made up for a
   demonstration. Nobody is told of it.
2. The watchers of the brand and then of the category are read a page at a time; nothing grows with
   their number. The key of a watch tells what it is for, where it is one of ours; a watch under
   another key is read whole.
3. Of a page, those who have been told are found, and the others are told. A page that was handled
   only half is handled again, and tells only the rest. What a user has by then stays as it is.

A watch that is made in the moment in which a deal appears may come too late for it: indexes follow
their table after a while.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Protocol

from bigtime.model import Change, KeyRange, Position, get_many, put_many, query, reaction
from bigtime.systems.catalog.activities import DEAL_NOTIFICATION
from bigtime.systems.catalog.design import DEALS, Deal, UserActivity, UserWatch
from bigtime.systems.catalog.watches import (
    BrandWatcher,
    CategoryWatcher,
    is_telling,
    matches,
    matching_keys,
)
from bigtime.wire import Steps

USERS_AT_ONCE = 100
"""As many as one request can look for."""
NEWS = timedelta(hours=1)


class Watcher(Protocol):
    """A watch, as an index tells of it."""

    @property
    def user_id(self) -> str: ...

    @property
    def watch_key(self) -> str: ...


@reaction(DEALS)
def notify_watchers(change: Change[Any]) -> Steps[None]:
    """Tells everyone who watches the brand of a new deal, its category, or both, once."""
    deal = deal_to_announce(change)
    if deal is not None:
        yield from notify_each(BrandWatcher.within(brand_id=deal.brand_id), deal)
        yield from notify_each(CategoryWatcher.within(category_id=deal.category_id), deal)


def deal_to_announce(change: Change[Any]) -> Deal | None:
    """The deal that can be browsed now, and could not be before."""
    deal = change.of(Deal)
    if deal is None or deal.after is None or not deal.after.is_listed:
        return None
    if deal.before is None:
        return deal.after if change.at - deal.after.posted_at <= NEWS else None
    return None if deal.before.is_listed else deal.after


def notify_each(
    watchers: KeyRange[BrandWatcher] | KeyRange[CategoryWatcher], deal: Deal
) -> Steps[None]:
    position: Position | None = None
    while True:
        page = yield from query(watchers, limit=USERS_AT_ONCE, after=position)
        users = yield from users_meant(page.items, deal)
        yield from notify(users, deal)
        position = page.position
        if position is None:
            return


def users_meant(watchers: Iterable[Watcher], deal: Deal) -> Steps[list[str]]:
    """The users whose watches the deal is for, each once."""
    meant = matching_keys(deal)
    direct = [watcher.user_id for watcher in watchers if watcher.watch_key in meant]
    unclear = [
        UserWatch.key(watcher.user_id, watcher.watch_key)
        for watcher in watchers
        if not is_telling(watcher.watch_key)
    ]
    watches = yield from get_many(unclear)
    found = [watch.user_id for watch in watches if watch is not None and matches(watch, deal)]
    return list(dict.fromkeys([*direct, *found]))


def notify(users: Iterable[str], deal: Deal) -> Steps[None]:
    """Writes the notifications that are not there yet."""
    notifications = [notification(user_id, deal) for user_id in users]
    known = yield from get_many((one.own_key() for one in notifications), consistent=True)
    yield from put_many(
        one for one, there in zip(notifications, known, strict=True) if there is None
    )


def notification(user_id: str, deal: Deal) -> UserActivity:
    return UserActivity(
        user_id=user_id,
        timestamp=deal.posted_at,
        activity_id=f"notification-{deal.deal_id}",
        activity_type=DEAL_NOTIFICATION,
        details={
            "deal_id": deal.deal_id,
            "title": deal.title,
            "brand_id": deal.brand_id,
            "category_id": deal.category_id,
        },
    )
