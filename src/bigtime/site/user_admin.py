"""User administration: listing and viewing users, granting and revoking roles, and the log of that.

A role and its log entry are written in one transaction, so that no role changes without an entry.
Entries are kept by username, which stays the same when the login of an account changes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final

from bigtime import model as bt
from bigtime.site.design import AdminAction, AdminChange, new_change_id
from bigtime.systems import accounts, deals, portal, sessions
from bigtime.wire import Steps

PAGE: Final = 25
MOST_SESSIONS: Final = 100
NEWEST: Final = 25
COMMAND_LINE: Final = "command line"
SAMPLE: Final = {"login": "alex@example.com", "by": "ada@example.com"}


@dataclass(frozen=True, slots=True)
class UserView:
    """An account, and what an admin is shown of it."""

    entry: accounts.AccountEntry
    name: str | None
    tenant: portal.Tenant | None
    sessions: list[sessions.Session]
    changes: list[AdminChange]


@bt.pattern("View User", index="Main table, UserIndex", sample={"login": "alex@example.com"})
def view_user(login: accounts.Login) -> Steps[UserView]:
    """The account, its user, tenant and sessions, and what admins did to it, newest first."""
    entry = yield from accounts.view_entry(login)
    identity = entry.identity
    user, living, changes = yield from bt.together(
        bt.get(deals.User.key(identity.username)),
        sessions.view_sessions(identity.login, limit=MOST_SESSIONS),
        view_user_changes(identity.username),
    )
    tenant = None
    if identity.tenant_id is not None:
        with suppress(portal.UnknownTenant):
            tenant = yield from portal.get_tenant(identity.tenant_id, include_inactive=True)
    valid = [each for each in living if each.began_with(identity.password_version)]
    valid.sort(key=lambda session: session.last_seen, reverse=True)
    return UserView(entry, user.name if user else None, tenant, valid, changes.items)


@bt.pattern("Find User", index="Main table", sample={"text": "alex@example.com"})
def find_user(text: str) -> Steps[accounts.AccountEntry | None]:
    """By the whole e-mail address, or the whole username; None if there is no such account."""
    with suppress(accounts.UnknownLogin, accounts.InvalidLogin):
        return (yield from accounts.view_entry(text))
    with suppress(bt.DomainError):
        user = yield from deals.read_user(text)
        if user.email is not None:
            return (yield from accounts.view_entry(user.email))
    return None


@bt.pattern("Grant Role to User", index="Main table", sample=SAMPLE)
def grant_role(
    login: accounts.Login, role: accounts.Role, *, by: str = COMMAND_LINE
) -> Steps[accounts.Identity]:
    """One transaction: the role, and an entry in the log; once is as good as twice."""
    entry = yield from new_user_change(login, AdminAction.GRANTED_ROLE, role, by)
    return (yield from accounts.grant_role(login, role, along=(bt.create(entry),)))


@bt.pattern("Revoke Role of User", index="Main table", sample=SAMPLE)
def revoke_role(
    login: accounts.Login, role: accounts.Role, *, by: str = COMMAND_LINE
) -> Steps[accounts.Identity]:
    """One transaction: the role, and an entry in the log; the last admin stays one.

    Sessions go on without the role: it is looked up with every request.
    """
    entry = yield from new_user_change(login, AdminAction.REVOKED_ROLE, role, by)
    return (yield from accounts.revoke_role(login, role, along=(bt.create(entry),)))


@bt.pattern("End Sessions of User", index="Main table, UserIndex", sample=SAMPLE)
def end_sessions(login: accounts.Login, *, by: str = COMMAND_LINE) -> Steps[int]:
    """An entry in the log, then each session; returns how many there were."""
    entry = yield from new_user_change(login, AdminAction.ENDED_SESSIONS, "all", by)
    yield from bt.create(entry)
    return (yield from sessions.delete_sessions(login))


@bt.pattern("Note Download of List", index="Main table", sample={"name": "tenants"})
def note_download(name: str, what: str = "all", *, by: str = COMMAND_LINE) -> Steps[None]:
    """An entry in the log, before a list with personal data is sent; `what` are its filters."""
    yield from bt.create((yield from new_change(f"list {name}", AdminAction.DOWNLOADED, what, by)))


# The log


@bt.pattern("View Changes of User", index="Main table")
def view_user_changes(
    username: str, *, limit: int = NEWEST, after: bt.Position | None = None
) -> Steps[bt.Page[AdminChange]]:
    """What admins did to an account, newest first, paged."""
    own = AdminChange.within("main", about=f"user {username}")
    return (yield from bt.query(own, newest_first=True, limit=limit, after=after))


@bt.pattern("View Admin Changes", index="GSI1")
def view_admin_changes(
    *, limit: int = PAGE, after: bt.Position | None = None
) -> Steps[bt.Page[AdminChange]]:
    """A query for each month that has changes, newest first, paged."""
    return (yield from bt.newest_first(months(), limit=limit, after=after))


@cache
def months() -> bt.Buckets[AdminChange]:
    return bt.buckets(AdminChange, "GSI1")


def new_user_change(login: str, action: AdminAction, what: str, by: str) -> Steps[AdminChange]:
    identity = yield from accounts.view_account(login)
    return (yield from new_change(f"user {identity.username}", action, what, by))


def new_change(about: str, action: AdminAction, what: str, by: str) -> Steps[AdminChange]:
    moment = yield from bt.now()
    return AdminChange(
        about=about,
        change_id=(yield from new_change_id(moment)),
        at=moment,
        who=by,
        action=action,
        what=what,
    )
