"""What people look at and go to: activities of theirs, and places of deals among the trending.

A deal's engagement score is its views, and five for each click to its offer. Both are counted on
this site alone, and both move the deal's place.

1. A view is counted in memory, for most deal pages are answered from memory too. Every few seconds
   what was counted is written, all deals together. A crash loses the views of the last seconds,
   and nothing else; that is what a view is worth.
2. A click is written before its visitor is sent on: the activity and the place in one transaction.
   Its activity is named by the user, the deal and the hour. So a click that comes twice counts
   once, and so do all clicks of one user on one deal in one hour. Whoever is not signed in has no
   activities, and each of their clicks counts.
3. A view of somebody who is signed in is an activity as well, one for each deal and hour. Its time
   is the beginning of the hour, which makes its key, and `at` in its details is when it was last.
4. `DealPlace` tells which place a deal has, and moves with it in one transaction. It saves the
   search through the category; and since no two can make it, no two can give a deal a first place.
   A place that somebody else has moved is searched for.

Whoever looks or clicks all the time is answered all the time, and not counted: there is a limit
by user, or by address where nobody is signed in. Else one program could make a deal trend.

Places are moved for many deals in one transaction. If one of them was overtaken, each is moved by
itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final
from weakref import WeakValueDictionary

from bigtime.model import (
    Conflict,
    Ksuid,
    Steps,
    Write,
    create,
    get,
    get_many,
    now,
    put,
    put_many,
    random_bytes,
    transact,
)
from bigtime.store import AsyncStore
from bigtime.systems.catalog.activities import record_activity
from bigtime.systems.catalog.design import TrendingDeal, UserActivity
from bigtime.systems.catalog.errors import ActivityExists, EngagementMoved
from bigtime.systems.catalog.trending import moving, place_of, places_of
from bigtime.systems.deals.deals import fetch_deals
from bigtime.systems.deals.design import Deal
from bigtime.web.client import Scope, client_in
from bigtime.web.design import DealPlace
from bigtime.web.limits import Limits
from bigtime.web.projection import catalog_deal
from bigtime.web.visitor import Visitor

log = logging.getLogger("bigtime.web")

VIEW: Final = "deal_view"
CLICK: Final = "deal_click"
SECONDS_BETWEEN: Final = 3.0
DEALS_AT_ONCE: Final = 33
"""A transaction has a hundred actions: two for each place, and one for what tells it."""
TRIES: Final = 10
MOST_COUNTED: Final = 100_000
FOLDER: Final = "/deals/"
PATH_LENGTH: Final = len(FOLDER) + 27
PERCENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True, eq=False)
class Engaged:
    """How often a deal was looked at and gone to."""

    deal: Deal
    views: int = 0
    clicks: int = 0


@dataclass(slots=True)
class Counted:
    """What has not been written yet."""

    views: dict[str, int] = field(default_factory=dict)
    clicks: dict[str, int] = field(default_factory=dict)
    lookers: set[tuple[str, str]] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.views or self.clicks)


class Engagement:
    """Counts views, and writes them and clicks down. For one event loop."""

    def __init__(self, store: AsyncStore, limits: Limits, *, proxies: int = 0) -> None:
        self.store = store
        self.limits = limits
        self.proxies = proxies
        self.counted = Counted()
        self._moving: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def note(self, scope: Scope, visitor: Visitor | None) -> None:
        """A page was answered; that of a deal is a view."""
        path: str = scope["path"]
        if len(path) != PATH_LENGTH or not path.startswith(FOLDER):
            return
        if not self.is_counted("view", scope, visitor):
            return
        counted, deal_id = self.counted, path[len(FOLDER) :]
        if len(counted.views) < MOST_COUNTED:
            counted.views[deal_id] = counted.views.get(deal_id, 0) + 1
        if visitor is not None and len(counted.lookers) < MOST_COUNTED:
            counted.lookers.add((visitor.username, deal_id))

    def is_counted(self, action: str, scope: Scope, visitor: Visitor | None) -> bool:
        """Whether somebody may have it counted once more."""
        if visitor is None:
            return not self.limits.tried(action, client_in(scope, proxies=self.proxies))
        return not self.limits.tried(action, f"@{visitor.username}")

    async def click(self, deal: Deal, visitor: Visitor | None, scope: Scope) -> None:
        """Somebody goes to the offer of a deal."""
        if not self.is_counted("click", scope, visitor):
            return
        username = visitor.username if visitor else None
        lock = self._moving.setdefault(deal.deal_id, asyncio.Lock())
        async with lock:
            try:
                await self.store.run(record_click(deal, username))
            except EngagementMoved:
                await self.click_later(deal, username)

    async def click_later(self, deal: Deal, username: str | None) -> None:
        """Others move this deal all the time: the click is counted with the next views."""
        if username is None or await self.store.run(is_new_click(deal, username)):
            clicks = self.counted.clicks
            clicks[deal.deal_id] = clicks.get(deal.deal_id, 0) + 1

    async def run(self) -> None:
        """Writes down what was counted, every few seconds, until it is cancelled."""
        while True:
            await asyncio.sleep(SECONDS_BETWEEN)
            try:
                await self.flush()
            except Exception:
                log.exception("views could not be written down; they are kept for the next time")

    async def flush(self) -> None:
        """Writes down what was counted; what cannot be written is kept."""
        if not self.counted:
            return
        counted, self.counted = self.counted, Counted()
        try:
            deals = await self.store.run(deals_counted(counted))
            await self.store.run(record_looks(deals, counted.lookers))
            counted.lookers.clear()
            listed = list(deals.values())
            for start in range(0, len(listed), DEALS_AT_ONCE):
                chunk = listed[start : start + DEALS_AT_ONCE]
                await self.store.run(record_all([engaged(deal, counted) for deal in chunk]))
                for deal in chunk:
                    counted.views.pop(deal.deal_id, None)
                    counted.clicks.pop(deal.deal_id, None)
        except BaseException:
            self.take_back(counted)
            raise

    def take_back(self, counted: Counted) -> None:
        for mine, theirs in (
            (self.counted.views, counted.views),
            (self.counted.clicks, counted.clicks),
        ):
            for deal_id, number in theirs.items():
                mine[deal_id] = mine.get(deal_id, 0) + number
        self.counted.lookers |= counted.lookers


# Steps


def deals_counted(counted: Counted) -> Steps[dict[str, Deal]]:
    """The deals that were engaged with, by id."""
    ids: list[Any] = [*counted.views.keys() | counted.clicks.keys()]
    found = yield from fetch_deals(sorted(ids))
    return {str(deal.deal_id): deal for deal in found}


def engaged(deal: Deal, counted: Counted) -> Engaged:
    deal_id = deal.deal_id
    return Engaged(deal, counted.views.get(deal_id, 0), counted.clicks.get(deal_id, 0))


def record_click(deal: Deal, username: str | None) -> Steps[None]:
    """Counts a click; of one user, one in an hour."""
    activities: list[Write[Any]] = []
    if username is not None:
        activity = activity_of(CLICK, username, deal, (yield from now()))
        activities.append(create(activity, unless_exists=ActivityExists))
    try:
        yield from record(Engaged(deal, clicks=1), with_=activities)
    except ActivityExists:
        return


def is_new_click(deal: Deal, username: str) -> Steps[bool]:
    try:
        yield from record_activity(activity_of(CLICK, username, deal, (yield from now())))
    except ActivityExists:
        return False
    return True


def record_looks(deals: Mapping[str, Deal], lookers: Iterable[tuple[str, str]]) -> Steps[None]:
    """The activities of those who looked at deals."""
    moment = yield from now()
    yield from put_many(
        activity_of(VIEW, username, deals[deal_id], moment)
        for username, deal_id in sorted(lookers)
        if deal_id in deals
    )


def activity_of(kind: str, username: str, deal: Deal, moment: datetime) -> UserActivity:
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return UserActivity(
        user_id=username,
        timestamp=hour,
        activity_id=f"{kind}-{deal.deal_id}",
        activity_type=kind,
        details={
            "deal_id": deal.deal_id,
            "title": deal.title,
            "at": moment.replace(microsecond=0).isoformat(),
        },
    )


def record_all(many: Sequence[Engaged]) -> Steps[None]:
    """Moves the places of up to 33 deals at once, or each by itself where that does not go."""
    places = yield from get_many([DealPlace.key(one.deal.deal_id) for one in many], consistent=True)
    told = dict(zip(many, places, strict=True))
    found = yield from searched([one.deal for one, place in told.items() if place is None])
    writes = [
        write
        for one, place in told.items()
        for write in writes_of(
            one, place, seen_at(one, place) if place else found.get(one.deal.deal_id)
        )
    ]
    token = (yield from random_bytes(16)).hex()
    try:
        yield from transact(*writes, token=token)
    except (EngagementMoved, Conflict):
        for one in many:
            yield from record(one)


def record(one: Engaged, *, with_: Sequence[Write[Any]] = ()) -> Steps[None]:
    """Gives a deal the place of its new score, together with other writes."""
    is_overtaken = False
    for _ in range(TRIES):
        place = yield from get(DealPlace.key(one.deal.deal_id), consistent=True)
        if place is None or is_overtaken:
            seen = (yield from searched([one.deal])).get(one.deal.deal_id)
        else:
            seen = seen_at(one, place)
        token = (yield from random_bytes(16)).hex()
        try:
            yield from transact(*with_, *writes_of(one, place, seen), token=token)
            return
        except EngagementMoved:
            is_overtaken = True
        except Conflict:
            continue
    raise EngagementMoved


def searched(deals: Iterable[Deal]) -> Steps[dict[str, TrendingDeal]]:
    """The places of deals of which nothing is told, by deal: one search for each category."""
    found: dict[str, TrendingDeal] = {}
    wanted: dict[str, list[str]] = {}
    for deal in deals:
        wanted.setdefault(deal.category, []).append(deal.deal_id)
    for category, deal_ids in wanted.items():
        there = yield from places_of(category, *deal_ids)
        found |= {one.deal_id: one for one in there}
    return found


# Places


def writes_of(
    one: Engaged, place: DealPlace | None, seen: TrendingDeal | None
) -> tuple[Write[Any], ...]:
    """From the place that was seen, or none, to that of the new score."""
    after = place_of(
        catalog_deal(one.deal),
        discount(one.deal),
        views=one.views + (seen.views if seen else 0),
        clicks=one.clicks + (seen.clicks if seen else 0),
    )
    taking = moving(seen, after) if seen else (create(after, unless_exists=EngagementMoved),)
    return put(telling(after, place)), *taking


def telling(after: TrendingDeal, before: DealPlace | None) -> DealPlace:
    return DealPlace(
        deal_id=Ksuid(after.deal_id),
        category_id=after.category_id,
        rank=after.rank,
        views=after.views,
        clicks=after.clicks,
        version=before.version if before else None,
    )


def seen_at(one: Engaged, place: DealPlace) -> TrendingDeal:
    """The trending deal that a place tells of; its title may be another by now, its key not."""
    there = place_of(
        catalog_deal(one.deal), discount(one.deal), views=place.views, clicks=place.clicks
    )
    return there.model_copy(update={"category_id": place.category_id, "rank": place.rank})


def discount(deal: Deal) -> Decimal:
    """How many percent a deal is below its list price; less than 100, and so rounded down."""
    if deal.list_price is None or deal.list_price <= deal.price:
        return Decimal(0)
    off = (deal.list_price - deal.price) * 100 / deal.list_price
    return off.quantize(PERCENT, rounding=ROUND_DOWN)
