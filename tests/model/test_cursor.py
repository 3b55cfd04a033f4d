"""Cursors: opaque, bound, signed, and refused when they are anything else."""

from __future__ import annotations

import string
from base64 import urlsafe_b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model.errors import DesignError, DomainError
from bigtime.model.operations.cursor import Cursors
from bigtime.model.operations.page import CursorError, Position
from bigtime.model.operations.query import query
from tests.model.designs import BIG_TIME_DEALS, NOON, Message, fill, ksuid, open_tables

OLD, NEW = b"an old secret of 32 bytes length", "a new secret, as text, long enough"
CURSORS = Cursors([NEW])
POSITION = Position("0" * 32, {"key": {"PK": {"S": "USER#hidden"}, "SK": {"N": "12"}}})
ALPHABET = string.ascii_letters + string.digits + "-_=+/ é\n"

places = st.recursive(
    st.none() | st.text(st.characters(codec="utf-8"), max_size=9) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
)


@given(st.text(string.hexdigits, max_size=32), st.dictionaries(st.sampled_from("ab"), places))
def test_a_cursor_gives_its_position_back(query: str, place: dict[str, object]) -> None:
    position = Position(query, place)
    assert CURSORS.read(CURSORS.write(position)) == position


def test_every_change_of_one_character_is_refused() -> None:
    cursor = CURSORS.write(POSITION)
    changed = [
        cursor[:place] + letter + cursor[place + 1 :]
        for place in range(len(cursor))
        for letter in ALPHABET
        if letter != cursor[place]
    ]
    changed += [cursor[:place] + cursor[place + 1 :] for place in range(len(cursor))]
    changed += [cursor[:place] + "A" + cursor[place:] for place in range(len(cursor) + 1)]
    accepted = []
    for wrong in {*changed} - {cursor}:
        try:
            accepted.append(CURSORS.read(wrong))
        except CursorError:
            continue
    assert accepted == []


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(CursorError):
        CURSORS.read(text)


def test_a_wrong_cursor_is_an_error_for_the_reader() -> None:
    with pytest.raises(DomainError, match="start again from the first") as caught:
        CURSORS.read("x")
    assert caught.value.code == "cursor-error"


def test_a_cursor_of_another_secret_is_refused() -> None:
    with pytest.raises(CursorError):
        Cursors([OLD]).read(CURSORS.write(POSITION))


def test_a_secret_can_be_changed_while_cursors_are_out() -> None:
    before = Cursors([OLD]).write(POSITION)
    both = Cursors([NEW, OLD])
    assert both.read(before) == POSITION
    assert both.write(POSITION) == CURSORS.write(POSITION) != before
    with pytest.raises(CursorError):
        CURSORS.read(before)


def test_a_cursor_is_safe_in_a_url_and_shows_nothing_of_its_key() -> None:
    cursor = CURSORS.write(POSITION)
    assert set(cursor) <= set(string.ascii_letters + string.digits + "-_")
    raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    assert b"hidden" not in raw
    assert NEW not in repr(CURSORS)


def test_the_first_page_and_the_last_have_no_cursor() -> None:
    assert CURSORS.read(None) is None
    assert CURSORS.write(None) is None


@pytest.mark.parametrize("secrets", [[], "a text alone is no list of secrets", ["short"]])
def test_secrets_that_protect_nothing_are_refused(secrets: list[str]) -> None:
    with pytest.raises(DesignError):
        Cursors(secrets)


def test_a_reader_pages_with_cursors_alone(engine: Engine) -> None:
    store = open_tables(engine, BIG_TIME_DEALS)
    messages = [Message(username="alex", message_id=ksuid(NOON, n), subject="s") for n in range(7)]
    fill(store, messages)
    inbox = Message.within("main", username="alex")
    seen, cursor = [], None
    while True:
        page = store.run(query(inbox, limit=3, after=CURSORS.read(cursor)))
        seen += page.items
        cursor = CURSORS.write(page.position)
        if cursor is None:
            break
    assert seen == messages


def test_a_cursor_of_another_query_is_refused_by_the_query(engine: Engine) -> None:
    store = open_tables(engine, BIG_TIME_DEALS)
    fill(
        store,
        [Message(username="alex", message_id=ksuid(NOON, n), subject="s") for n in range(3)],
    )
    page = store.run(query(Message.within("main", username="alex"), limit=1))
    position = CURSORS.read(CURSORS.write(page.position))
    with pytest.raises(CursorError, match="another query"):
        store.run(query(Message.within("main", username="eve"), limit=1, after=position))
