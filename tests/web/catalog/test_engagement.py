"""Views and clicks: what they make of a deal's place, and of somebody's activities."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import Ksuid, scan_all, verify
from bigtime.site.catalog_projection import catalog_deal
from bigtime.site.engagement import DEALS_AT_ONCE, discount
from bigtime.store import TransportError
from bigtime.systems import catalog
from bigtime.systems.catalog.deals import create_deal
from bigtime.systems.catalog.design import TrendingDeal, UserActivity
from bigtime.systems.catalog.trending import (
    get_trending_by_category,
    record_engagement,
    start_trending,
    stop_trending,
)
from bigtime.systems.catalog.users import get_user_activities
from bigtime.systems.deals.deals import update_deal
from bigtime.web.app import LIMITS
from bigtime.web.pages.view_counter import Engagement, OwnViews
from bigtime.wire import DynamoDBError, Request
from tests.store.places import START
from tests.web.cart.scene import Browser, Scene, deal

LAMP, DESK = deal(1), deal(2)
GONE = Ksuid.make(START, b"x" * 16)


@pytest.fixture(autouse=True)
def post_deals(scene: Scene) -> None:
    scene.post(LAMP, DESK)


def flush(scene: Scene) -> None:
    scene.wait(scene.site.engagement.flush())


def places(scene: Scene) -> dict[str, tuple[int, int, int]]:
    """Score, views and clicks of each deal that has a place; none has two."""
    found = scene.run(scan_all(TrendingDeal))
    assert len({each.deal_id for each in found}) == len(found)
    return {each.deal_id: (each.engagement_score, each.views, each.clicks) for each in found}


def activities(scene: Scene, username: str = "liz") -> list[UserActivity]:
    return list(scene.run(get_user_activities(username, limit=100)))


def look(browser: Browser, times: int = 1, deal_id: str = LAMP.deal_id) -> None:
    for _ in range(times):
        assert browser.get(f"/deals/{deal_id}").status_code == 200


def go(browser: Browser, deal_id: str = LAMP.deal_id) -> None:
    assert browser.get(f"/deals/{deal_id}/go").status_code == 303


ADDRESSES = count(1)


def asking_for(deal_id: str, address: str | None = None) -> dict[str, Any]:
    """A request for the page of a deal, from some address or another one each time."""
    client = address or f"192.0.2.{next(ADDRESSES) % 250}"
    return {"path": f"/deals/{deal_id}", "client": (client, 1), "headers": []}


# Views


def test_views_count_whether_or_not_the_page_was_kept(scene: Scene) -> None:
    look(scene.browser())
    hits = scene.site.cache.hits
    for browser in (scene.browser("liz"), scene.browser("chad")):
        look(browser)
    assert scene.site.cache.hits - hits == 2
    assert places(scene) == {}
    flush(scene)
    assert places(scene) == {LAMP.deal_id: (3, 3, 0)}


def test_one_view_of_an_address_or_a_user_counts_for_a_deal_in_an_hour(scene: Scene) -> None:
    engagement, now = scene.site.engagement, [1_000.0]
    engagement.limits.clock = lambda: now[0]
    nobody, liz = scene.browser(), scene.browser("liz")
    for _ in range(3):
        look(nobody, 2)
        look(liz, 2)
        flush(scene)
    assert places(scene) == {LAMP.deal_id: (2, 2, 0)}
    look(nobody, 2, DESK.deal_id)
    now[0] += 3_599
    look(nobody)
    flush(scene)
    assert places(scene) == {LAMP.deal_id: (2, 2, 0), DESK.deal_id: (1, 1, 0)}
    now[0] += 1
    look(nobody, 2)
    look(liz, 2)
    flush(scene)
    assert places(scene)[LAMP.deal_id] == (4, 4, 0)


def test_views_that_are_remembered_are_bounded(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.web.pages.view_counter.MOST_REMEMBERED", 3)
    engagement = scene.site.engagement
    for _ in range(2):
        for number in range(5):
            engagement.note(asking_for(LAMP.deal_id, f"198.51.100.{number}"), None)
            engagement.note(asking_for(LAMP.deal_id, f"198.51.100.{number}"), None)
    assert isinstance(engagement.viewed, OwnViews) and len(engagement.viewed) == 3
    assert engagement.counted.views == {LAMP.deal_id: 10}


# A deal at its maximum, and a flush that fails part-way

TOP = 10**10 - 1


def at_the_top(scene: Scene, *deals: Any) -> None:
    for brimful in deals:
        scene.run(create_deal(catalog_deal(brimful)))
        scene.run(start_trending(brimful.deal_id, Decimal(0), views=TOP))


def test_a_deal_at_its_maximum_stops_no_other(scene: Scene) -> None:
    others = [deal(100 + number) for number in range(2 * DEALS_AT_ONCE)]
    scene.post(*others)
    top = others[DEALS_AT_ONCE // 2]
    at_the_top(scene, top)
    for _ in range(2):
        for viewed in others:
            scene.site.engagement.note(asking_for(viewed.deal_id), None)
        flush(scene)
        assert not scene.site.engagement.counted
    found = places(scene)
    assert found.pop(top.deal_id) == (TOP, TOP, 0)
    assert set(found.values()) == {(2, 2, 0)} and len(found) == len(others) - 1


def test_a_click_on_a_deal_at_its_maximum_gets_there(scene: Scene) -> None:
    at_the_top(scene, LAMP)
    for browser in (scene.browser(), scene.browser("liz")):
        go(browser)
    assert places(scene) == {LAMP.deal_id: (TOP, TOP, 0)}
    assert [activity.activity_type for activity in activities(scene)] == ["deal_click"]


def fail_transactions(scene: Scene, *, error: Exception, after: int, times: int = 1) -> None:
    """Lets so many transactions through, fails so many, and lets the rest through."""
    transport, seen = scene.store.transport, count(1)

    async def failing(request: Request) -> Any:
        if request.operation == "TransactWriteItems" and after < next(seen) <= after + times:
            raise error
        return await transport(request)

    scene.store.transport = failing


def test_what_was_written_before_a_failure_is_not_written_again(scene: Scene) -> None:
    deals = [deal(100 + number) for number in range(2 * DEALS_AT_ONCE)]
    scene.post(*deals)
    for viewed in deals:
        scene.site.engagement.note(asking_for(viewed.deal_id), None)
    fail_transactions(scene, error=DynamoDBError("It does not go."), after=1)
    with pytest.raises(DynamoDBError):
        flush(scene)
    assert len(scene.site.engagement.counted.views) == DEALS_AT_ONCE
    for _ in range(3):
        flush(scene)
    assert set(places(scene).values()) == {(1, 1, 0)}
    assert len(places(scene)) == len(deals)


def test_deals_moved_by_themselves_before_a_failure_are_not_moved_again(scene: Scene) -> None:
    deals = [deal(100 + number) for number in range(5)]
    scene.post(*deals)
    for viewed in deals:
        scene.site.engagement.note(asking_for(viewed.deal_id), None)
    store, run = scene.store, scene.store.run
    refused = [catalog.EngagementMoved(), None, None, catalog.EngagementMoved()]

    async def overtaken(steps: Any) -> Any:
        if "move_to_new_rank" in getattr(steps, "__qualname__", "") + repr(steps):
            error = refused.pop(0) if refused else None
            if error is not None:
                raise error
        return await run(steps)

    store.run = overtaken  # type: ignore[method-assign]
    with pytest.raises(catalog.EngagementMoved):
        flush(scene)
    assert sum(scene.site.engagement.counted.views.values()) == 1
    flush(scene)
    flush(scene)
    assert set(places(scene).values()) == {(1, 1, 0)}
    assert len(places(scene)) == len(deals)


def test_views_whose_response_was_lost_are_not_counted_twice(scene: Scene) -> None:
    scene.site.engagement.note(asking_for(LAMP.deal_id), None)
    transport = scene.store.transport

    async def losing(request: Request) -> Any:
        response = await transport(request)
        if request.operation == "TransactWriteItems":
            raise TransportError("The connection was cut.", uncertain=True)
        return response

    scene.store.transport = losing
    with pytest.raises(TransportError):
        flush(scene)
    scene.store.transport = transport
    flush(scene)
    assert places(scene) == {LAMP.deal_id: (1, 1, 0)}


def test_only_pages_of_deals_that_were_shown_are_views(scene: Scene) -> None:
    nobody = scene.browser()
    for path in ("/", f"/deals/{GONE}", "/deals/x", "/categories/HOME"):
        nobody.get(path)
    scene.wait(nobody.client.head(f"/deals/{LAMP.deal_id}"))
    flush(scene)
    assert places(scene) == {}


def test_nothing_is_asked_of_the_store_when_nobody_looked(scene: Scene) -> None:
    scene.exchanges.clear()
    flush(scene)
    assert scene.exchanges == []


def test_the_views_of_many_deals_are_written_together(scene: Scene) -> None:
    deals = [deal(100 + number) for number in range(2 * DEALS_AT_ONCE + 1)]
    scene.post(*deals)
    for searches in (3, 0):
        for each in deals:
            scene.site.engagement.note(asking_for(each.deal_id), None)
        scene.exchanges.clear()
        flush(scene)
        sent = Counter(exchange.request.operation for exchange in scene.exchanges)
        assert sent["TransactWriteItems"] == 3
        assert sent["Query"] == searches
        assert sent.total() == 7 + searches
    found = places(scene)
    assert [found[each.deal_id] for each in deals] == [(2, 2, 0)] * len(deals)


def test_deals_with_one_score_have_a_place_each(scene: Scene) -> None:
    for each in (LAMP, DESK):
        look(scene.browser(), 4, each.deal_id)
    flush(scene)
    listed = scene.run(get_trending_by_category("HOME"))
    assert {each.deal_id for each in listed} == {LAMP.deal_id, DESK.deal_id}


def test_views_of_a_deal_that_is_gone_are_dropped(scene: Scene) -> None:
    scene.site.engagement.note(asking_for(GONE), None)
    flush(scene)
    flush(scene)
    assert places(scene) == {}


def test_what_cannot_be_written_is_kept_for_the_next_time(scene: Scene) -> None:
    liz = scene.browser("liz")
    look(liz, 3)
    transport = scene.store.transport

    async def failing(request: Request) -> Any:
        if request.operation == "TransactWriteItems":
            raise DynamoDBError("It does not go.")
        return await transport(request)

    scene.store.transport = failing
    with pytest.raises(DynamoDBError):
        flush(scene)
    scene.store.transport = transport
    look(scene.browser())
    flush(scene)
    assert places(scene) == {LAMP.deal_id: (2, 2, 0)}
    assert len(activities(scene)) == 1


# Activities


def test_a_view_of_somebody_is_an_activity_one_for_each_hour(scene: Scene) -> None:
    liz = scene.browser("liz")
    look(liz, 2)
    flush(scene)
    scene.time.now += timedelta(minutes=20)
    look(liz)
    flush(scene)
    (viewed,) = activities(scene)
    assert (viewed.activity_type, viewed.timestamp) == ("deal_view", START)
    assert viewed.details == {
        "deal_id": LAMP.deal_id,
        "title": "Lamp 1",
        "at": (START + timedelta(minutes=20)).isoformat(),
    }
    scene.time.now += timedelta(hours=1)
    look(liz)
    flush(scene)
    assert len(activities(scene)) == 2


def test_a_view_of_nobody_is_no_activity(scene: Scene) -> None:
    look(scene.browser())
    go(scene.browser())
    flush(scene)
    assert scene.run(scan_all(UserActivity)) == []


def test_activities_are_shown_to_whoever_did_them(scene: Scene) -> None:
    liz, chad = scene.browser("liz"), scene.browser("chad")
    go(liz)
    look(liz, 1, DESK.deal_id)
    flush(scene)
    page = liz.get("/me/activity").text
    assert "Lamp 1" in page
    assert "Lamp 2" in page
    assert "Lamp" not in chad.get("/me/activity").text


# Clicks


def test_a_click_is_written_before_its_visitor_is_sent_on(scene: Scene) -> None:
    liz = scene.browser("liz")
    answer = liz.get(f"/deals/{LAMP.deal_id}/go")
    assert answer.headers["location"] == LAMP.link
    assert places(scene) == {LAMP.deal_id: (5, 0, 1)}
    (clicked,) = activities(scene)
    assert clicked.activity_type == "deal_click"
    assert (clicked.details or {})["deal_id"] == LAMP.deal_id


def test_a_click_and_its_activity_are_one_transaction(scene: Scene) -> None:
    liz = scene.browser("liz")
    go(liz)
    scene.exchanges.clear()
    go(liz, DESK.deal_id)
    (written,) = [
        exchange.request
        for exchange in scene.exchanges
        if exchange.request.operation == "TransactWriteItems"
    ]
    tables = {
        next(iter(transact_item.values()))["TableName"]
        for transact_item in written.params["TransactItems"]
    }
    assert tables == {"UserActivities", "TrendingDeals", "Site"}


def test_clicks_of_one_user_count_once_in_an_hour(scene: Scene) -> None:
    liz, chad = scene.browser("liz"), scene.browser("chad")
    for browser in (liz, liz, chad, liz):
        go(browser)
        scene.time.now += timedelta(minutes=10)
    assert places(scene) == {LAMP.deal_id: (10, 0, 2)}
    scene.time.now += timedelta(hours=1)
    go(liz)
    assert places(scene) == {LAMP.deal_id: (15, 0, 3)}
    assert len(activities(scene)) == 2


def test_one_click_sent_many_times_at_once_counts_once(scene: Scene) -> None:
    liz = scene.browser("liz")

    async def click() -> None:
        await asyncio.gather(*(liz.client.get(f"/deals/{LAMP.deal_id}/go") for _ in range(8)))

    scene.wait(click())
    assert places(scene) == {LAMP.deal_id: (5, 0, 1)}


def test_clicks_of_nobody_count_each_however_many_come_at_once(scene: Scene) -> None:
    nobody = scene.browser()

    async def click() -> None:
        await asyncio.gather(*(nobody.client.get(f"/deals/{LAMP.deal_id}/go") for _ in range(30)))

    scene.wait(click())
    assert places(scene) == {LAMP.deal_id: (150, 0, 30)}


def test_a_click_that_finds_no_place_free_sends_on_and_counts_with_the_next_views(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    liz = scene.browser("liz")
    monkeypatch.setattr("bigtime.site.engagement.TRIES", 0)
    for browser in (liz, liz, scene.browser()):
        go(browser)
    assert places(scene) == {}
    assert len(activities(scene)) == 1
    flush(scene)
    assert places(scene) == {LAMP.deal_id: (10, 0, 2)}


def test_a_click_to_an_unknown_deal_is_no_click(scene: Scene) -> None:
    liz = scene.browser("liz")
    for deal_id in (GONE, "x"):
        assert liz.get(f"/deals/{deal_id}/go").status_code == 404
    assert places(scene) == {}
    assert activities(scene) == []


# Others who move places


def test_several_processes_give_a_deal_one_place_and_count_everything(scene: Scene) -> None:
    processes = [Engagement(scene.store, scene.site.limits) for _ in range(4)]

    async def engage(one: Engagement) -> None:
        for _ in range(5):
            one.note(asking_for(LAMP.deal_id), None)
            await asyncio.gather(one.flush(), one.click(LAMP, None, asking_for(LAMP.deal_id)))

    async def all_at_once() -> None:
        await asyncio.gather(*map(engage, processes))
        for process in processes:
            await process.flush()

    scene.wait(all_at_once())
    assert places(scene) == {LAMP.deal_id: (120, 20, 20)}
    assert scene.run(verify(catalog.SYSTEM)) == []


def test_a_place_that_somebody_else_gave_or_moved_is_gone_on_from(scene: Scene) -> None:
    scene.run(create_deal(catalog_deal(LAMP)))
    scene.run(start_trending(LAMP.deal_id, Decimal(0), views=7))
    go(scene.browser())
    assert places(scene) == {LAMP.deal_id: (12, 7, 1)}
    (seen,) = scene.run(scan_all(TrendingDeal))
    scene.run(record_engagement(seen, views=8))
    go(scene.browser())
    look(scene.browser())
    flush(scene)
    assert places(scene) == {LAMP.deal_id: (26, 16, 2)}


def test_a_deal_that_was_taken_from_the_trending_begins_again(scene: Scene) -> None:
    go(scene.browser())
    scene.run(stop_trending("HOME", LAMP.deal_id))
    look(scene.browser())
    flush(scene)
    assert places(scene) == {LAMP.deal_id: (1, 1, 0)}


def test_a_place_shows_the_deal_as_it_was_when_it_last_moved(scene: Scene) -> None:
    go(scene.browser())
    scene.run(update_deal(LAMP.deal_id, title="A finer lamp", list_price=Decimal("39.98")))
    go(scene.browser())
    (place,) = scene.run(scan_all(TrendingDeal))
    assert (place.title, place.discount_percentage) == ("A finer lamp", Decimal("50.00"))


def test_the_trending_page_follows_what_people_do(scene: Scene) -> None:
    look(scene.browser(), 3, DESK.deal_id)
    flush(scene)
    go(scene.browser())
    page = scene.browser().get("/trending/HOME").text
    assert page.index("Lamp 1") < page.index("Lamp 2")


# The server


def test_what_was_counted_is_written_when_the_server_stops(scene: Scene) -> None:
    async def serve() -> None:
        application: Any = scene.front.application
        async with application.router.lifespan_context(application):
            scene.site.engagement.note(asking_for(LAMP.deal_id), None)

    scene.wait(serve())
    assert places(scene) == {LAMP.deal_id: (1, 1, 0)}


def test_what_was_counted_is_written_every_few_seconds(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.web.pages.view_counter.SECONDS_BETWEEN", 0.01)

    async def serve() -> None:
        application: Any = scene.front.application
        async with application.router.lifespan_context(application):
            scene.site.engagement.note(asking_for(LAMP.deal_id), None)
            while scene.site.engagement.counted:
                await asyncio.sleep(0.01)

    scene.wait(asyncio.wait_for(serve(), 60))
    assert places(scene) == {LAMP.deal_id: (1, 1, 0)}


CENTS = st.integers(1, 10**14 - 1)


@given(CENTS, CENTS)
def test_a_discount_is_what_is_saved_and_less_than_all(price: int, list_price: int) -> None:
    cents = Decimal("0.01")
    prices = {"price": price * cents, "list_price": list_price * cents}
    off = discount(LAMP.model_copy(update=prices))
    assert 0 <= off < 100
    saved = max(Decimal(0), Decimal(list_price - price) * 100 / list_price)
    assert off <= saved < off + cents


# Those who look and click all the time


def test_views_of_one_address_are_counted_so_many_in_a_minute(scene: Scene) -> None:
    engagement, most = scene.site.engagement, LIMITS["view"].tries
    for number in range(most + 50):
        viewed = LAMP.deal_id if number == 0 else Ksuid.make(START, number.to_bytes(16))
        engagement.note(asking_for(viewed, "198.51.100.7"), None)
    assert len(engagement.counted.views) == most
    engagement.note(asking_for(LAMP.deal_id, "198.51.100.8"), None)
    flush(scene)
    assert places(scene) == {LAMP.deal_id: (2, 2, 0)}


def test_who_clicks_all_the_time_gets_there_and_is_not_counted(scene: Scene) -> None:
    nobody, most = scene.browser(), LIMITS["click"].tries
    for _ in range(most + 20):
        go(nobody)
    assert places(scene)[LAMP.deal_id][2] == most
    scene.exchanges.clear()
    go(nobody)
    assert {exchange.request.operation for exchange in scene.exchanges} == {"GetItem"}


def test_who_is_signed_in_is_counted_whatever_their_address_did(scene: Scene) -> None:
    nobody = scene.browser()
    for _ in range(LIMITS["click"].tries + 1):
        go(nobody)
    before = places(scene)[LAMP.deal_id][2]
    go(scene.browser("liz"))
    assert places(scene)[LAMP.deal_id][2] == before + 1
