"""Visitors: the signed-in user behind a request, by the session in its cookie.

A session is stored under the hash of its token; the account says who that is, and its roles. Both
are read for every request, but at most once a second: a role that is taken away is gone a second
later, and a session that ends in this process ends at once.

A session knows the version of the password that it began with. After the password is changed, the
account has another version, and the session is over, before anybody deletes it.

When a session was last used is written at most every five minutes. The session of an account with
more roles than a shopper's ends if it is not used for a while, `idle`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cachetools import TTLCache

from bigtime import model as bt
from bigtime.store import AsyncStore
from bigtime.systems import accounts, sessions
from bigtime.wire import DynamoDBError, Steps

log = logging.getLogger("bigtime.site")

SECONDS_KEPT = 1.0
MOST_KEPT = 20_000
IDLE = timedelta(minutes=30)
LONGEST_TOKEN = 200
"""Characters. Ours have 43; a longer one is not looked up, nor remembered."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """A signed-in user; `cookie` is the session's token, `session` its hash."""

    cookie: str
    session: str
    login: str
    username: str
    roles: frozenset[accounts.Role]
    tenant_id: str | None = None
    password_version: int = 0
    is_confirmed: bool = False

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
        if not cookie or len(cookie) > LONGEST_TOKEN:
            return None
        try:
            return self._kept[cookie]
        except KeyError:
            pass
        # A session may end here while it is being read: then `forget` was first.
        steps = fetch_visitor(cookie, idle=self.idle)
        return self._kept.setdefault(cookie, await self.store.run(steps))

    def forget(self, cookie: str) -> None:
        """Ends a session here and now."""
        self._kept[cookie] = None

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
            yield from note_use(found)
    except (sessions.UnknownSession, accounts.UnknownLogin):
        return None
    return visitor_of(cookie, identity)


def is_over(
    session: sessions.Session, identity: accounts.Identity, moment: datetime, *, idle: timedelta
) -> bool:
    """Whether a stored session is over: the password has changed, or it was idle for too long."""
    is_idle = moment - session.last_seen >= idle and bool(identity.roles - {accounts.Role.SHOPPER})
    return is_idle or not session.began_with(identity.password_version)


def note_use(session: sessions.Session) -> Steps[None]:
    """Writes that a session is used; where nothing can be written, pages can still be read."""
    try:
        yield from sessions.note_use(session.session_token)
    except DynamoDBError as error:
        log.warning("the use of a session cannot be noted: %s", error)


def visitor_of(cookie: str, identity: accounts.Identity) -> Visitor:
    return Visitor(
        cookie,
        sessions.hash_token(cookie),
        identity.login,
        identity.username,
        identity.roles,
        identity.tenant_id,
        identity.password_version,
        identity.is_confirmed,
    )
