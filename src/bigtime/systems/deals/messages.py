"""A user's messages: all of them, those unread, and reading one."""

from __future__ import annotations

from typing import Final

from bigtime.model import Page, Position, count, get, pattern, query, transact, update
from bigtime.systems.deals.design import PAGE, Message
from bigtime.systems.deals.errors import TooManyMessages, UnknownMessage
from bigtime.systems.deals.values import MessageId, Username, message_id_of
from bigtime.wire import Steps

MOST_COUNTED: Final = 100


@pattern("View Messages for User", index="Main table")
def view_messages(username: Username, *, after: Position | None = None) -> Steps[Page[Message]]:
    """Newest first, paged."""
    messages = Message.within("main", username=username)
    return (yield from query(messages, newest_first=True, limit=PAGE, after=after))


@pattern("View Unread Messages for User", index="GSI1")
def view_unread_messages(
    username: Username, *, after: Position | None = None
) -> Steps[Page[Message]]:
    """Newest first, paged."""
    messages = Message.within("GSI1", username=username)
    return (yield from query(messages, newest_first=True, limit=PAGE, after=after))


@pattern("Count Unread Messages for User", index="GSI1")
def count_unread_messages(username: Username) -> Steps[int]:
    """At most 100 are counted: who has that many sees that there are many."""
    return (yield from count(Message.within("GSI1", username=username), most=MOST_COUNTED))


@pattern("Mark Message as Read", index="Main table")
def mark_message_as_read(username: Username, message_id: MessageId) -> Steps[Message]:
    """SET Unread, REMOVE GSI1 keys.

    To do it again changes nothing; a message that is not there is not made.
    """
    key = Message.key(username, message_id_of(message_id))
    return (yield from update(key, unread=False, if_exists=UnknownMessage))


@pattern("Fetch Message", index="Main table")
def fetch_message(username: Username, message_id: MessageId) -> Steps[Message]:
    """GetItem."""
    key = Message.key(username, message_id_of(message_id))
    return (yield from get(key, missing=UnknownMessage, consistent=True))


@pattern("Mark Messages as Read", index="Main table")
def mark_messages_as_read(username: Username, message_ids: list[MessageId]) -> Steps[None]:
    """Those of a page, all or none; one that is told twice is one."""
    ids = dict.fromkeys(map(message_id_of, message_ids))
    if len(ids) > PAGE:
        raise TooManyMessages()
    if ids:
        yield from transact(
            *(
                update(Message.key(username, id_), unread=False, if_exists=UnknownMessage)
                for id_ in ids
            )
        )
