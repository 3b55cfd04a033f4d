"""Messages: newest first, unread until they are read."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bigtime.model import Ksuid, load_many, verify
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.design import Message, MessageKind
from bigtime.systems.deals.errors import TooManyMessages, UnknownMessage
from bigtime.systems.deals.notifications import message_for
from bigtime.systems.deals.users import (
    count_unread_messages,
    fetch_message,
    mark_message_as_read,
    mark_messages_as_read,
    view_messages,
    view_unread_messages,
)
from tests.store.places import START, Place
from tests.systems.deals.scene import deal, dump, raw


def send_messages(place: Place, count: int, username: str = "alex") -> list[Message]:
    """Messages about so many deals, newest first."""
    deals = [deal(START - timedelta(minutes=number), number) for number in range(count)]
    messages = [message_for(each, MessageKind.HOT, username) for each in deals]
    place.run(load_many(messages))
    return messages


def test_messages_are_seen_newest_first_and_page_by_page(place: Place) -> None:
    messages = send_messages(place, 30)
    send_messages(place, 3, "bo")

    first = place.run(view_messages("ALEX"))
    second = place.run(view_messages("alex", after=first.position))
    unread = place.run(view_unread_messages("alex", after=None))
    more = place.run(view_unread_messages("alex", after=unread.position))

    assert len(first) == len(unread) == 25
    assert [*first, *second] == [*unread, *more] == messages
    assert second.position is None
    assert place.run(verify(SYSTEM)) == []


def test_a_message_that_is_read_is_unread_no_more(place: Place) -> None:
    messages = send_messages(place, 3)

    read = place.run(mark_message_as_read("Alex", messages[1].message_id))

    assert read == messages[1].model_copy(update={"unread": False})
    assert place.run(view_unread_messages("alex")).items == [messages[0], messages[2]]
    assert place.run(view_messages("alex")).items == [messages[0], read, messages[2]]
    assert place.run(count_unread_messages("alex")) == 2
    assert place.run(verify(SYSTEM)) == []


def test_to_read_twice_is_to_read_once_and_no_message_cannot_be_read(place: Place) -> None:
    """Deciding test 5 (B11, B12)."""
    (message,) = send_messages(place, 1)
    place.run(mark_message_as_read("alex", message.message_id))
    before = dump(place)
    place.run(mark_message_as_read("alex", message.message_id))

    for username, message_id in (("bo", message.message_id), ("alex", "0" * 27), ("alex", "?")):
        with pytest.raises(UnknownMessage):
            place.run(mark_message_as_read(username, message_id))  # type: ignore[arg-type]

    assert dump(place) == before


def test_a_message_is_fetched_by_its_reader_alone(place: Place) -> None:
    (message,) = send_messages(place, 1)
    assert place.run(fetch_message("Alex", message.message_id)) == message
    for username, message_id in (("bo", message.message_id), ("alex", "0" * 27), ("alex", "?")):
        with pytest.raises(UnknownMessage):
            place.run(fetch_message(username, message_id))  # type: ignore[arg-type]


def test_a_page_of_messages_is_read_at_once_or_not_at_all(place: Place) -> None:
    messages = send_messages(place, 27)
    ids = [message.message_id for message in messages]
    send_messages(place, 1, "bo")

    place.run(mark_messages_as_read("alex", [*ids[:24], ids[0]]))
    assert place.run(view_unread_messages("alex")).items == messages[24:]
    place.run(mark_messages_as_read("alex", []))

    before = dump(place)
    for username, some, error in (
        ("bo", ids[24:], UnknownMessage),
        ("alex", [ids[24], "?"], UnknownMessage),
        ("alex", ids[:26], TooManyMessages),
    ):
        with pytest.raises(error):
            place.run(mark_messages_as_read(username, some))  # type: ignore[arg-type]
    assert dump(place) == before


def test_only_an_unread_message_has_keys_of_the_index(alone: Place) -> None:
    """B10: `Unread` is a BOOL, and the index keys decide."""
    (message,) = send_messages(alone, 1)
    key = "MESSAGES#alex", f"MESSAGE#{message.message_id}"
    stored = raw(alone, *key)
    assert stored is not None
    assert stored["Unread"] == {"BOOL": True}
    assert (stored["GSI1PK"]["S"], stored["GSI1SK"]["S"]) == key

    alone.run(mark_message_as_read("alex", message.message_id))

    stored = raw(alone, *key)
    assert stored is not None and stored["Unread"] == {"BOOL": False}
    assert "GSI1PK" not in stored and "GSI1SK" not in stored


def test_reading_takes_one_request(alone: Place) -> None:
    (message,) = send_messages(alone, 1)
    alone.exchanges.clear()
    alone.run(mark_message_as_read("alex", message.message_id))
    (exchange,) = alone.exchanges
    assert exchange.request.operation == "UpdateItem"
    expression = exchange.request.params["UpdateExpression"]
    assert expression.count("SET") == expression.count("REMOVE") == 1


def test_many_unread_messages_are_counted_to_a_hundred(alone: Place) -> None:
    send_messages(alone, 120)
    assert alone.run(count_unread_messages("alex")) == 100
    assert alone.run(count_unread_messages("bo")) == 0


def test_who_has_no_messages_sees_none(place: Place) -> None:
    assert not place.run(view_messages("alex")) and not place.run(view_unread_messages("alex"))


def test_the_id_of_a_message_follows_from_deal_kind_and_user() -> None:
    """B32: in the deal's second, and another one for each of the three."""
    one, other = deal(START, 1), deal(START, 2)
    ids = {
        message_for(about, kind, username).message_id
        for about in (one, other)
        for kind in MessageKind
        for username in ("alex", "bo")
    }
    assert len(ids) == 2 * 5 * 2
    assert {Ksuid(one_id).at for one_id in ids} == {START}
    assert message_for(one, MessageKind.HOT, "alex") == message_for(one, MessageKind.HOT, "alex")
