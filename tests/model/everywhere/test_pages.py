"""Pages and cursors: they join up to the whole, and belong to one query."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bigtime.model import CursorError, Cursors, Page, Position, attr, delete, put, put_many, query
from bigtime.wire import Steps
from tests.model.designs import (
    BIG_TIME_DEALS,
    NOON,
    TRENDING,
    Deal,
    Message,
    TrendingDeal,
    deal,
    ksuid,
)
from tests.model.everywhere.scenario import everywhere, refusal

CURSORS = Cursors(["the secret that makes cursors now", "the one before it, not gone yet"])
OLD = Cursors(["the one before it, not gone yet"])


def message(n: int, subject: str = "-") -> Message:
    at = NOON + timedelta(seconds=n)
    return Message(username="al", message_id=ksuid(at, n), subject=subject, unread_by="al")


def walk_pages(asked: Any, limit: int, **more: Any) -> Steps[list[list[Any]]]:
    """All pages, each asked for with the cursor of the one before."""
    pages: list[list[Any]] = []
    cursor: str | None = None
    while True:
        page: Page[Any] = yield from query(asked, limit=limit, after=CURSORS.read(cursor), **more)
        pages.append(page.items)
        cursor = CURSORS.write(page.position)
        if cursor is None:
            return pages


def join_pages(pages: list[list[Any]]) -> list[Any]:
    return [each for page in pages for each in page]


@everywhere(BIG_TIME_DEALS)
def test_pages_of_any_size_join_up_to_the_whole() -> Steps[object]:
    messages = [message(n) for n in range(7)]
    yield from put_many(messages)
    for index in ("main", "GSI1"):
        field = "username" if index == "main" else "unread_by"
        inbox = Message.within(index, **{field: "al"})
        for limit in range(1, 9):
            pages = yield from walk_pages(inbox, limit)
            assert join_pages(pages) == messages
            assert all(len(page) == limit for page in pages[:-1])
            assert (
                join_pages((yield from walk_pages(inbox, limit, newest_first=True)))
                == messages[::-1]
            )
    return messages


@everywhere(TRENDING)
def test_pages_by_a_number_join_up() -> Steps[object]:
    deals = [TrendingDeal(category_id="tv", engagement_score=n - 3) for n in range(7)]
    yield from put_many(deals)
    category = TrendingDeal.within("main", category_id="tv")
    assert join_pages((yield from walk_pages(category, 2, newest_first=True))) == deals[::-1]
    return join_pages((yield from walk_pages(category, 3)))


@everywhere(BIG_TIME_DEALS)
def test_a_filtered_page_is_full_and_its_pages_join_up() -> Steps[object]:
    messages = [message(n, "hot" if n % 5 == 0 else "cold") for n in range(31)]
    yield from put_many(messages)
    inbox = Message.within("main", username="al")
    hot = attr("subject") == "hot"
    pages = yield from walk_pages(inbox, 2, filter=hot)
    assert join_pages(pages) == messages[::5]
    assert [len(page) for page in pages[:3]] == [2, 2, 2]
    return join_pages(pages)


@everywhere(BIG_TIME_DEALS)
def test_pages_go_on_though_items_come_and_go() -> Steps[object]:
    messages = {n: message(n) for n in range(1, 10)}
    yield from put_many(messages.values())
    inbox = Message.within("main", username="al")
    first = yield from query(inbox, limit=3)
    # The item that the cursor stands on goes; one comes before it, and one after it.
    yield from delete(messages[3].own_key())
    yield from delete(messages[5].own_key())
    yield from put(message(0))
    yield from put(message(11))
    second = yield from query(inbox, limit=3, after=first.position)
    third = yield from query(inbox, limit=9, after=second.position)
    seen = [*first, *second, *third]
    assert seen == [*(message(n) for n in (1, 2, 3, 4, 6, 7, 8, 9, 11))]
    return seen


@everywhere(BIG_TIME_DEALS)
def test_a_cursor_belongs_to_its_query() -> Steps[object]:
    yield from put_many([*(message(n) for n in range(4)), *(deal(NOON, n) for n in range(4))])
    inbox = Message.within("main", username="al")
    page = yield from query(inbox, limit=2)
    cursor = CURSORS.write(page.position)
    assert cursor is not None
    position = CURSORS.read(cursor)
    for other in (
        query(Message.within("main", username="bo"), after=position),
        query(Message.within("GSI1", unread_by="al"), after=position),
        query(inbox, newest_first=True, after=position),
        query(Deal.within("GSI1", created_at=NOON), after=position),
    ):
        assert (yield from refusal(other)) == "cursor-error"
    return cursor, (yield from query(inbox, after=position)).items


@everywhere(BIG_TIME_DEALS)
def test_a_cursor_is_signed_and_its_secret_may_be_replaced() -> Steps[object]:
    yield from put_many([message(n) for n in range(4)])
    inbox = Message.within("main", username="al")
    page = yield from query(inbox, limit=2)
    old = OLD.write(page.position)
    assert old is not None

    def next_items(cursor: str) -> Steps[list[Message]]:
        position: Position | None = CURSORS.read(cursor)
        return (yield from query(inbox, after=position)).items

    assert (yield from next_items(old)) == [message(2), message(3)]
    new = CURSORS.write(page.position)
    assert new is not None and new != old
    assert (yield from refusal(next_items(new[:-2] + "AA"))) == CursorError.code
    with pytest.raises(CursorError):
        OLD.read(new)
    return new
