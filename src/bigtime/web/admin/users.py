"""Users for an admin: listed, found and viewed; their roles and sessions changed.

Roles are looked up with every request, so a revoked one is gone from all sessions: in this process
at once, in others a second later.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Final, Literal
from urllib.parse import urlencode

from pydantic import BaseModel
from starlette.responses import Response

from bigtime import site
from bigtime.model import DomainError, NotFound, Page, Position, RuleBroken
from bigtime.systems import accounts
from bigtime.web.admin.lists import AT_ONCE, Column, answer_listing, download_list, listing_of
from bigtime.web.admin.records import Admin
from bigtime.web.http import see_other
from bigtime.web.pages import AnyForm, AppContext, AppRequest, empty_form, page_router
from bigtime.wire import Steps

users = page_router()

HERE: Final = "/admin/users"
PAGE: Final = 25
COUNT_SECONDS: Final = 60.0
"""Counting accounts reads a whole index, so the number is cached for a minute."""

Which = Literal["all", "staff", "editor", "admin"]
WHICH: Final = (
    ("all", "All"),
    ("staff", "Staff"),
    ("editor", "Editors"),
    ("admin", "Admins"),
)
GRANTED: Final = (accounts.Role.EDITOR, accounts.Role.ADMIN)
"""The roles that can be granted and revoked; everybody is a shopper."""
MEANINGS: Final = {
    accounts.Role.EDITOR: "publishes deals, and sends messages to users",
    accounts.Role.ADMIN: "sees customers and orders, and changes the roles of users",
}


class OwnAdminRole(RuleBroken):
    """This is your own admin role. Without it you cannot see these pages, nor undo this."""


class NoSuchUser(NotFound):
    """No user has this e-mail address or username."""


def roles_text(entry: accounts.AccountEntry) -> str:
    """The roles other than SHOPPER."""
    return ", ".join(role for role in GRANTED if role in entry.identity.roles)


COLUMNS: Final[tuple[Column[accounts.AccountEntry], ...]] = (
    Column("login", "E-mail", attrgetter("identity.login")),
    Column("username", "Username", attrgetter("identity.username")),
    Column("roles", "Roles", roles_text),
    Column("since", "Since", attrgetter("created_at"), by_index=True),
    Column("verified", "Verified", attrgetter("confirmed_at")),
    Column("closed", "Closed?", lambda entry: entry.closed_at is not None),
    Column("tenant", "Tenant", attrgetter("identity.tenant_id"), is_shown=False),
)
STAFF_COLUMNS: Final = tuple(
    Column(each.name, each.label, each.value, is_shown=each.is_shown) for each in COLUMNS
)
"""All staff are on one page, so every column sorts all of them."""


def list_steps(
    which: Which, after: Position | None, *, limit: int = PAGE, newest_first: bool = True
) -> Steps[Page[accounts.AccountEntry]]:
    if which == "all":
        page = yield from accounts.list_accounts(
            limit=limit, after=after, newest_first=newest_first
        )
        return page
    return Page(
        (yield from accounts.list_staff(None if which == "staff" else accounts.Role(which)))
    )


@users.get(HERE)
async def show_users(request: AppRequest, admin: Admin, which: Which = "all") -> Response:
    """Users, newest first; or those with a role, by e-mail."""
    columns, sort = (COLUMNS, "-since") if which == "all" else (STAFF_COLUMNS, "login")
    listing = listing_of(request, columns, sort=sort, filters=("which",))
    newest_first = listing.newest_first(default=True)
    steps = list_steps(which, request.page_start, newest_first=newest_first)
    found = await request.run(steps)
    return await answer_listing(
        request,
        "admin/users.html",
        listing,
        found,
        which=which,
        choices=WHICH,
        total=await count_users(request.context),
        form=empty_form(),
        roles_text=roles_text,
    )


async def count_users(context: AppContext) -> int:
    return await context.remember("user count", (), accounts.count_accounts, seconds=COUNT_SECONDS)


@users.get(f"{HERE}.csv")
async def download_users(request: AppRequest, admin: Admin, which: Which = "all") -> Response:
    """All of these users; the download is logged."""
    return await download_list(
        request, admin, "users", COLUMNS, lambda after: list_steps(which, after, limit=AT_ONCE)
    )


@users.get(f"{HERE}/find")
async def find_user(request: AppRequest, admin: Admin, text: str = "") -> Response:
    """The user of an e-mail address or a username."""
    found = await request.run(site.find_user(text[:300])) if text.strip() else None
    if found is not None:
        return see_other(user_path(found.identity.login))
    form = empty_form(text=text).refuse(NoSuchUser(), "text")
    return await request.page("admin/find_user.html", status=404, form=form)


@users.get(f"{HERE}/log")
async def show_log(request: AppRequest, admin: Admin) -> Response:
    """What admins did to users and with lists, newest first."""
    steps = site.view_admin_changes(limit=PAGE, after=request.page_start)
    found = await request.run(steps)
    return await request.list_page(
        "admin/user_log.html", found, changes=found.items, words=change_words
    )


ACTION_WORDS: Final = {
    site.AdminAction.GRANTED_ROLE: "gave the role {what}",
    site.AdminAction.REVOKED_ROLE: "took away the role {what}",
    site.AdminAction.ENDED_SESSIONS: "ended all sessions",
    site.AdminAction.DOWNLOADED: "downloaded the list ({what})",
}


def change_words(change: site.AdminChange) -> str:
    return ACTION_WORDS[change.action].format(what=change.what)


# A user


def user_path(login: str, **more: str) -> str:
    return f"{HERE}/user?{urlencode({'login': login, **more})}"


@users.get(f"{HERE}/user")
async def show_user(request: AppRequest, admin: Admin, login: str = "", done: str = "") -> Response:
    return await user_page(request, login, empty_form(), done=done)


class RoleForm(BaseModel):
    """Whose role is given or taken, and which."""

    login: accounts.Login
    role: accounts.Role
    confirmed: str = ""


@users.post(f"{HERE}/grant")
async def grant(request: AppRequest, admin: Admin) -> Response:
    """Gives a user a role."""
    form = await request.read_form(RoleForm)
    sent = form.require("Say whose role, and which.")
    identity = await request.run(site.grant_role(sent.login, sent.role, by=admin.username))
    request.context.visitors.forget_login(identity.login)
    return see_other(user_path(identity.login, done="granted"))


@users.post(f"{HERE}/revoke")
async def revoke(request: AppRequest, admin: Admin) -> Response:
    """Takes a role from a user; one's own admin role only once that is confirmed."""
    form = await request.read_form(RoleForm)
    sent = form.require("Say whose role, and which.")
    is_own = sent.login == admin.login and sent.role is accounts.Role.ADMIN
    try:
        if is_own and sent.confirmed != "yes":
            raise OwnAdminRole
        identity = await request.run(site.revoke_role(sent.login, sent.role, by=admin.username))
    except (OwnAdminRole, accounts.LastAdmin, accounts.RolesChanged) as error:
        return await refused_page(request, sent.login, form, error)
    request.context.visitors.forget_login(identity.login)
    return see_other("/" if is_own else user_path(identity.login, done="revoked"))


