"""Engagement: views of deals and clicks to their offers, recorded as activities and trending ranks.

A deal's engagement score is its views, plus five for each click to its offer. Only those on this
site count, and each moves the deal to a new rank among the trending deals of its category.

1. A view is counted in memory, as most deal pages are answered from memory too. Every few seconds
   the counts of all deals are written together. A crash loses the views of the last seconds and
   nothing else, which is acceptable for a view. Each user, or each address where nobody is signed
   in, counts once per deal and hour, as far as one process remembers.
2. A click is written before its visitor is redirected: the activity and the rank in one
   transaction. The activity's key is the user, the deal and the hour. So a click that is sent twice
   counts once, as do all clicks of one user on one deal in one hour. A visitor who is not signed in
   has no activities, and each of their clicks counts.
3. A view by a signed-in user is also an activity, one for each deal and hour. Its time, which is in
   its key, is the beginning of the hour; `at` in its details is the time of the last view.
4. A trending deal's key holds its rank, so moving it takes its current key. `DealRank` has that key
   by deal id, and is updated in the same transaction. It saves a search through the category; and
   since it is created once, a deal cannot be ranked twice. If another request has moved the deal
   meanwhile, its rank is searched for.

There is a limit to the views and clicks that count for each user, or for each address where nobody
is signed in. Without it one program could make a deal trend.

Many deals are moved in one transaction. If it fails because another request has moved one of them,
the caller moves each deal on its own, and so knows which were written. The score has a maximum: a
deal that has reached it stays there, and further views and clicks do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_DOWN, Decimal
from typing import Any, Final

from bigtime import model as bt
from bigtime.site.catalog_projection import catalog_deal
from bigtime.site.design import DealRank, transact_once
from bigtime.systems import catalog
from bigtime.systems.deals import BIG_TIME_DEALS, PLACE, Deal, Username
from bigtime.wire import Steps

VIEW: Final = "deal_view"
CLICK: Final = "deal_click"
DEALS_AT_ONCE: Final = 33
"""A transaction takes a hundred actions: two for a trending deal, and one for its `DealRank`."""
TRIES: Final = 10
PERCENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True, eq=False)
class DealEngagement:
    """New views of a deal and clicks to its offer."""

    deal: Deal
    views: int = 0
    clicks: int = 0


@dataclass(slots=True)
class EngagementCounts:
    """Views and clicks by deal id that are not yet written, and who viewed which deal."""

    views: dict[str, int] = field(default_factory=dict)
    clicks: dict[str, int] = field(default_factory=dict)
    viewers: set[tuple[str, str]] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.views or self.clicks or self.viewers)

    def of(self, deal: Deal) -> DealEngagement:
        deal_id = deal.deal_id
        return DealEngagement(deal, self.views.get(deal_id, 0), self.clicks.get(deal_id, 0))

    @property
    def deal_ids(self) -> list[str]:
        viewed = {deal_id for _, deal_id in self.viewers}
        return sorted(self.views.keys() | self.clicks.keys() | viewed)

    def forget(self, engagements: Iterable[DealEngagement]) -> None:
        """Removes the counts that have been written."""
        for engagement in engagements:
            self.views.pop(engagement.deal.deal_id, None)
            self.clicks.pop(engagement.deal.deal_id, None)

    def add(self, others: EngagementCounts) -> None:
        for mine, theirs in ((self.views, others.views), (self.clicks, others.clicks)):
            for deal_id, number in theirs.items():
                mine[deal_id] = mine.get(deal_id, 0) + number
        self.viewers |= others.viewers


SAMPLE_DEAL: Final = Deal(
    deal_id=bt.Ksuid.make(datetime(2026, 1, 1, 12, tzinfo=UTC)),
    title="A lamp",
    link="https://example.com/lamp",
    price=Decimal("19.99"),
    brand="Apple",
    brand_name="Apple",
    category="Home",
    category_name="Home",
    created_at=datetime(2026, 1, 1, 12, tzinfo=UTC),
)
SAMPLE: Final = DealEngagement(SAMPLE_DEAL, views=1)


# Activities


@bt.pattern("Record Click to Offer", index="Main table", sample={"deal": SAMPLE_DEAL})
def record_click(deal: Deal, username: Username | None) -> Steps[None]:
    """One transaction: the activity and the deal's new rank; one click of a user in an hour."""
    activities: list[bt.Write[Any]] = []
    if username is not None:
        activity = new_activity(CLICK, username, deal, (yield from bt.now()))
        activities.append(bt.create(activity, unless_exists=catalog.ActivityExists))
    try:
        yield from move_to_new_rank(DealEngagement(deal, clicks=1), also=activities)
    except catalog.ActivityExists:
        return


@bt.pattern("Record Click Activity", index="Main table", sample={"deal": SAMPLE_DEAL})
def record_click_activity(deal: Deal, username: Username) -> Steps[bool]:
    """Without a rank, which the caller moves later; gives whether it is new in its hour."""
    try:
        yield from catalog.record_activity(
            new_activity(CLICK, username, deal, (yield from bt.now()))
        )
    except catalog.ActivityExists:
        return False
    return True


@bt.pattern(
    "Record Views",
    index="Main table",
    sample={
        "deals": {SAMPLE_DEAL.deal_id: SAMPLE_DEAL},
        "viewers": [("alex", SAMPLE_DEAL.deal_id)],
    },
)
def record_views(deals: Mapping[str, Deal], viewers: Iterable[tuple[str, str]]) -> Steps[None]:
    """BatchWriteItem of the activities of users who viewed deals."""
    moment = yield from bt.now()
    yield from bt.put_many(
        new_activity(VIEW, username, deals[deal_id], moment)
        for username, deal_id in sorted(viewers)
        if deal_id in deals
    )


