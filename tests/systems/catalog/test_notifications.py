"""New deals reach their watchers: at least once in, exactly once out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import put, put_many, setup, update
from bigtime.store import Store, consume
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.deals import (
    change_deal_status,
    create_deal,
    expire_deal,
    put_deal,
    update_deal,
)
from bigtime.systems.catalog.design import DealStatus, UserActivity, UserWatch, WatchType
from bigtime.systems.catalog.users import get_user_notifications
from bigtime.systems.catalog.watches import (
    brand_in_category_watch,
    brand_watch,
    category_watch,
    notification,
    notify_watchers,
    unwatch,
    watch_brand,
    watch_brand_in_category,
    watch_category,
)
from bigtime.wire import Request, Response
from tests.store.places import START, Place
from tests.systems.catalog.samples import (
    ASUS,
    SONY,
    TEN,
    brand,
    deal,
    new_deal,
    stored_items,
    with_brands,
)


def consumer(place: Place, name: str = "notifications") -> Callable[[], int]:
    return place.consumer("Deals", notify_watchers.handle, name=name)


def notified_users(place: Place) -> list[tuple[str, str]]:
    """Who was told of what."""
    items = stored_items(place, "UserActivities")
    return sorted((item["user_id"]["S"], item["details"]["M"]["deal_id"]["S"]) for item in items)


def test_watchers_of_brand_category_and_both_are_told_once(place: Place) -> None:
    """D22: once per user and deal."""
    with_brands(place)
    place.run(watch_brand("brand-only", SONY))
    place.run(watch_category("category-only", "electronics"))
    place.run(watch_brand("each", SONY))
    place.run(watch_category("each", "electronics"))
    place.run(watch_brand_in_category("each", SONY, "electronics"))
    place.run(watch_brand_in_category("both", SONY, "electronics"))
    place.run(watch_brand("other-brand", ASUS))
    place.run(watch_category("other-category", "computers"))

    place.run(create_deal(new_deal("deal-1")))
    consumer(place)()

    expected = [(name, "deal-1") for name in ("both", "brand-only", "category-only", "each")]
    assert notified_users(place) == expected
    (found,) = place.run(get_user_notifications("both"))
    assert found == notification("both", new_deal("deal-1"))
    assert (found.timestamp, found.activity_type) == (START, "deal_notification")


def test_a_brand_in_a_category_is_told_only_where_both_match(place: Place) -> None:
    with_brands(place)
    place.run(watch_brand_in_category("ann", SONY, "electronics"))

    place.run(create_deal(new_deal("deal-1", category_id="computers")))
    place.run(create_deal(new_deal("deal-2", brand_id=ASUS)))
    place.run(create_deal(new_deal("deal-3")))
    consumer(place)()

    assert notified_users(place) == [("ann", "deal-3")]


def test_a_replay_of_the_whole_stream_changes_nothing(place: Place) -> None:
    """Another consumer begins with the oldest record, and so meets all of them again."""
    with_brands(place)
    place.run(watch_brand("ann", SONY))
    place.run(watch_category("bob", "electronics"))
    place.run(create_deal(new_deal("deal-1")))
    place.run(create_deal(new_deal("deal-2", status="expired")))
    place.run(change_deal_status("deal-2", DealStatus.FEATURED))
    place.run(update_deal("deal-1", title="Another title"))
    place.run(expire_deal("deal-1"))
    place.run(change_deal_status("deal-1", DealStatus.ACTIVE))
    consumer(place)()
    before = stored_items(place, "UserActivities")
    assert len(before) == 4

    assert consumer(place, "again")() > 0
    assert consumer(place, "and again")() > 0
    assert stored_items(place, "UserActivities") == before


def test_what_became_of_a_notification_outlives_a_replay(place: Place) -> None:
    with_brands(place)
    place.run(watch_brand("ann", SONY))
    place.run(create_deal(new_deal("deal-1")))
    consumer(place)()
    (first,) = place.run(get_user_notifications("ann"))

    place.run(update(first.own_key(), details={"deal_id": "deal-1", "read": True}))
    consumer(place, "again")()

    (found,) = place.run(get_user_notifications("ann"))
    assert found.details == {"deal_id": "deal-1", "read": True}


def test_a_deal_is_told_when_it_becomes_listed(place: Place) -> None:
    with_brands(place)
    place.run(watch_brand("ann", SONY))
    run = consumer(place)
    place.run(create_deal(new_deal("deal-1", status="expired")))
    run()
    assert notified_users(place) == []

    place.run(change_deal_status("deal-1", DealStatus.ACTIVE))
    run()
    assert notified_users(place) == [("ann", "deal-1")]


def test_a_deal_that_is_listed_already_is_not_new(alone: Place) -> None:
    with_brands(alone)
    alone.run(create_deal(new_deal("deal-1")))
    run = consumer(alone)
    run()

    alone.run(watch_brand("ann", SONY))
    alone.run(update_deal("deal-1", title="Cheaper still"))
    alone.run(change_deal_status("deal-1", DealStatus.FEATURED))
    alone.run(put_deal(new_deal("deal-1", description="Written over")))
    alone.run(expire_deal("deal-1"))
    run()

    assert notified_users(alone) == []


def test_nobody_is_told_of_history(alone: Place) -> None:
    """A deal that is imported, restored or made up for a demonstration was posted long ago."""
    with_brands(alone)
    alone.run(watch_brand("ann", SONY))
    run = consumer(alone)
    an_hour_ago = START - timedelta(hours=1)
    alone.run(create_deal(deal("deal-1", posted_at=an_hour_ago - timedelta(seconds=1))))
    run()
    assert notified_users(alone) == []

    alone.run(create_deal(deal("deal-2", posted_at=an_hour_ago)))
    run()
    assert notified_users(alone) == [("ann", "deal-2")]


def test_a_deal_that_is_listed_again_is_news_however_old_it_is(alone: Place) -> None:
    with_brands(alone)
    alone.run(watch_brand("ann", SONY))
    alone.run(create_deal(deal("deal-1", status="expired")))
    alone.run(change_deal_status("deal-1", DealStatus.ACTIVE))
    consumer(alone)()

    assert notified_users(alone) == [("ann", "deal-1")]


def test_who_unwatches_is_not_told(alone: Place) -> None:
    with_brands(alone)
    alone.run(watch_brand("ann", SONY))
    alone.run(unwatch("ann", "BRAND#brand-sony"))

    alone.run(create_deal(new_deal("deal-1")))
    consumer(alone)()

    assert notified_users(alone) == []


def test_a_watch_under_another_key_goes_by_what_it_holds(place: Place) -> None:
    """D12: the index of a brand shows keys only, so such a watch is read whole."""

    def foreign(user_id: str, brand_id: str | None, category_id: str | None) -> UserWatch:
        return UserWatch(
            user_id=user_id,
            watch_key="watch-electronics-sony",
            watch_type=WatchType.BRAND_CATEGORY,
            created_at=TEN,
            brand_id=brand_id,
            category_id=category_id,
        )

    for watch in (
        foreign("both", SONY, "electronics"),
        foreign("elsewhere", SONY, "computers"),
        foreign("another", ASUS, "electronics"),
        foreign("brand", SONY, None),
        foreign("category", None, "electronics"),
    ):
        place.run(put(watch))

    place.run(create_deal(new_deal("deal-1")))
    consumer(place)()

    assert notified_users(place) == [
        ("both", "deal-1"),
        ("brand", "deal-1"),
        ("category", "deal-1"),
    ]


def test_every_page_of_watchers_is_told(alone: Place) -> None:
    """Pages end in the middle of a user's watches, and in an index without a sort key."""
    users = [f"user-{number:03}" for number in range(230)]
    watches = [
        watch
        for name in users
        for watch in (
            brand_watch(name, brand(), at=TEN),
            brand_in_category_watch(name, brand(), "electronics", at=TEN),
            brand_in_category_watch(name, brand(), "computers", at=TEN),
            category_watch(name, "electronics", None, at=TEN),
        )
    ]
    alone.run(put_many(watches))
    alone.run(create_deal(new_deal("deal-1")))

    consumer(alone)()

    assert notified_users(alone) == [(name, "deal-1") for name in users]


