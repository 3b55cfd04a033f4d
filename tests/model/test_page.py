"""Pages: as long as they were asked to be, and joining to the whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.delete import delete
from bigtime.model.operations.op import Runnable
from bigtime.model.operations.page import CursorError, Position
from bigtime.model.operations.put import put
from bigtime.model.operations.query import all_of, query
from bigtime.model.schema.condition import attr
from bigtime.model.schema.key_range import KeyRange, less_than
from bigtime.store import Store
from tests.model.churn import Churn
from tests.model.designs import BIG_TIME_DEALS, NOON, Message, fill, ksuid, open_tables, requests


def message(n: int, subject: str = "hello") -> Message:
    return Message(username="alex", message_id=ksuid(NOON, n), subject=subject)


INBOX = Message.within("main", username="alex")


@pytest.fixture
def store(engine: Engine) -> Store:
    return open_tables(engine, BIG_TIME_DEALS)


def test_a_full_page_is_asked_for_once(store: Store) -> None:
    fill(store, [message(n) for n in range(5)])
    page = store.run(query(INBOX, limit=3))
    assert [request.params["Limit"] for request in requests(store)] == [4]
    assert len(page) == 3
    assert page.position is not None


def test_the_last_page_has_no_position(store: Store) -> None:
    fill(store, [message(n) for n in range(5)])
    page = store.run(query(INBOX, limit=9))
    assert (len(page), page.position) == (5, None)


def test_an_empty_partition_is_an_empty_page(store: Store) -> None:
    page = store.run(query(INBOX, limit=9))
    assert (page.items, page.position) == ([], None)
    assert not page


def test_limit_counts_after_the_filter(store: Store) -> None:
    fill(store, [message(n, "hot" if n % 10 == 0 else "cold") for n in range(100)])
    hot = attr("subject") == "hot"
    page = store.run(query(INBOX, limit=4, filter=hot))
    assert [each.message_id for each in page] == [ksuid(NOON, n) for n in (0, 10, 20, 30)]
    asked = [request.params["Limit"] for request in requests(store)]
    assert asked == [5, 10, 20, 40]
    rest = store.run(query(INBOX, limit=10, filter=hot, after=page.position))
    assert [each.message_id for each in rest] == [ksuid(NOON, n) for n in range(40, 100, 10)]
    assert rest.position is None


def test_a_page_ends_at_its_last_item_though_more_was_read(store: Store) -> None:
    fill(store, [message(n, "hot" if n > 2 else "cold") for n in range(40)])
    hot = attr("subject") == "hot"
    page = store.run(query(INBOX, limit=4, filter=hot))
    assert [request.params["Limit"] for request in requests(store)] == [5, 10]
    assert page.position is not None
    assert page.position.place["key"]["SK"] == {"S": f"MESSAGE#{ksuid(NOON, 6)}"}


def test_patience_bounds_the_requests_and_leaves_a_position(store: Store) -> None:
    fill(store, [message(n, "cold") for n in range(20)] + [message(20, "hot")])
    asked: dict[str, Any] = {"limit": 1, "filter": attr("subject") == "hot", "patience": 3}
    page = store.run(query(INBOX, **asked))
    assert len(requests(store)) == 3
    assert page.items == []
    assert page.position is not None
    page = store.run(query(INBOX, after=page.position, **asked))
    assert len(page) == 1


def test_a_page_over_a_megabyte_is_still_full(store: Store) -> None:
    fill(store, [message(n, "x" * 300_000) for n in range(8)])
    page = store.run(query(INBOX, limit=7))
    assert len(page) == 7
    assert [request.params["Limit"] for request in requests(store)] == [8, 4]


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_full_page_has_a_position_only_if_more_follows(store: Store, limit: int) -> None:
    fill(store, [message(n) for n in range(limit)])
    page = store.run(query(INBOX, limit=limit))
    assert (len(page), page.position) == (limit, None)
    fill(store, [message(limit)])
    page = store.run(query(INBOX, limit=limit))
    assert len(page) == limit
    rest = store.run(query(INBOX, limit=limit, after=page.position))
    assert (rest.items, rest.position) == ([message(limit)], None)


def test_without_a_limit_a_page_is_what_one_request_brings(store: Store) -> None:
    fill(store, [message(n, "x" * 300_000) for n in range(8)])
    page = store.run(query(INBOX))
    assert len(requests(store)) == 1
    assert 0 < len(page) < 8
    assert store.run(all_of(INBOX)) == [message(n, "x" * 300_000) for n in range(8)]


def test_without_a_limit_a_page_with_more_behind_it_is_not_empty(store: Store) -> None:
    fill(store, [message(n, "x" * 300_000) for n in range(8)] + [message(8, "hot")])
    page = store.run(query(INBOX, filter=attr("subject") == "hot"))
    assert page.items == [message(8, "hot")]


def test_a_position_of_another_query_is_refused(store: Store) -> None:
    fill(store, [message(n) for n in range(5)])
    position = store.run(query(INBOX, limit=1)).position
    for other in (
        query(Message.within("main", username="bob"), after=position),
        query(INBOX, newest_first=True, after=position),
        query(Message.within("main", username="alex", message_id=less_than(ksuid(NOON, 3))),
              after=position),
        query(Message.within("GSI1", unread_by="alex"), after=position),
    ):  # fmt: skip
        with pytest.raises(CursorError, match="another query"):
            store.run(other)
    assert len(store.run(query(INBOX, after=position, filter=attr("subject").exists()))) == 4


def test_a_text_is_no_position() -> None:
    with pytest.raises(DesignError, match=r"cursors.read\(text\)"):
        query(INBOX, after="eyJ...").request()  # type: ignore[call-overload]


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(DesignError, match="at least 1, not 0"):
        query(INBOX, limit=0)


changes = st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=6)


UNREAD = Message.within("GSI1", unread_by="alex")


@given(
    st.sets(st.integers(0, 30)),
    st.lists(st.tuples(st.integers(1, 5), changes), min_size=1, max_size=8),
    st.booleans(),
    st.booleans(),
    st.sampled_from([INBOX, UNREAD]),
)
def test_pages_join_to_the_whole_while_items_come_and_go(
    there: set[int],
    pages: list[tuple[int, list[tuple[bool, int]]]],
    newest_first: bool,
    only_even: bool,
    within: KeyRange[Message],
) -> None:
    asked: dict[str, Any] = {"newest_first": newest_first}
    if only_even:
        asked["filter"] = attr("subject") == "even"
    with Engine.memory(housekeeping=False) as engine:
        store = open_tables(engine, BIG_TIME_DEALS)
        numbers = {message_number(n).message_id: n for n in range(31)}
        fill(store, [message_number(n) for n in there])
        churn = Churn(there)
        seen: list[int] = []
        position: Position | None = None
        script = iter(pages)
        while True:
            size, happening = next(script, (3, []))
            page = store.run(query(within, limit=size, after=position, **asked))
            assert len(page) == size or page.position is None
            seen += [numbers[each.message_id] for each in page]
            position = page.position
            if position is None:
                break
            for comes, n in happening:
                churn.happens(n, comes=comes)
                store.run(put(message_number(n)) if comes else leave_range(n, within))
    assert seen == sorted(seen, reverse=newest_first)
    churn.check(seen, (n for n in range(31) if n % 2 == 0 or not only_even))


def message_number(n: int) -> Message:
    return Message(
        username="alex",
        message_id=ksuid(NOON, n),
        subject="odd" if n % 2 else "even",
        unread_by="alex",
    )


def leave_range(n: int, within: KeyRange[Message]) -> Runnable[Any]:
    """Out of the table; or of the index alone, by whatever a message may become."""
    if within is INBOX:
        return delete(message_number(n).own_key())
    return put(message_number(n).model_copy(update={"unread_by": "bob" if n % 3 else None}))


def test_a_position_survives_the_item_it_names(store: Store) -> None:
    fill(store, [message(n) for n in range(4)])
    page = store.run(query(INBOX, limit=2))
    store.run(delete(message(1).own_key()))
    assert store.run(query(INBOX, after=page.position)).items == [message(2), message(3)]
