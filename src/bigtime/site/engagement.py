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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final

from bigtime.model import (
    Conflict,
    Ksuid,
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
from bigtime.site.catalog_projection import catalog_deal
from bigtime.site.design import DealPlace
from bigtime.systems import catalog
from bigtime.systems.deals import Deal, fetch_deals
from bigtime.wire import Steps

VIEW: Final = "deal_view"
CLICK: Final = "deal_click"
DEALS_AT_ONCE: Final = 33
"""A transaction has a hundred actions: two for each place, and one for what tells it."""
TRIES: Final = 10
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
        activities.append(create(activity, unless_exists=catalog.ActivityExists))
    try:
        yield from record(Engaged(deal, clicks=1), with_=activities)
    except catalog.ActivityExists:
        return


def is_new_click(deal: Deal, username: str) -> Steps[bool]:
    try:
        yield from catalog.record_activity(activity_of(CLICK, username, deal, (yield from now())))
    except catalog.ActivityExists:
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


def activity_of(kind: str, username: str, deal: Deal, moment: datetime) -> catalog.UserActivity:
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return catalog.UserActivity(
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
    except (catalog.EngagementMoved, Conflict):
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
        except catalog.EngagementMoved:
            is_overtaken = True
        except Conflict:
            continue
    raise catalog.EngagementMoved


def searched(deals: Iterable[Deal]) -> Steps[dict[str, catalog.TrendingDeal]]:
    """The places of deals of which nothing is told, by deal: one search for each category."""
    found: dict[str, catalog.TrendingDeal] = {}
    wanted: dict[str, list[str]] = {}
    for deal in deals:
        wanted.setdefault(deal.category, []).append(deal.deal_id)
    for category, deal_ids in wanted.items():
        there = yield from catalog.places_of(category, *deal_ids)
        found |= {one.deal_id: one for one in there}
    return found


# Places


def writes_of(
    one: Engaged, place: DealPlace | None, seen: catalog.TrendingDeal | None
) -> tuple[Write[Any], ...]:
    """From the place that was seen, or none, to that of the new score."""
    after = catalog.place_of(
        catalog_deal(one.deal),
        discount(one.deal),
        views=one.views + (seen.views if seen else 0),
        clicks=one.clicks + (seen.clicks if seen else 0),
    )
    taking = (
        catalog.moving(seen, after)
        if seen
        else (create(after, unless_exists=catalog.EngagementMoved),)
    )
    return put(telling(after, place)), *taking


def telling(after: catalog.TrendingDeal, before: DealPlace | None) -> DealPlace:
    return DealPlace(
        deal_id=Ksuid(after.deal_id),
        category_id=after.category_id,
        rank=after.rank,
        views=after.views,
        clicks=after.clicks,
        version=before.version if before else None,
    )


def seen_at(one: Engaged, place: DealPlace) -> catalog.TrendingDeal:
    """The trending deal that a place tells of; its title may be another by now, its key not."""
    there = catalog.place_of(
        catalog_deal(one.deal), discount(one.deal), views=place.views, clicks=place.clicks
    )
    return there.model_copy(update={"category_id": place.category_id, "rank": place.rank})


def discount(deal: Deal) -> Decimal:
    """How many percent a deal is below its list price; less than 100, and so rounded down."""
    if deal.list_price is None or deal.list_price <= deal.price:
        return Decimal(0)
    off = (deal.list_price - deal.price) * 100 / deal.list_price
    return off.quantize(PERCENT, rounding=ROUND_DOWN)
