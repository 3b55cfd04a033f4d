"""Sessions: begun, found, listed and ended."""

from __future__ import annotations

from datetime import datetime, timedelta

from bigtime.model import (
    Condition,
    Page,
    Position,
    all_of,
    attr,
    create,
    delete,
    delete_many,
    get_many,
    now,
    pattern,
    query,
)
from bigtime.systems.sessions.design import (
    USERNAME,
    HashedToken,
    Session,
    SessionOfUser,
    Username,
    hashed_token,
)
from bigtime.systems.sessions.errors import InvalidDuration, SessionExists, UnknownSession
from bigtime.wire import Steps

WEEK = timedelta(days=7)
SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=400)


@pattern("Create Session", index="Main table")
def create_session(
    session_token: HashedToken,
    username: Username,
    *,
    lasts: timedelta = WEEK,
    password_version: int = 0,
) -> Steps[Session]:
    """Condition on the token."""
    if not SHORTEST <= lasts <= LONGEST:
        raise InvalidDuration
    moment = yield from now()
    session = Session(
        session_token=session_token,
        username=username,
        created_at=moment,
        expires_at=moment + lasts,
        password_version=password_version or None,
    )
    return (yield from create(session, unless_exists=SessionExists))


@pattern("Get Session", index="Main table")
def get_session(session_token: HashedToken) -> Steps[Session]:
    """Expired is not found."""
    wanted = Session.within("main", session_token=hashed_token(session_token))
    found = yield from query(wanted, filter=is_alive((yield from now())), consistent=True)
    if not found:
        raise UnknownSession
    return found.items[0]


@pattern("View Sessions of User", index="UserIndex, then Main table")
def view_sessions(
    username: Username, *, limit: int = 25, after: Position | None = None
) -> Steps[Page[Session]]:
    """Where a user is signed in, in no order; expired ones are left out."""
    keys = yield from query(
        SessionOfUser.within(username=USERNAME(username)), limit=limit, after=after
    )
    listed = [Session.key(key.session_token) for key in keys]
    sessions = yield from get_many(listed, consistent=True)
    moment = yield from now()
    living = [
        session for session in sessions if session is not None and session.ttl >= second_of(moment)
    ]
    return Page(living, keys.position)


@pattern("Delete Session", index="Main table")
def delete_session(session_token: HashedToken) -> Steps[None]:
    """Signs out here; once is as good as twice."""
    yield from delete(Session.key(session_token))


@pattern("Delete all Sessions of User", index="UserIndex, then Main table")
def delete_sessions(username: Username, *, but: HashedToken | None = None) -> Steps[int]:
    """UserIndex, then delete each.

    The index follows the table with a delay, so it is asked again until it tells of no session
    that has not been deleted here. One that is created meanwhile may survive. `but` is one to
    keep, to sign out everywhere else. Tells how many there were.
    """
    username = USERNAME(username)
    kept = set() if but is None else {hashed_token(but)}
    gone: set[str] = set()
    while True:
        listed = yield from all_of(SessionOfUser.within(username=username))
        left = {one.session_token for one in listed} - gone - kept
        if not left:
            return len(gone)
        yield from delete_many(Session.key(token) for token in sorted(left))
        gone |= left


def is_alive(moment: datetime) -> Condition:
    """DynamoDB deletes what has expired when it finds the time."""
    return attr("ttl") >= second_of(moment)


def second_of(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)