class PowerCut(Exception):
    """The process ends."""


@pytest.mark.parametrize("survived", range(6))
def test_a_crash_anywhere_is_caught_up_with(engine: Engine, survived: int) -> None:
    """Before each of six batches, on two pages; the next start tells the rest, and once."""
    writes = 0

    def failing(request: Request) -> Response:
        nonlocal writes
        if request.operation == "BatchWriteItem" and request.params["RequestItems"].keys() == {
            "UserActivities"
        }:
            if writes == survived:
                raise PowerCut
            writes += 1
        return engine(request)

    names = [f"user-{number:03}" for number in range(150)]
    store = Store(engine)
    store.run(setup(SYSTEM))
    store.run(put_many(brand_watch(name, brand(), at=TEN) for name in names))
    store.run(create_deal(new_deal("deal-1")))
    with pytest.raises(PowerCut):
        consume(Store(failing), "Deals", notify_watchers.handle, name="told").run_once()
    assert len(users_told(engine)) == 25 * survived

    consume(store, "Deals", notify_watchers.handle, name="told").run_once()

    assert users_told(engine) == names


def users_told(engine: Engine) -> list[str]:
    items = engine(Request("Scan", {"TableName": "UserActivities"}))["Items"]
    return sorted(item["user_id"]["S"] for item in items)


