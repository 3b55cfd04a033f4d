"""Sessions, wherever the store stands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import CursorError, Cursors, DomainError, setup
from bigtime.store import open_store
from bigtime.systems.sessions import SYSTEM
from bigtime.systems.sessions.design import (
    InvalidDuration,
    InvalidUsername,
    Session,
    SessionExists,
    UnhashedToken,
    UnknownSession,
    hash_token,
)
from bigtime.systems.sessions.session import (
    create_session,
    delete_session,
    delete_sessions,
    get_session,
    view_sessions,
)
from bigtime.wire import Steps
from tests.store.places import Place, Time
from tests.systems.cart.contents import assert_unchanged, contents
from tests.systems.cart.racing import in_processes, in_threads

TOKEN, OTHER = hash_token("one"), hash_token("another")


def test_what_was_created_is_found(place: Place) -> None:
    made = place.run(create_session(TOKEN, "alex"))
    assert place.run(get_session(TOKEN)) == made
    assert made.expires_at - made.created_at == timedelta(days=7)


def test_a_token_is_used_once(place: Place) -> None:
    made = place.run(create_session(TOKEN, "alex"))
    with pytest.raises(SessionExists):
        place.run(create_session(TOKEN, "bo"))
    assert place.run(get_session(TOKEN)) == made


def test_an_expired_session_is_not_found_before_ttl_deletes_it(place: Place, time: Time) -> None:
    """Deciding test 14 (S6)."""
    made = place.run(create_session(TOKEN, "alex", lasts=timedelta(hours=1)))
    time.now = made.expires_at
    assert place.run(get_session(TOKEN)) == made
    time.now += timedelta(seconds=1)
    with pytest.raises(UnknownSession):
        place.run(get_session(TOKEN))
    assert not place.run(view_sessions("alex"))
    assert len(contents(place, SYSTEM)["SessionStore"]) == 1


def test_ttl_deletes_what_has_expired(alone: Place, engine: Engine, time: Time) -> None:
    made = alone.run(create_session(TOKEN, "alex"))
    alone.run(create_session(OTHER, "alex", lasts=timedelta(days=30)))
    time.now = made.expires_at + timedelta(days=1)
    engine.tidy()
    (left,) = contents(alone, SYSTEM)["SessionStore"]
    assert left["SessionToken"] == {"S": OTHER}


def test_signing_out_ends_one_session(place: Place) -> None:
    place.run(create_session(TOKEN, "alex"))
    place.run(create_session(OTHER, "alex"))
    place.run(delete_session(TOKEN))
    place.run(delete_session(TOKEN))
    with pytest.raises(UnknownSession):
        place.run(get_session(TOKEN))
    assert place.run(get_session(OTHER)).username == "alex"


def signed_in(place: Place, username: str, times: int) -> set[str]:
    tokens = {hash_token(f"{username} {number}") for number in range(times)}
    for token in tokens:
        place.run(create_session(token, username))
    return tokens


def test_signing_out_everywhere_ends_all_sessions_of_a_user_and_no_other(place: Place) -> None:
    signed_in(place, "alex", 60)
    signed_in(place, "bo", 2)
    assert place.run(delete_sessions("Alex")) == 60
    left = contents(place, SYSTEM)["SessionStore"]
    assert [item["Username"] for item in left] == [{"S": "bo"}] * 2
    assert place.run(delete_sessions("alex")) == 0


def test_signing_out_everywhere_else_keeps_this_session(place: Place) -> None:
    tokens = signed_in(place, "alex", 3)
    here = min(tokens)
    assert place.run(delete_sessions("alex", but=here)) == 2
    assert [session.session_token for session in place.run(view_sessions("alex"))] == [here]


def test_an_index_that_lags_does_not_keep_it_from_ending(alone: Place, engine: Engine) -> None:
    """The index goes on telling of sessions that are deleted."""
    tokens = signed_in(alone, "alex", 30)
    assert len(alone.run(view_sessions("alex", limit=50))) == len(tokens)
    engine.faults.lag_indexes(seconds=float("inf"))
    assert alone.run(delete_sessions("alex")) == 30
    assert contents(alone, SYSTEM)["SessionStore"] == []
    assert not alone.run(view_sessions("alex", limit=50))


def test_pages_of_sessions_join_up(place: Place) -> None:
    tokens = signed_in(place, "alex", 7)
    found: list[str] = []
    position = None
    while True:
        page = place.run(view_sessions("alex", limit=3, after=position))
        found += [each.session_token for each in page]
        position = page.position
        if position is None:
            break
    assert sorted(found) == sorted(tokens)


def test_a_cursor_that_was_touched_or_is_another_user_s_is_refused(alone: Place) -> None:
    """Deciding test 11 (T23)."""
    cursors = Cursors(["sixteen bytes, or some more"])
    signed_in(alone, "alex", 3)
    cursor = cursors.write(alone.run(view_sessions("alex", limit=2)).position)
    assert cursor is not None
    with pytest.raises(CursorError):
        cursors.read(cursor[:-1] + ("A" if cursor[-1] != "A" else "B"))
    with pytest.raises(CursorError):
        alone.run(view_sessions("bo", limit=2, after=cursors.read(cursor)))


BAD_INPUT: dict[str, tuple[Callable[[], Steps[Any]], type[DomainError]]] = {
    "token as it is": (lambda: create_session("one", "alex"), UnhashedToken),
    "token in capitals": (lambda: create_session(TOKEN.upper(), "alex"), UnhashedToken),
    "empty token": (lambda: get_session(""), UnhashedToken),
    "deleted by a token as it is": (lambda: delete_session("one"), UnhashedToken),
    "empty username": (lambda: create_session(OTHER, " "), InvalidUsername),
    "long username": (lambda: create_session(OTHER, "a" * 255), InvalidUsername),
    "username with #": (lambda: create_session(OTHER, "a#b"), InvalidUsername),
    "sessions of a name with #": (lambda: delete_sessions("a#b"), InvalidUsername),
    "no time at all": (lambda: create_session(OTHER, "bo", lasts=timedelta()), InvalidDuration),
    "for ever": (lambda: create_session(OTHER, "bo", lasts=timedelta.max), InvalidDuration),
    "unknown": (lambda: get_session(OTHER), UnknownSession),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_its_own_error_and_leaves_no_trace(alone: Place, case: str) -> None:
    steps, error = BAD_INPUT[case]
    alone.run(create_session(TOKEN, "alex"))
    with assert_unchanged(alone, SYSTEM), pytest.raises(error) as refused:
        alone.run(steps())
    assert str(refused.value).endswith(".")


def test_of_threads_that_create_one_session_one_does(alone: Place) -> None:
    racers = [lambda: alone.run(create_session(TOKEN, "alex")).username for _ in range(4)]
    assert sorted(in_threads(racers)) == ["alex", *["session-exists"] * 3]


def test_of_processes_that_create_one_session_one_does(tmp_path: Path) -> None:
    file = tmp_path / "sessions.db"
    racer = "tests.systems.sessions.racers:begin"
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        told = in_processes(file, [(racer, TOKEN, name) for name in ("alex", "bo", "cy")])
        winner = store.run(get_session(TOKEN))
    assert sorted(told) == sorted([winner.username, "session-exists", "session-exists"])


def test_a_session_does_not_outlive_its_second() -> None:
    """What is stored for people and what is stored for TTL are one moment."""
    made = Session.model_validate(
        {
            "session_token": TOKEN,
            "username": "alex",
            "created_at": "2026-01-01T00:00:00.5Z",
            "expires_at": "2026-01-08T00:00:00.5Z",
        }
    )
    assert made.ttl == made.expires_at and made.expires_at.microsecond == 0


def test_a_session_knows_the_password_it_began_with(place: Place) -> None:
    place.run(create_session(TOKEN, "alex"))
    place.run(create_session(OTHER, "alex", password_version=2))
    first, third = (place.run(get_session(token)) for token in (TOKEN, OTHER))
    assert [first.began_with(version) for version in range(3)] == [True, False, False]
    assert [third.began_with(version) for version in range(3)] == [False, False, True]
