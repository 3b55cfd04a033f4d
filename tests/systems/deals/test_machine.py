"""Likes, watches, deals and messages in any order: the table holds what a plain model says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, TypeAlias

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from bigtime.engine import Engine
from bigtime.model import DomainError, Page, Position, setup, verify
from bigtime.store import Store, consume
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.brands import (
    create_brand,
    create_categories,
    fetch_brand,
    fetch_category,
)
from bigtime.systems.deals.deals import create_deal, fetch_brand_deals
from bigtime.systems.deals.design import BIG_TIME_DEALS, Deal, Message
from bigtime.systems.deals.front_page import fetch_front_page
from bigtime.systems.deals.interests import (
    like_brand,
    like_category,
    unlike_brand,
    unlike_category,
    unwatch_brand,
    unwatch_category,
    watch_brand,
    watch_category,
)
from bigtime.systems.deals.notifications import send_hot_deal_message
from bigtime.systems.deals.users import (
    count_unread_messages,
    create_user,
    mark_message_as_read,
    view_messages,
    view_unread_messages,
)
from bigtime.wire import Steps

Press: TypeAlias = Callable[[str, str], Steps[None]]

BRANDS = ("APPLE", "SONY", "NOBODY")
CATEGORIES = ("HOME", "TOYS", "CARS")
MISSING = ("NOBODY", "CARS")
USERNAMES = ("alex", "bo", "cleo")
OPENED = datetime(2026, 11, 15, 12, tzinfo=UTC)
PATTERNS: dict[tuple[str, str], tuple[Press, Press]] = {
    ("brand", "like"): (like_brand, unlike_brand),
    ("brand", "watch"): (watch_brand, unwatch_brand),
    ("category", "like"): (like_category, unlike_category),
    ("category", "watch"): (watch_category, unwatch_category),
}
ABSENT = {"like": "not-liked", "watch": "not-watched"}
AGAIN = {"like": "already-liked", "watch": "already-watched"}

interests = st.sampled_from(
    [
        (*kind, name)
        for kind in sorted(PATTERNS)
        for name in (BRANDS if kind[0] == "brand" else CATEGORIES)
    ]
)
usernames = st.sampled_from(USERNAMES)


class Site(RuleBasedStateMachine):
    """The table, and beside it a plain model of what it should hold."""

    def __init__(self) -> None:
        super().__init__()
        self.now = OPENED
        # The engine's clock stands still, or the stream would forget what is a day old.
        self.engine = Engine.memory(clock=OPENED.timestamp, housekeeping=False)
        self.store = Store(self.engine, clock=lambda: self.now, randomness=Random(1).randbytes)
        self.pressed: set[tuple[str, str, str, str]] = set()
        self.deals: list[Deal] = []
        self.heard = 0
        self.replays = 0
        self.unread: dict[str, dict[tuple[str, str], bool]] = {
            username: {} for username in USERNAMES
        }

    @initialize()
    def open_site(self) -> None:
        self.store.run(setup(SYSTEM))
        self.store.run(create_categories(names=["Home", "Toys"]))
        for name in ("Apple", "Sony"):
            self.store.run(create_brand(name))
        for username in USERNAMES:
            self.store.run(create_user(username))

    def outcome(self, steps: Steps[Any]) -> str:
        try:
            self.store.run(steps)
        except DomainError as error:
            return error.code
        return "done"

    # Likes and watches

    @rule(interest=interests, username=usernames)
    def press(self, interest: tuple[str, str, str], username: str) -> None:
        what, how, name = interest
        do, _ = PATTERNS[what, how]
        expected = "done"
        if name in MISSING:
            expected = f"unknown-{what}"
        elif (*interest, username) in self.pressed:
            expected = AGAIN[how]
        else:
            self.pressed.add((*interest, username))
        assert self.outcome(do(name, username)) == expected

    @rule(interest=interests, username=usernames)
    def release(self, interest: tuple[str, str, str], username: str) -> None:
        what, how, name = interest
        _, undo = PATTERNS[what, how]
        expected = "done" if (*interest, username) in self.pressed else ABSENT[how]
        self.pressed.discard((*interest, username))
        assert self.outcome(undo(name, username)) == expected

    # Deals and messages

    @rule(brand=st.sampled_from(BRANDS[:2]), category=st.sampled_from(CATEGORIES[:2]))
    def post(self, brand: str, category: str) -> None:
        steps = create_deal("A lamp", "https://a.example", Decimal(5), brand, category)
        self.deals.append(self.store.run(steps))

    @rule()
    def listen(self) -> None:
        """The reactions hear what is new."""
        self.hear("site")
        self.expect_announced(self.deals[self.heard :])
        self.heard = len(self.deals)

    @rule()
    def listen_from_the_start(self) -> None:
        """Somebody hears it all again; who has begun to watch meanwhile is told too."""
        self.replays += 1
        self.hear(f"replay {self.replays}")
        self.expect_announced(self.deals)
        self.heard = len(self.deals)

    def hear(self, name: str) -> None:
        for reaction in SYSTEM.reactions.values():
            consumer = f"{name}, {reaction.name}"
            consume(self.store, BIG_TIME_DEALS.name, reaction.handle, name=consumer).run_once()

    def expect_announced(self, deals: list[Deal]) -> None:
        for deal in deals:
            for what, name in (("brand", deal.brand), ("category", deal.category)):
                for username in USERNAMES:
                    if (what, "watch", name, username) in self.pressed:
                        self.unread[username].setdefault((deal.deal_id, "watched"), True)

    @precondition(lambda self: self.deals)
    @rule(data=st.data())
    def send_hot_deal(self, data: st.DataObject) -> None:
        deal = data.draw(st.sampled_from(self.deals))
        self.store.run(send_hot_deal_message(deal.deal_id, segments=2))
        for username in USERNAMES:
            self.unread[username].setdefault((deal.deal_id, "hot"), True)

    @rule(username=usernames, data=st.data())
    def read_a_message(self, username: str, data: st.DataObject) -> None:
        messages = self.messages(username)
        if messages:
            one = data.draw(st.sampled_from(messages))
            self.store.run(mark_message_as_read(username, one.message_id))
            self.unread[username][one.deal_id, one.kind] = False

    def messages(self, username: str) -> list[Message]:
        found: list[Message] = []
        position = None
        while True:
            page = self.store.run(view_messages(username, after=position))
            found += page
            position = page.position
            if position is None:
                return found

    @rule(minutes=st.sampled_from([1, 50, 24 * 60, 3 * 24 * 60]))
    def pass_time(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    # What must hold

    @rule()
    def look_at_counts(self) -> None:
        tally = Counter(entry[:3] for entry in self.pressed)
        for name in BRANDS[:2]:
            brand = self.store.run(fetch_brand(name))
            assert brand.like_count == tally["brand", "like", name]
            assert brand.watch_count == tally["brand", "watch", name]
        for name in CATEGORIES[:2]:
            category, _ = self.store.run(fetch_category(name))
            assert category.like_count == tally["category", "like", name]
            assert category.watch_count == tally["category", "watch", name]

    @rule(username=usernames)
    def look_at_messages(self, username: str) -> None:
        expected = self.unread[username]
        found = self.messages(username)
        assert {(each.deal_id, each.kind): each.unread for each in found} == expected
        assert [each.message_id for each in found] == sorted(
            (each.message_id for each in found), reverse=True
        )
        assert self.store.run(count_unread_messages(username)) == sum(expected.values())
        assert not any(
            not message.unread for message in self.store.run(view_unread_messages(username))
        )

    @rule(brand=st.sampled_from(BRANDS[:2]))
    def look_at_deals(self, brand: str) -> None:
        every = sorted(self.deals, key=lambda one: one.deal_id, reverse=True)
        assert self.walk_pages(lambda after: fetch_brand_deals(brand, after=after)) == [
            each for each in every if each.brand == brand
        ]
        assert self.walk_pages(front_deals) == every

    def walk_pages(self, asking: Callable[[Position | None], Steps[Page[Deal]]]) -> list[Deal]:
        """All deals since the site was opened, page by page."""
        found: list[Deal] = []
        position = None
        while True:
            page = self.store.run(asking(position))
            found += page
            position = page.position
            if position is None:
                return found
            assert len(page) == 25

    def teardown(self) -> None:
        try:
            self.look_at_counts()
            for username in USERNAMES:
                self.look_at_messages(username)
            assert self.store.run(verify(SYSTEM)) == []
        finally:
            self.engine.close()


def front_deals(after: Position | None) -> Steps[Page[Deal]]:
    _, deals = yield from fetch_front_page(after=after)
    return deals


TestSite = Site.TestCase
TestSite.settings = settings(max_examples=12, stateful_step_count=30, deadline=None)
