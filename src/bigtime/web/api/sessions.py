"""`/api/v1/sessions`: sign in and get a token, list sessions, sign out.

A token is returned once, by the sign-in; only its hash is stored. That hash, with which nobody can
sign in, is the session's id in the API.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from fastapi import Path, Query
from pydantic import Field, SecretStr

from bigtime.model import NotSignedIn, Page
from bigtime.site import Visitor
from bigtime.systems import accounts, sessions
from bigtime.web.api.bodies import Items, Listed, RequestBody, ResponseBody, example
from bigtime.web.api.dependencies import PagesOf25, SignedIn
from bigtime.web.api.routing import OWN, V1Router, error_responses
from bigtime.web.pages import AppRequest, begin_session, count_log_in, device_of, remember_place

sessions_api = V1Router(sessions.SYSTEM, reads=OWN)

MOST_EMAIL: Final = 254
MOST_PASSWORD: Final = 1_000
SESSION_ID: Final = sessions.hash_token("a token")
BEGUN: Final = "2026-11-15T10:30:00Z"


class WrongLogin(NotSignedIn):
    """Wrong e-mail or password. Try again."""


# Bodies


class Credentials(RequestBody):
    """The e-mail address and password of an account."""

    model_config = example(email="alex@example.com", password="correct horse")

    email: Annotated[str, Field(min_length=1, max_length=MOST_EMAIL)]
    password: Annotated[SecretStr, Field(min_length=1, max_length=MOST_PASSWORD)]


class BegunShown(ResponseBody):
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


class SessionShown(ResponseBody):
    """A session: a device that you are signed in on."""

    model_config = example(
        sessionId=SESSION_ID,
        device="Firefox on Windows",
        createdAt=BEGUN,
        lastSeenAt=BEGUN,
        expiresAt="2026-11-22T10:30:00Z",
        isThis=True,
    )

    session_id: str
    device: str | None = Field(description="The browser and system, or the program's name.")
    created_at: datetime
    last_seen_at: datetime = Field(description="To five minutes.")
    expires_at: datetime
    is_this: bool = Field(description="Whether it is the session of this very request.")


class EndedShown(ResponseBody):
    """How many sessions were ended."""

    model_config = example(ended=3)

    ended: int


def show_session(session: sessions.Session, caller: Visitor) -> SessionShown:
    return SessionShown(
        session_id=session.session_token,
        device=session.device,
        created_at=session.created_at,
        last_seen_at=session.last_seen,
        expires_at=session.expires_at,
        is_this=session.session_token == caller.session,
    )


# Signing in and out


@sessions_api.post(
    "/sessions",
    status_code=201,
    response_model=BegunShown,
    responses=error_responses(400, 401, 404, 409, 429),
)
async def create_session(request: AppRequest, body: Credentials) -> BegunShown:
    """Signs in with e-mail address and password, and returns a token.

    Send it with other requests as `Authorization: Bearer <token>`.
    """
    login = await count_log_in(request, body.email)
    password = body.password.get_secret_value()
    try:
        identity = await request.context.cpu_pool.run(accounts.verify_password(login, password))
    except accounts.WrongCredentials:
        raise WrongLogin from None
    await remember_place(request, identity.login)
    token, session = await begin_session(request.context, identity, device=device_of(request))
    return BegunShown(
        token=token,
        session_id=session.session_token,
        username=identity.username,
        roles=sorted(identity.roles),
        created_at=session.created_at,
        expires_at=session.expires_at,
    )


@sessions_api.get("/me/session", response_model=SessionShown)
async def get_session(request: AppRequest, caller: SignedIn) -> SessionShown:
    """Returns the session of this request."""
    return show_session(await request.run(sessions.get_session(caller.session)), caller)


@sessions_api.delete("/me/session", status_code=204)
async def delete_session(request: AppRequest, caller: SignedIn) -> None:
    """Signs out: ends the session of this request at once."""
    await request.run(sessions.delete_session(caller.session))
    request.context.visitors.forget_login(caller.login)


@sessions_api.get("/me/sessions", response_model=Listed[SessionShown])
async def view_sessions(
    request: AppRequest, caller: SignedIn, paging: PagesOf25
) -> Items[SessionShown]:
    """Lists where you are signed in."""
    found = await request.run(sessions.view_sessions(caller.login, **paging.query))
    rows = [
        show_session(session, caller)
        for session in found
        if session.began_with(caller.password_version)
    ]
    return paging.items(Page(rows, found.position))


@sessions_api.delete("/me/sessions", response_model=EndedShown)
async def delete_sessions(
    request: AppRequest,
    caller: SignedIn,
    keep_this: Annotated[bool, Query(alias="keepThis")] = False,
) -> EndedShown:
    """Signs out everywhere, or with `keepThis` everywhere else."""
    spared = caller.session if keep_this else None
    ended = await request.run(sessions.delete_sessions(caller.login, but=spared))
    request.context.visitors.forget_login(caller.login)
    return EndedShown(ended=ended)


@sessions_api.delete(
    "/me/sessions/{sessionId}", status_code=204, summary=sessions.delete_session_of.title
)
async def delete_other_session(
    request: AppRequest,
    caller: SignedIn,
    session_id: Annotated[str, Path(alias="sessionId", min_length=1)],
) -> None:
    """Ends a session of yours; another's is as unknown as none."""
    await request.run(sessions.delete_session_of(session_id, caller.login))
    request.context.visitors.forget_login(caller.login)
