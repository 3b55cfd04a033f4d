"""Sessions: create, get, list and delete them; the demo's sessions, and a person's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Final

from bigtime import model as bt
from bigtime.systems.sessions import design
from bigtime.systems.sessions.design import Session, SessionOfUser

WEEK = timedelta(days=7)
SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=400)


@bt.pattern("Create Session", index="Main table")
def create_session(
    session_token: design.HashedToken,
    username: design.Username,
    *,
    lasts: timedelta = WEEK,
    password_version: int = 0,
    device: str | None = None,
) -> bt.Steps[Session]:
    """Condition on the token."""
    if not SHORTEST <= lasts <= LONGEST:
        raise design.InvalidDuration
    moment = yield from bt.now()
    session = Session(
        session_token=session_token,
        username=username,
        created_at=moment,
        expires_at=moment + lasts,
        password_version=password_version or None,
        device=device,
    )
    return (yield from bt.create(session, unless_exists=design.SessionExists))


@bt.pattern("Get Session", index="Main table")
def get_session(session_token: design.HashedToken) -> bt.Steps[Session]:
    """Expired is not found."""
    wanted = Session.within("main", session_token=design.hashed_token(session_token))
    found = yield from bt.query(wanted, filter=is_alive((yield from bt.now())), consistent=True)
    if not found:
        raise design.UnknownSession
    return found.items[0]


@bt.pattern("View Sessions of User", index="UserIndex, then Main table")
def view_sessions(
    username: design.Username, *, limit: int = 25, after: bt.Position | None = None
) -> bt.Steps[bt.Page[Session]]:
    """Where a user is signed in, in no order; expired ones are left out."""
    keys = yield from bt.query(
        SessionOfUser.within(username=design.USERNAME(username)), limit=limit, after=after
    )
    listed = [Session.key(key.session_token) for key in keys]
    sessions = yield from bt.get_many(listed, consistent=True)
    moment = second_of((yield from bt.now()))
    living = [session for session in sessions if session is not None and session.ttl >= moment]
    return bt.Page(living, keys.position)


@bt.pattern("Note Use of Session", index="Main table")
def note_use(session_token: design.HashedToken) -> bt.Steps[None]:
    """Now; for a session whose use is due to be noted, every five minutes."""
    moment = yield from bt.now()
    key = Session.key(session_token)
    yield from bt.update(key, seen_at=second_of(moment), if_exists=design.UnknownSession)


@bt.pattern("Delete Session", index="Main table")
def delete_session(session_token: design.HashedToken) -> bt.Steps[None]:
    """Signs out here; once is as good as twice."""
    yield from bt.delete(Session.key(session_token))


@bt.pattern("Delete Session of User", index="Main table")
def delete_session_of(
    session_token: design.HashedToken, username: design.Username
) -> bt.Steps[None]:
    """Signs out on another device; condition on the user: another user's is unknown."""
    yield from bt.delete(
        Session.key(session_token),
        if_exists=design.UnknownSession,
        when=bt.attr("username") == design.USERNAME(username),
        otherwise=design.UnknownSession,
    )


@bt.pattern("Delete all Sessions of User", index="UserIndex, then Main table")
def delete_sessions(
    username: design.Username, *, but: design.HashedToken | None = None
) -> bt.Steps[int]:
    """UserIndex, then delete each.

    The index follows the table with a delay, so it is queried again until it lists no session
    that was not deleted here. One that is created meanwhile may survive. `but` is one to keep, to
    sign out everywhere else. Returns how many were deleted.
    """
    username = design.USERNAME(username)
    spared = set() if but is None else {design.hashed_token(but)}
    deleted: set[str] = set()
    while True:
        listed = yield from bt.all_of(SessionOfUser.within(username=username))
        left = {session.session_token for session in listed} - deleted - spared
        if not left:
            return len(deleted)
        yield from bt.delete_many(Session.key(token) for token in sorted(left))
        deleted |= left


def is_alive(moment: datetime) -> bt.Condition:
    """Whether it has not expired: DynamoDB deletes expired items only some time later."""
    return bt.attr("ttl") >= second_of(moment)


def second_of(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)


# Demo sessions: users who are signed in on two devices, some of them no longer

USERS = {bt.Scale.SMALL: 20, bt.Scale.MEDIUM: 1_000, bt.Scale.LARGE: 50_000}
DEVICES = 2
SPREAD_SECONDS = int(timedelta(days=14).total_seconds())


def demo_sessions(scale: bt.Scale, random: Random, until: datetime = bt.UNTIL) -> Iterator[Session]:
    """Their tokens are not kept, so nobody can use them. The first user is the site's demo user."""
    for user in range(USERS[scale]):
        for device in range(DEVICES):
            begun = until - timedelta(seconds=random.randrange(1, SPREAD_SECONDS))
            yield Session(
                session_token=design.hash_token(random.randbytes(32).hex()),
                username=f"user-{user}" if user else "shopper",
                created_at=begun,
                expires_at=begun + WEEK,
                device=("Chrome on Android", "Firefox on Linux")[device],
            )


DEMO = bt.Demo(entities=demo_sessions, count=lambda scale: USERS[scale] * DEVICES)

# Personal data of a login

PAGE: Final = 100


def find_sessions(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[Session]]:
    """The stored sessions of a login, including those that are over."""
    listed = SessionOfUser.within(username=person.login)
    keys = yield from bt.query(listed, limit=PAGE, after=after)
    found = yield from bt.get_many([Session.key(key.session_token) for key in keys])
    return bt.Page([session for session in found if session is not None], keys.position)


PERSONAL: Final = (bt.personal(Session, "username", of="login", find=find_sessions),)