def new_activity(kind: str, username: str, deal: Deal, moment: datetime) -> catalog.UserActivity:
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


# Ranks


@bt.reaction(BIG_TIME_DEALS, of=[Deal])
def follow_trending(change: bt.Change[bt.Entity]) -> Steps[None]:
    """Moves a deal whose brand or category was corrected; one that is not published has no rank.

    Its `DealRank` stays, so that it comes back with its views and clicks.
    """
    event = change.of(Deal)
    if event is None or event.before is None or event.after is None:
        return
    names = (*PLACE, "is_listed")
    if all(getattr(event.before, name) == getattr(event.after, name) for name in names):
        return
    deal = yield from bt.get(event.key, consistent=True)
    rank = yield from bt.get(DealRank.key(event.after.deal_id), consistent=True)
    if deal is None or rank is None:
        return
    key = catalog.TrendingDeal.key(rank.category_id, rank.rank)
    trending = yield from bt.get(key, consistent=True)
    if not deal.is_listed:
        yield from bt.delete(key)
    elif trending is None:
        yield from move_to_new_rank(DealEngagement(deal, rank.views, rank.clicks))
    else:
        yield from move_to_new_rank(DealEngagement(deal))


@bt.pattern("Move Deals to new Ranks", index="Main table", sample={"engagements": [SAMPLE]})
def move_to_new_ranks(engagements: Sequence[DealEngagement]) -> Steps[None]:
    """Up to 33 deals in one transaction; raises EngagementMoved if one was overtaken."""
    keys = [DealRank.key(engagement.deal.deal_id) for engagement in engagements]
    ranks = yield from bt.get_many(keys, consistent=True)
    pairs = [*zip(engagements, ranks, strict=True)]
    found = yield from find_trending([pair[0].deal for pair in pairs if pair[1] is None])
    writes = [
        write
        for engagement, rank in pairs
        for write in rank_writes(
            engagement,
            rank,
            trending_at(engagement.deal, rank) if rank else found.get(engagement.deal.deal_id),
        )
    ]
    if writes:
        yield from transact_once(*writes)


@bt.pattern("Move Deal to new Rank", index="Main table", sample={"engagement": SAMPLE})
def move_to_new_rank(
    engagement: DealEngagement, *, also: Sequence[bt.Write[Any]] = ()
) -> Steps[None]:
    """One transaction: the trending deal, its `DealRank`, and `also` other writes."""
    deal = engagement.deal
    is_overtaken = False
    for _ in range(TRIES):
        rank = yield from bt.get(DealRank.key(deal.deal_id), consistent=True)
        if rank is None or is_overtaken:
            trending = (yield from find_trending([deal])).get(deal.deal_id)
        else:
            trending = trending_at(deal, rank)
        writes = (*also, *rank_writes(engagement, rank, trending))
        try:
            if writes:
                yield from transact_once(*writes)
            return
        except catalog.EngagementMoved:
            is_overtaken = True
        except bt.Conflict:
            continue
    raise catalog.EngagementMoved


def find_trending(deals: Iterable[Deal]) -> Steps[dict[str, catalog.TrendingDeal]]:
    """The trending items of deals without a `DealRank`, by id: one search per category."""
    found: dict[str, catalog.TrendingDeal] = {}
    wanted: dict[str, list[str]] = {}
    for deal in deals:
        wanted.setdefault(deal.category, []).append(deal.deal_id)
    for category, deal_ids in wanted.items():
        trending = yield from catalog.places_of(category, *deal_ids)
        found |= {deal.deal_id: deal for deal in trending}
    return found


def rank_writes(
    engagement: DealEngagement, rank: DealRank | None, before: catalog.TrendingDeal | None
) -> tuple[bt.Write[Any], ...]:
    """Moves a deal from its rank, if it has one, to the rank of its new score.

    Returns no writes if the score has reached its maximum.
    """
    try:
        after = catalog.place_of(
            catalog_deal(engagement.deal),
            discount(engagement.deal),
            views=engagement.views + (before.views if before else 0),
            clicks=engagement.clicks + (before.clicks if before else 0),
        )
    except catalog.ScoreOutOfRange:
        return ()
    moves = (
        catalog.rank_writes(before, after)
        if before
        else (bt.create(after, unless_exists=catalog.EngagementMoved),)
    )
    return bt.put(rank_note(after, rank)), *moves


def rank_note(after: catalog.TrendingDeal, before: DealRank | None) -> DealRank:
    return DealRank(
        deal_id=bt.Ksuid(after.deal_id),
        category_id=after.category_id,
        rank=after.rank,
        views=after.views,
        clicks=after.clicks,
        version=before.version if before else None,
    )


def trending_at(deal: Deal, rank: DealRank) -> catalog.TrendingDeal:
    """The trending item at a rank: its key is exact, its title may be out of date."""
    trending = catalog.place_of(
        catalog_deal(deal), discount(deal), views=rank.views, clicks=rank.clicks
    )
    return trending.model_copy(update={"category_id": rank.category_id, "rank": rank.rank})


def discount(deal: Deal) -> Decimal:
    """The percentage by which a deal is below its list price; rounded down, so less than 100."""
    if deal.list_price is None or deal.list_price <= deal.price:
        return Decimal(0)
    off = (deal.list_price - deal.price) * 100 / deal.list_price
    return off.quantize(PERCENT, rounding=ROUND_DOWN)
