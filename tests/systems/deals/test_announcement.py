"""A new deal: those who watch for it are told, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from bigtime.model import load_many, verify
from bigtime.store.driver import Exchange
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import BrandWatch, MessageKind
from bigtime.systems.deals.errors import UnknownDeal
from bigtime.systems.deals.front_page import keep_deals_cache
from bigtime.systems.deals.interests import watch_brand, watch_category
from bigtime.systems.deals.notifications import (
    announce_deal,
    deliver,
    message_for,
    send_brand_deal_message,
    send_category_deal_message,
)
from bigtime.systems.deals.users import mark_message_as_read, view_messages
from tests.store.places import START, Place
from tests.systems.deals.scene import deal, dump, load, open_site, post_deal, react


def watch(place: Place) -> None:
    """Alex watches a brand, Bo a category, Cleo both, Dan something else."""
    open_site(place)
    place.run(watch_brand("Apple", "alex"))
    place.run(watch_category("Home", "bo"))
    place.run(watch_brand("Apple", "cleo"))
    place.run(watch_category("Home", "cleo"))
    place.run(watch_brand("Sony", "dan"))


def announced_deals(place: Place) -> dict[str, list[str]]:
    """What everyone has been told."""
    return {
        username: sorted(message.subject for message in place.run(view_messages(username)))
        for username in ("alex", "bo", "cleo", "dan")
    }


def test_who_watches_brand_or_category_is_told_of_a_new_deal(place: Place) -> None:
    """B33: who watches both is told once, of both."""
    watch(place)
    post_deal(place)

    react(place, announce_deal)

    news = ["New from Apple in Home: A lamp"]
    assert announced_deals(place) == {"alex": news, "bo": news, "cleo": news, "dan": []}
    assert place.run(verify(SYSTEM)) == []


def test_the_reactions_are_these() -> None:
    assert list(SYSTEM.reactions) == [
        "follow_brand_name",
        "follow_featured_deals",
        "keep_deals_cache",
        "announce_deal",
    ]


def test_a_replay_of_the_stream_creates_no_second_message(place: Place) -> None:
    """Deciding test 10 (B32): and what was read stays read."""
    watch(place)
    post_deal(place)
    post_deal(place, title="A rug")
    react(place, announce_deal, keep_deals_cache)
    newest, *_ = place.run(view_messages("cleo"))
    place.run(mark_message_as_read("cleo", newest.message_id))
    before = dump(place)
    place.time.now += timedelta(minutes=3)

    react(place, announce_deal, keep_deals_cache, name="again")

    assert dump(place) == before


def test_a_message_carries_the_time_of_the_stream_record(alone: Place) -> None:
    """B32: also when the deal was made a while before it was written."""
    watch(alone)
    load(alone, [deal(START - timedelta(minutes=40), 1)])
    react(alone, announce_deal)
    (message,) = alone.run(view_messages("cleo"))
    assert message.message_id.at == START
    alone.time.now += timedelta(hours=5)
    assert alone.run(send_brand_deal_message(message.deal_id)) == 0


def test_a_deal_that_has_changed_is_no_news(place: Place) -> None:
    watch(place)
    made = post_deal(place)
    react(place, announce_deal)
    before = announced_deals(place)
    place.run(watch_brand("Apple", "dan"))
    place.run(update_deal(made.deal_id, title="A better lamp"))
    react(place, announce_deal)
    assert announced_deals(place) == before


def test_nobody_is_told_of_history(alone: Place) -> None:
    """A deal that is imported, restored or made up for a demonstration was made long ago."""
    watch(alone)
    load(alone, [deal(START - timedelta(hours=1, seconds=1), 1)])
    react(alone, announce_deal)
    assert not any(announced_deals(alone).values())
    load(alone, [deal(START - timedelta(minutes=59), 2)])
    react(alone, announce_deal)
    assert [len(each) for each in announced_deals(alone).values()] == [1, 1, 1, 0]


def test_the_messages_can_be_sent_by_hand(place: Place) -> None:
    watch(place)
    made = post_deal(place)
    assert place.run(send_brand_deal_message(made.deal_id)) == 2
    assert place.run(send_category_deal_message(made.deal_id)) == 1
    assert place.run(send_brand_deal_message(made.deal_id)) == 0
    before = dump(place)
    react(place, announce_deal)
    assert dump(place) == before


def test_no_deal_is_no_message(alone: Place) -> None:
    for steps in (send_brand_deal_message("0" * 27), send_category_deal_message("0" * 27)):  # type: ignore[arg-type]
        with pytest.raises(UnknownDeal):
            alone.run(steps)


# Many watchers


def crowd(place: Place, count: int) -> list[str]:
    """So many who watch the brand; their count is of no interest here."""
    usernames = [f"user-{number:04}" for number in range(count)]
    place.run(load_many(BrandWatch(brand="Apple", username=username) for username in usernames))
    return usernames


def inbox_sizes(place: Place, usernames: Iterable[str]) -> Counter[int]:
    received = Counter(
        item["Username"]["S"] for item in dump(place) if item["Type"]["S"] == "Message"
    )
    return Counter(received[username] for username in usernames)


@pytest.mark.parametrize("count", [1, 99, 100, 101, 200, 201, 550])
def test_every_watcher_is_told_once_however_many_there_are(alone: Place, count: int) -> None:
    usernames = crowd(alone, count)
    made = deal(START)
    load(alone, [made])
    alone.exchanges.clear()

    assert alone.run(send_brand_deal_message(made.deal_id, page_size=200)) == count

    assert inbox_sizes(alone, usernames) == {1: count}
    assert alone.operations.count("TransactWriteItems") == -(-count // 100)


def test_of_a_hundred_only_those_who_know_are_passed_over(place: Place) -> None:
    made = deal(START)
    usernames = [f"user-{number}" for number in range(150)]
    read = message_for(made, MessageKind.HOT, "user-7").model_copy(update={"unread": False})
    known = [message_for(made, MessageKind.HOT, each) for each in ("user-0", "user-99", "user-100")]
    place.run(load_many([read, *known]))

    assert place.run(deliver(made, MessageKind.HOT, usernames)) == 146

    assert place.run(view_messages("user-7")).items == [read]
    assert inbox_sizes(place, usernames) == {1: 150}


class Crash(Exception):
    """The process dies here."""


@pytest.mark.parametrize("survived", [1, 2, 3])
def test_a_crash_in_the_middle_of_a_fan_out_is_made_good(alone: Place, survived: int) -> None:
    open_site(alone)
    usernames = crowd(alone, 250)
    post_deal(alone)
    transactions = 0

    def crash(exchange: Exchange) -> None:
        nonlocal transactions
        transactions += exchange.request.operation == "TransactWriteItems"
        if transactions == survived:
            raise Crash

    alone.store.hooks = (crash,)
    with pytest.raises(Crash):
        react(alone, announce_deal)
    alone.store.hooks = ()
    assert inbox_sizes(alone, usernames)[1] == min(100 * survived, 250)
    (first,) = alone.run(view_messages("user-0000"))
    alone.run(mark_message_as_read("user-0000", first.message_id))

    react(alone, announce_deal)

    assert inbox_sizes(alone, usernames) == {1: 250}
    assert [message.unread for message in alone.run(view_messages("user-0000"))] == [False]


def test_what_a_reaction_writes_does_not_concern_it() -> None:
    """Messages are told in the stream too; they are passed over without being read."""

    def told_of(kind: str) -> dict[str, Any]:
        return {"dynamodb": {"NewImage": {"Type": {"S": kind}}}}

    assert announce_deal.may_concern(told_of("Deal"))
    assert announce_deal.may_concern({"dynamodb": {}})
    assert not announce_deal.may_concern(told_of("Message"))
    assert list(announce_deal.handle(told_of("Message"))) == []