users = st.sampled_from(["ann", "bob", "cyd", "dan"])
brand_ids = st.sampled_from([SONY, ASUS, None])
category_ids = st.sampled_from(["electronics", "computers", None])
watched = st.sets(st.tuples(users, brand_ids, category_ids), max_size=12)


@settings(max_examples=40)
@given(watched, st.sets(users))
def test_users_are_told_by_the_rule_whoever_was_told_before(
    watched: set[tuple[str, str | None, str | None]], before: set[str]
) -> None:
    """A deal is for a watch whose brand and category, as far as it has them, are the deal's."""
    new = new_deal("deal-1")
    with Engine.memory(clock=START.timestamp, housekeeping=False) as engine:
        store = Store(engine)
        store.run(setup(SYSTEM))
        store.run(put_many(filter(None, (watch_of(*each) for each in watched))))
        store.run(put_many(notification(name, new) for name in before))
        store.run(create_deal(new))
        consume(store, "Deals", notify_watchers.handle, name="told").run_once()
        found = users_told(engine)

    expected = before | {
        name
        for name, brand_id, category_id in watched
        if (brand_id or category_id)
        and brand_id in (None, SONY)
        and category_id in (None, "electronics")
    }
    assert found == sorted(expected)


def watch_of(user_id: str, brand_id: str | None, category_id: str | None) -> UserWatch | None:
    if brand_id and category_id:
        return brand_in_category_watch(user_id, brand(brand_id), category_id, at=TEN)
    if brand_id:
        return brand_watch(user_id, brand(brand_id), at=TEN)
    return category_watch(user_id, category_id, None, at=TEN) if category_id else None


def test_a_notification_lies_at_the_time_of_its_deal(alone: Place) -> None:
    """So a feed shows it where the deal is, not where the consumer was."""
    posted = datetime(2026, 3, 10, 8, 30, tzinfo=UTC)
    made = notification("ann", deal("deal-1", posted_at=posted))

    assert isinstance(made, UserActivity)
    assert made.own_key().item["sk"] == {"S": "2026-03-10T08:30:00Z#notification-deal-1"}


def test_a_deal_with_the_longest_id_can_be_told_of(alone: Place) -> None:
    with_brands(alone)
    longest = "d" * 100
    alone.run(watch_brand("ann", SONY))
    alone.run(create_deal(new_deal(longest)))
    consumer(alone)()

    assert notified_users(alone) == [("ann", longest)]
