"""Whatever is done to deals, watches and trending deals, the lists are what they should be."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bigtime.engine import Engine
from bigtime.model import DomainError, Page, setup, verify
from bigtime.store import Store, consume
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.deals import (
    change_deal_status,
    create_brand,
    create_deal,
    get_deals_by_brand,
    get_deals_by_category,
    put_deal,
)
from bigtime.systems.catalog.design import LISTED, Deal, DealStatus, TrendingDeal
from bigtime.systems.catalog.trending import (
    get_highly_engaged_deals,
    get_trending_by_category,
    record_engagement,
    start_trending,
    stop_trending,
)
from bigtime.systems.catalog.watches import (
    get_brand_watchers,
    get_category_watchers,
    get_user_watches,
    notify_watchers,
    unwatch,
    watch_brand,
    watch_brand_in_category,
    watch_category,
)
from bigtime.wire import Request, Steps
from tests.systems.catalog.samples import ASUS, SONY, TEN, brand, deal

T = TypeVar("T")

BRANDS = (SONY, ASUS)
CATEGORIES = ("electronics", "computers")
DEALS = ("deal-1", "deal-2", "deal-3")
USERS = ("ann", "bob")

brands = st.sampled_from(BRANDS)
categories = st.sampled_from(CATEGORIES)
deal_ids = st.sampled_from(DEALS)
users = st.sampled_from(USERS)
statuses = st.sampled_from(DealStatus)
counts = st.integers(min_value=0, max_value=3)


class Catalogue(RuleBasedStateMachine):
    """The tables beside plain dictionaries that say what they should hold."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = ExitStack()
        # The engine's clock stands where deals are posted, or they would be history.
        memory = Engine.memory(clock=TEN.timestamp, housekeeping=False)
        self.engine = self.opened.enter_context(memory)
        self.moment = datetime(2026, 1, 1, tzinfo=UTC)
        self.store = Store(self.engine, clock=lambda: self.moment)
        self.deals: dict[str, Deal] = {}
        self.watches: set[tuple[str, str | None, str | None]] = set()
        self.seen: dict[str, TrendingDeal] = {}
        self.engagement: dict[str, tuple[int, int]] = {}

    @initialize()
    def open_shop(self) -> None:
        self.store.run(setup(SYSTEM))
        for brand_id in BRANDS:
            self.store.run(create_brand(brand(brand_id)))

    def attempt(self, steps: Steps[Any]) -> str:
        try:
            self.store.run(steps)
        except DomainError as error:
            return error.code
        return "done"

    # Deals

    @rule(deal_id=deal_ids, brand_id=brands, category_id=categories, status=statuses)
    def post(self, deal_id: str, brand_id: str, category_id: str, status: DealStatus) -> None:
        new = deal(
            deal_id,
            brand_id=brand_id,
            category_id=category_id,
            status=status,
            posted_at=TEN + timedelta(seconds=DEALS.index(deal_id)),
        )
        outcome = self.attempt(create_deal(new))
        assert outcome == ("deal-exists" if deal_id in self.deals else "done")
        self.deals.setdefault(deal_id, new)

    @rule(deal_id=deal_ids, brand_id=brands)
    def write_over(self, deal_id: str, brand_id: str) -> None:
        if deal_id in self.deals:
            self.deals[deal_id] = self.deals[deal_id].model_copy(update={"brand_id": brand_id})
            self.store.run(put_deal(self.deals[deal_id]))

    @rule(deal_id=deal_ids, status=statuses)
    def change_status(self, deal_id: str, status: DealStatus) -> None:
        outcome = self.attempt(change_deal_status(deal_id, status))
        assert outcome == ("done" if deal_id in self.deals else "unknown-deal")
        if deal_id in self.deals:
            self.deals[deal_id] = self.deals[deal_id].model_copy(update={"status": status})

    # Watches

    @rule(user_id=users, brand_id=st.none() | brands, category_id=st.none() | categories)
    def watch(self, user_id: str, brand_id: str | None, category_id: str | None) -> None:
        if not brand_id and not category_id:
            return
        watch = (user_id, brand_id, category_id)
        outcome = self.attempt(watching(*watch))
        assert outcome == ("already-watching" if watch in self.watches else "done")
        self.watches.add(watch)

    @rule(user_id=users, brand_id=st.none() | brands, category_id=st.none() | categories)
    def end_watch(self, user_id: str, brand_id: str | None, category_id: str | None) -> None:
        if not brand_id and not category_id:
            return
        watch = (user_id, brand_id, category_id)
        outcome = self.attempt(unwatch(user_id, key_of(brand_id, category_id)))
        assert outcome == ("done" if watch in self.watches else "not-watching")
        self.watches.discard(watch)

    # Trending deals

    @precondition(lambda self: self.deals.keys() - self.engagement.keys())
    @rule(data=st.data(), views=counts)
    def start(self, data: st.DataObject, views: int) -> None:
        deal_id = data.draw(st.sampled_from(sorted(self.deals.keys() - self.engagement.keys())))
        self.seen[deal_id] = self.store.run(start_trending(deal_id, Decimal(50), views=views))
        self.engagement[deal_id] = (views, 0)

    @precondition(lambda self: self.engagement)
    @rule(data=st.data(), views=counts, clicks=counts, look=st.booleans())
    def engage(self, data: st.DataObject, views: int, clicks: int, look: bool) -> None:
        """From the place that was seen last, or from one that the deal has long left."""
        deal_id = data.draw(st.sampled_from(sorted(self.engagement)))
        after = self.store.run(record_engagement(self.seen[deal_id], views=views, clicks=clicks))
        had = self.engagement[deal_id]
        self.engagement[deal_id] = (had[0] + views, had[1] + clicks)
        assert (after.views, after.clicks) == self.engagement[deal_id]
        if look:
            self.seen[deal_id] = after

    @precondition(lambda self: self.engagement)
    @rule(data=st.data())
    def stop(self, data: st.DataObject) -> None:
        deal_id = data.draw(st.sampled_from(sorted(self.engagement)))
        self.store.run(stop_trending(self.seen[deal_id].category_id, deal_id))
        del self.engagement[deal_id]

    # What must hold

    def all(self, steps: Steps[Page[T]]) -> list[T]:
        return self.store.run(steps).items

    @invariant()
    def lists_hold_what_is_listed_the_newest_first(self) -> None:
        listed = [deal for deal in self.deals.values() if deal.status in LISTED]
        listed.sort(key=lambda one: one.posted_at, reverse=True)
        for brand_id in BRANDS:
            found = self.all(get_deals_by_brand(brand_id))
            assert found == [each for each in listed if each.brand_id == brand_id]
        for category_id in CATEGORIES:
            cards = self.all(get_deals_by_category(category_id))
            expected = [each.deal_id for each in listed if each.category_id == category_id]
            assert [card.deal_id for card in cards] == expected

    @invariant()
    def watches_are_in_their_indexes(self) -> None:
        for user_id in USERS:
            assert sorted(each.watch_key for each in self.all(get_user_watches(user_id))) == sorted(
                key_of(brand_id, category_id)
                for name, brand_id, category_id in self.watches
                if name == user_id
            )
        for sought in BRANDS:
            by_brand = self.all(get_brand_watchers(sought))
            assert len(by_brand) == sum(1 for _, brand_id, _ in self.watches if brand_id == sought)
        for sought in CATEGORIES:
            by_category = self.all(get_category_watchers(sought))
            expected = sum(1 for _, _, category_id in self.watches if category_id == sought)
            assert len(by_category) == expected

    @invariant()
    def each_trending_deal_has_one_place_by_its_score(self) -> None:
        found = [
            each
            for category_id in CATEGORIES
            for each in self.all(get_trending_by_category(category_id, consistent=True))
        ]
        assert {each.deal_id: (each.views, each.clicks) for each in found} == self.engagement
        assert len(found) == len(self.engagement)
        for each in found:
            assert each.engagement_score == each.views + 5 * each.clicks
        high = self.all(get_highly_engaged_deals(CATEGORIES[0], 5))
        expected = [each.deal_id for each in found if each.category_id == CATEGORIES[0]]
        scores = {each.deal_id: each.engagement_score for each in found}
        assert [each.deal_id for each in high] == [name for name in expected if scores[name] >= 5]

    def teardown(self) -> None:
        """The design is whole, and telling the watchers twice tells them once."""
        with self.opened:
            assert self.store.run(verify(SYSTEM)) == []
            self.tell("first")
            told = self.activities()
            self.tell("second")
            assert self.activities() == told

    def tell(self, name: str) -> None:
        consume(self.store, "Deals", notify_watchers.handle, name=name).run_once()

    def activities(self) -> list[Any]:
        items = self.engine(Request("Scan", {"TableName": "UserActivities"}))["Items"]
        return sorted(items, key=repr)


def watching(user_id: str, brand_id: str | None, category_id: str | None) -> Steps[Any]:
    if brand_id and category_id:
        return watch_brand_in_category(user_id, brand_id, category_id)
    if brand_id:
        return watch_brand(user_id, brand_id)
    assert category_id
    return watch_category(user_id, category_id)


def key_of(brand_id: str | None, category_id: str | None) -> str:
    parts = [("BRAND", brand_id), ("CATEGORY", category_id)]
    return "#".join(f"{name}#{value}" for name, value in parts if value)


TestCatalogue = Catalogue.TestCase
TestCatalogue.settings = settings(max_examples=30, stateful_step_count=25)
