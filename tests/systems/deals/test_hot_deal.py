"""A hot deal's message: to every user, once, and resumed where it stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from bigtime.engine import Engine
from bigtime.model import load_many, verify
from bigtime.store import Store
from bigtime.store.driver import Exchange
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.design import HotDealSegment, MessageKind, User
from bigtime.systems.deals.errors import SegmentsRefused, UnknownDeal
from bigtime.systems.deals.notifications import (
    HotDealProgress,
    message_for,
    send_hot_deal_message,
    view_hot_deal_progress,
)
from bigtime.systems.deals.users import mark_message_as_read, view_messages
from tests.store.places import START, Place
from tests.systems.deals.scene import deal, dump, load

HOT = deal(START)


def sign_up(place: Place, count: int) -> None:
    place.run(
        load_many(
            User(username=f"user-{number}", name="U", created_at=START) for number in range(count)
        )
    )
    load(place, [HOT])


def count_messages(place: Place) -> Counter[int]:
    """How many users have how many messages."""
    items = dump(place)
    inboxes = Counter(item["Username"]["S"] for item in items if item["Type"]["S"] == "Message")
    return Counter(inboxes[item["Username"]["S"]] for item in items if item["Type"]["S"] == "User")


def test_every_user_is_told_of_a_hot_deal(place: Place) -> None:
    sign_up(place, 130)

    progress = place.run(send_hot_deal_message(HOT.deal_id))

    assert progress == HotDealProgress(told=130, segments=8, segments_done=8) and progress.is_done
    assert count_messages(place) == {1: 130}
    (message,) = place.run(view_messages("user-7"))
    assert message.subject == "Hot: Lamp 0" and message.unread
    assert place.run(verify(SYSTEM)) == []


def test_a_message_carries_the_time_it_was_sent(place: Place) -> None:
    """B32: a hot deal of last week is at the top of the inbox, above the news of yesterday."""
    sign_up(place, 3)
    place.time.now = START + timedelta(days=6)
    yesterday = message_for(deal(START, 1), MessageKind.BRAND, "user-1", at=place.time.now)
    place.run(load_many([yesterday]))
    place.time.now = START + timedelta(days=7, hours=3)

    place.run(send_hot_deal_message(HOT.deal_id))

    newest, older = place.run(view_messages("user-1"))
    sent_after = newest.message_id.at - START
    assert newest.deal_id == HOT.deal_id and sent_after // timedelta(hours=1) == 7 * 24 + 3
    assert older == yesterday


def test_what_is_resumed_later_carries_the_time_it_was_begun(place: Place) -> None:
    sign_up(place, 3)
    begun = START + timedelta(minutes=1)
    segment = HotDealSegment(deal_id=HOT.deal_id, segment=1, begun_at=begun)
    place.run(load_many([segment]))
    place.time.now += timedelta(hours=2)

    place.run(send_hot_deal_message(HOT.deal_id))

    (message,) = place.run(view_messages("user-1"))
    assert message.message_id.at == begun


def test_to_send_it_again_changes_nothing(place: Place) -> None:
    sign_up(place, 20)
    place.run(send_hot_deal_message(HOT.deal_id))
    (message,) = place.run(view_messages("user-7"))
    place.run(mark_message_as_read("user-7", message.message_id))
    before = dump(place)

    place.run(send_hot_deal_message(HOT.deal_id, segments=3))

    assert dump(place) == before


def test_a_deal_that_is_not_there_is_sent_to_nobody(place: Place) -> None:
    with pytest.raises(UnknownDeal):
        place.run(send_hot_deal_message(HOT.deal_id))
    assert dump(place) == []


@pytest.mark.parametrize("wrong", [{"segments": 0}, {"segments": 101}, {"page_size": 0}], ids=str)
def test_what_cannot_be_gone_through_is_not_begun(alone: Place, wrong: dict[str, int]) -> None:
    sign_up(alone, 3)
    before = dump(alone)
    with pytest.raises(SegmentsRefused):
        alone.run(send_hot_deal_message(HOT.deal_id, **wrong))
    assert dump(alone) == before


def test_without_users_it_is_done_at_once(alone: Place) -> None:
    sign_up(alone, 0)
    assert alone.run(send_hot_deal_message(HOT.deal_id)).is_done


def test_progress_can_be_watched(alone: Place, engine: Engine) -> None:
    sign_up(alone, 400)
    nothing = alone.run(view_hot_deal_progress(HOT.deal_id))
    assert nothing == HotDealProgress(told=0, segments=0, segments_done=0) and not nothing.is_done
    seen: list[HotDealProgress] = []
    watcher = Store(engine)

    def watch(exchange: Exchange) -> None:
        if exchange.request.operation == "PutItem":
            seen.append(watcher.run(view_hot_deal_progress(HOT.deal_id)))

    alone.store.hooks = (watch,)
    alone.run(send_hot_deal_message(HOT.deal_id, segments=4))

    assert [each.segments_done for each in seen] == [1, 2, 3, 4]
    told = [each.told for each in seen]
    assert told == sorted(told) and 0 < told[0] < told[-1] == 400


class Crash(Exception):
    """The process dies here."""


def crash_after(count: int, operation: str) -> Callable[[Exchange], None]:
    left = count

    def crash(exchange: Exchange) -> None:
        nonlocal left
        left -= exchange.request.operation == operation
        if left == 0:
            raise Crash

    return crash


def test_after_a_crash_it_goes_on_where_it_stopped(alone: Place) -> None:
    sign_up(alone, 600)
    alone.store.hooks = (crash_after(9, "TransactWriteItems"),)
    with pytest.raises(Crash):
        alone.run(send_hot_deal_message(HOT.deal_id, segments=2, page_size=50))
    alone.store.hooks = ()
    reached = count_messages(alone)[1]
    assert 0 < reached < 600

    alone.exchanges.clear()
    alone.store.hooks = (alone.exchanges.append,)
    progress = alone.run(send_hot_deal_message(HOT.deal_id, page_size=50))

    assert progress == HotDealProgress(told=600, segments=2, segments_done=2)
    # Only the page of fifty in which it crashed is gone through again.
    assert len(sent_again(alone)) == 600 - reached + 50
    assert count_messages(alone) == {1: 600}


def sent_again(place: Place) -> list[str]:
    requests = [exchange.request for exchange in place.exchanges]
    transactions = [request for request in requests if request.operation == "TransactWriteItems"]
    return [
        action["Put"]["Item"]["PK"]["S"]
        for transaction in transactions
        for action in transaction.params["TransactItems"]
    ]


@pytest.mark.parametrize("survived", range(1, 12))
def test_wherever_it_crashes_nobody_is_told_twice_or_never(alone: Place, survived: int) -> None:
    sign_up(alone, 330)
    seen = 0

    def crash(exchange: Exchange) -> None:
        nonlocal seen
        seen += 1
        if seen % survived == 0 and seen <= 3 * survived:
            raise Crash

    alone.store.hooks = (crash,)
    for _ in range(4):
        try:
            alone.run(send_hot_deal_message(HOT.deal_id, segments=2))
        except Crash:
            continue
    alone.store.hooks = ()
    assert count_messages(alone) == {1: 330}
    assert alone.run(view_hot_deal_progress(HOT.deal_id)).is_done


def test_two_who_send_it_at_once_tell_everyone_once(engine: Engine, alone: Place) -> None:
    sign_up(alone, 600)
    with ThreadPoolExecutor(2) as pool:
        sending = [
            pool.submit(Store(engine).run, send_hot_deal_message(HOT.deal_id, segments=number))
            for number in (2, 3)
        ]
        ended = [each.result() for each in sending]
    assert count_messages(alone) == {1: 600}
    assert {each.told for each in ended} == {600}
    assert len({each.segments for each in ended}) == 1
