"""The API of sessions: log in and get a token, see where one is logged in, log out.

A token is shown once, to whoever has just proved who they are; only its hash is stored. A session
is called by that hash, which opens nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Self

from pydantic import Field, SecretStr
from starlette.requests import Request

from bigtime.model import Page, Position
from bigtime.site import Visitor
from bigtime.systems import accounts, sessions
from bigtime.web.api.endpoint import CREATED, Endpoint, May
from bigtime.web.api.shapes import Asked, Shown, example
from bigtime.web.api.showing import made_by, one, page_of
from bigtime.web.api.v1_router import v1_router
from bigtime.web.http import NotSignedIn
from bigtime.web.pages import Site, begin_session, count_log_in
from bigtime.wire import Steps

MOST_EMAIL: Final = 254
MOST_PASSWORD: Final = 1_000
SESSION_ID: Final = sessions.hash_token("a token")
BEGUN: Final = "2026-11-15T10:30:00Z"
PAGE: Final = 25


class WrongLogin(NotSignedIn):
    """E-mail and password do not belong together; try again."""


# Shapes


class Credentials(Asked):
    """What somebody logs in with."""

    model_config = example(email="alex@example.com", password="correct horse")

    email: Annotated[str, Field(min_length=1, max_length=MOST_EMAIL)]
    password: Annotated[SecretStr, Field(min_length=1, max_length=MOST_PASSWORD)]


class BegunShown(Shown):
    """A new session. Send the token as `Authorization: Bearer ...`; it is not shown again."""

    model_config = example(
        token="kq3...",
        sessionId=SESSION_ID,
        username="alex",
        roles=["shopper"],
        createdAt=BEGUN,
        expiresAt="2026-11-22T10:30:00Z",
    )

    token: str
    session_id: str
    username: str
    roles: list[accounts.Role]
    created_at: datetime
    expires_at: datetime


class SessionShown(Shown):
    """That the caller is logged in somewhere."""

    model_config = example(
        sessionId=SESSION_ID, createdAt=BEGUN, expiresAt="2026-11-22T10:30:00Z", isThis=True
    )

    session_id: str
    created_at: datetime
    expires_at: datetime
    is_this: bool = Field(description="Whether it is the session of this very request.")


class EndedShown(Shown):
    """How many sessions there were."""

    model_config = example(ended=3)

    ended: int


# What is shown


@dataclass(frozen=True, slots=True)
class Begun:
    """A session, and the token that nobody but its bearer will know."""

    token: str
    session_id: str
    username: str
    roles: list[accounts.Role]
    created_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, session: sessions.Session, token: str, identity: accounts.Identity) -> Self:
        return cls(
            token=token,
            session_id=session.session_token,
            username=identity.username,
            roles=sorted(identity.roles),
            created_at=session.created_at,
            expires_at=session.expires_at,
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """A session, as whoever looks at it from one of theirs."""

    session_id: str
    created_at: datetime
    expires_at: datetime
    is_this: bool

    @classmethod
    def of(cls, session: sessions.Session, caller: Visitor) -> Self:
        token = session.session_token
        return cls(token, session.created_at, session.expires_at, token == caller.session)


# Logging in and out


async def log_in(site: Site, request: Request, email: str, password: SecretStr) -> Begun:
    """As on the site: tries are counted by address and by login."""
    login = count_log_in(site, request, email)
    try:
        identity = await site.cpu_pool.run(
            accounts.verify_password(login, password.get_secret_value())
        )
    except accounts.WrongCredentials:
        raise WrongLogin from None
    token, session = await begin_session(site, identity)
    return Begun.of(session, token, identity)


def this_session(caller: Visitor) -> Steps[Seen]:
    return Seen.of((yield from sessions.get_session(caller.session)), caller)


def all_sessions(
    caller: Visitor, *, limit: int = PAGE, after: Position | None = None
) -> Steps[Page[Seen]]:
    found = yield from sessions.view_sessions(caller.login, limit=limit, after=after)
    living = [one for one in found if one.began_with(caller.password_version)]
    return Page([Seen.of(session, caller) for session in living], found.position)


def end_this(caller: Visitor) -> Steps[None]:
    yield from sessions.delete_session(caller.session)


def end_one(caller: Visitor, session_id: str) -> Steps[None]:
    """One of the caller's own: another's is as unknown as none."""
    session = yield from sessions.get_session(session_id)
    if session.username != caller.login:
        raise sessions.UnknownSession
    yield from sessions.delete_session(session.session_token)


def end_all(caller: Visitor, *, keep_this: bool = False) -> Steps[int]:
    return (
        yield from sessions.delete_sessions(caller.login, but=caller.session if keep_this else None)
    )


async def forget(site: Site, steps: Any) -> Any:
    """What has ended has ended at once."""
    result = await site.store.run(steps)
    site.visitors.forget_all()
    return result


async def ending_this(site: Site, caller: Visitor) -> None:
    await forget(site, end_this(caller))


async def ending_one(site: Site, caller: Visitor, session_id: str) -> None:
    await forget(site, end_one(caller, session_id))


async def ending_all(site: Site, caller: Visitor, *, keep_this: bool = False) -> int:
    ended: int = await forget(site, end_all(caller, keep_this=keep_this))
    return ended


SESSIONS: Final = (
    Endpoint(
        "POST",
        "/sessions",
        sessions.create_session,
        May.EVERYBODY,
        one(BegunShown),
        runs=log_in,
        body=Credentials,
        status=CREATED,
        refuses=(401, 429),
    ),
    Endpoint(
        "GET",
        "/me/session",
        sessions.get_session,
        May.SIGNED_IN,
        one(SessionShown),
        runs=this_session,
    ),
    Endpoint("DELETE", "/me/session", sessions.delete_session, May.SIGNED_IN, runs=ending_this),
    Endpoint(
        "GET",
        "/me/sessions",
        sessions.view_sessions,
        May.SIGNED_IN,
        page_of(SessionShown),
        runs=all_sessions,
    ),
    Endpoint(
        "DELETE",
        "/me/sessions",
        sessions.delete_sessions,
        May.SIGNED_IN,
        made_by(EndedShown, lambda ended: EndedShown(ended=ended)),
        runs=ending_all,
        asks=("keep_this",),
    ),
    Endpoint(
        "DELETE",
        "/me/sessions/{sessionId}",
        sessions.delete_session,
        May.SIGNED_IN,
        runs=ending_one,
    ),
)

sessions_api = v1_router("sessions", SESSIONS)