class UserForm(BaseModel):
    """Whose sessions are ended."""

    login: accounts.Login


@users.post(f"{HERE}/sessions")
async def end_sessions(request: AppRequest, admin: Admin) -> Response:
    """Signs a user out everywhere."""
    form = await request.read_form(UserForm)
    sent = form.require("Say whose sessions.")
    await request.run(site.end_sessions(sent.login, by=admin.username))
    request.context.visitors.forget_login(sent.login)
    return see_other(user_path(sent.login, done="ended"))


async def refused_page(
    request: AppRequest, login: str, form: AnyForm, error: DomainError
) -> Response:
    return await user_page(request, login, form.refuse(error))


async def user_page(request: AppRequest, login: str, form: AnyForm, *, done: str = "") -> Response:
    seen = await request.run(site.view_user(login))
    admin = await request.signed_in()
    return await request.form_page(
        "admin/user.html",
        seen=seen,
        identity=seen.entry.identity,
        form=form,
        done=done,
        is_self=admin.login == seen.entry.identity.login,
        roles=[*role_rows(seen.entry.identity.roles)],
        words=change_words,
    )


def role_rows(roles: Iterable[accounts.Role]) -> Iterable[tuple[accounts.Role, str, bool]]:
    """The roles that can be granted: what each may do, and whether the user has it."""
    for role in GRANTED:
        yield role, MEANINGS[role], role in roles
