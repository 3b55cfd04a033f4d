"""Visitors: the signed-in user behind a request, by the session in its cookie.

A session is stored under the hash of its token; the account has the user's identity and roles. Both
are read for every request, but at most once a second: a revoked role is gone a second later, and a
session that is ended in this process ends at once.

A session has the version of the password that it began with. Once the password is changed, the
account has another version, and the session is over even before its item is deleted.

A program may use an API token instead of a session (`bigtime.site.api_tokens`). Its visitor has a
`scope`; only the APIs accept tokens, pages do not.

When a session was last used is written at most every five minutes. The session of an account with
more roles than a shopper's ends if it is not used for a while, `idle`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from cachetools import TTLCache

from bigtime import model as bt
from bigtime.site import api_tokens
from bigtime.store import AsyncStore
from bigtime.systems import accounts, sessions
from bigtime.wire import DynamoDBError, Steps

log = logging.getLogger("bigtime.site")

SECONDS_KEPT = 1.0
MOST_KEPT = 20_000
IDLE = timedelta(minutes=30)
LONGEST_TOKEN = 200
"""Characters. A session's token has 43; one that is too long is neither looked up nor cached."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """A signed-in user; `cookie` is the session's token, `session` its hash.

    With a `scope`, this is the user of an API token, and `cookie` is that token.
    """

    cookie: str
    session: str
    login: str
    username: str
    roles: frozenset[accounts.Role]
    tenant_id: str | None = None
    password_version: int = 0
    is_confirmed: bool = False
    scope: api_tokens.TokenScope | None = None

    def has(self, role: accounts.Role) -> bool:
        return role in self.roles

    def __repr__(self) -> str:
        return f"Visitor({self.username!r})"


class Visitors:
    """Finds the visitor of a cookie. For one event loop."""

    def __init__(
        self,
        store: AsyncStore,
        *,
        idle: timedelta = IDLE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = store
        self.idle = idle
        self._kept: TTLCache[str, Visitor | None] = TTLCache(MOST_KEPT, SECONDS_KEPT, timer=clock)

    async def of(self, cookie: str | None) -> Visitor | None:
        """The user of that session; None if it is unknown or over."""
        if not cookie or cookie.startswith(api_tokens.PREFIX):
            return None
        return await self._find(cookie, partial(fetch_visitor, cookie, idle=self.idle))

    async def of_bearer(self, token: str) -> Visitor | None:
        """The user of a session's token or of an API token."""
        if not token.startswith(api_tokens.PREFIX):
            return await self.of(token)
        return await self._find(token, partial(fetch_token_user, token))

    async def _find(self, token: str, fetch: Callable[[], Steps[Visitor | None]]) -> Visitor | None:
        if len(token) > LONGEST_TOKEN:
            return None
        try:
            return self._kept[token]
        except KeyError:
            pass
        # If the session ends here while it is being read, `forget` has already set None, which
        # stays.
        return self._kept.setdefault(token, await self.store.run(fetch()))

    def forget(self, cookie: str) -> None:
        """Ends a session in this process at once."""
        self._kept[cookie] = None

    def forget_login(self, login: str) -> None:
        """Drops a user whose roles or sessions have changed, to be read again."""
        for cookie in list(self._kept):  # not `items()`: an entry may expire meanwhile
            visitor = self._kept.get(cookie)
            if visitor is not None and visitor.login == login:
                self._kept.pop(cookie, None)

    def forget_all(self) -> None:
        self._kept.clear()


@bt.pattern("Fetch Visitor by Session", index="Main table")
def fetch_visitor(cookie: str, *, idle: timedelta = IDLE) -> Steps[Visitor | None]:
    """Session and account; None if the session is unknown, idle, or its password has changed."""
    try:
        found = yield from sessions.get_session(sessions.hash_token(cookie))
        identity: accounts.Identity = yield from accounts.view_account(found.username)
        moment = yield from bt.now()
        if is_over(found, identity, moment, idle=idle):
            return None
        if found.is_use_due(moment):
            yield from note_use(sessions.note_use(found.session_token))
    except (sessions.UnknownSession, accounts.UnknownLogin):
        return None
    return visitor_of(cookie, identity)


def is_over(
    session: sessions.Session, identity: accounts.Identity, moment: datetime, *, idle: timedelta
) -> bool:
    """Whether a stored session is over: the password has changed, or it was idle for too long."""
    is_idle = moment - session.last_seen >= idle and bool(identity.roles - {accounts.Role.SHOPPER})
    return is_idle or not session.began_with(identity.password_version)


@bt.pattern("Fetch User of API Token", index="Main table")
def fetch_token_user(token: str) -> Steps[Visitor | None]:
    """Token and account; None if the token is unknown, expired, or the password has changed."""
    try:
        found = yield from api_tokens.fetch_api_token(token)
        identity: accounts.Identity = yield from accounts.view_account(found.login)
        if found.password_version != identity.password_version:
            return None
        if found.is_use_due((yield from bt.now())):
            yield from note_use(api_tokens.note_token_use(found.token_hash))
    except (api_tokens.UnknownToken, accounts.UnknownLogin):
        return None
    return visitor_of(token, identity, found.scope)


def note_use(steps: Steps[None]) -> Steps[None]:
    """Records the use of a session or token; where writes fail, the visitor can still read."""
    try:
        yield from steps
    except DynamoDBError as error:
        log.warning("the use of a session or token cannot be noted: %s", error)


def visitor_of(
    cookie: str, identity: accounts.Identity, scope: api_tokens.TokenScope | None = None
) -> Visitor:
    return Visitor(
        cookie,
        sessions.hash_token(cookie),
        identity.login,
        identity.username,
        identity.roles,
        identity.tenant_id,
        identity.password_version,
        identity.is_confirmed,
        scope,
    )
