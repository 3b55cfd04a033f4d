"""The visitor's own pages: their account, their password, their activities."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Response
from pydantic import AfterValidator, BaseModel, Field, SecretStr

from bigtime.model import RuleBroken, together
from bigtime.site import Visitor
from bigtime.systems import accounts, catalog, deals, sessions
from bigtime.web import pages
from bigtime.web.http import TooManyTries, see_other
from bigtime.web.pages import AnyForm, AppContext, AppRequest, SubmittedForm, page_router

ACTIVITY_LABELS = {
    "deal_view": "Viewed",
    "deal_click": "Opened",
    "deal_notification": "Notified about",
    "api_token_created": "Created the API token",
    "api_token_revoked": "Revoked the API token",
}

MOST_SESSIONS = 100

router = page_router()


class NewPassword(BaseModel):
    """The form that changes a password."""

    password: SecretStr
    new_password: Annotated[SecretStr, AfterValidator(accounts.a_new_password)]


class WrongPassword(accounts.WrongCredentials):
    """This is not your password; try again."""


class SamePassword(RuleBroken):
    """Choose a password that differs from your current one."""


@router.get("/me")
async def show_me(request: AppRequest, changed: bool = False, moved: bool = False) -> Response:
    visitor = await request.signed_in()
    return await render_page(request, visitor, pages.empty_form(), changed=changed, moved=moved)


@router.post("/me/password")
async def change_password(request: AppRequest) -> Response:
    """Changes the password, ends every session of the visitor, and begins a new one."""
    visitor, form = await request.read_visitor_form(NewPassword)
    identity = await set_password(request.context, visitor, form)
    if identity is None:
        return await render_page(request, visitor, form)
    request.context.visitors.forget_login(visitor.login)
    await request.run(sessions.delete_sessions(visitor.login))
    return await pages.sign_in(request, identity, then="/me?changed=true")


async def set_password(
    context: AppContext, visitor: Visitor, form: SubmittedForm[NewPassword]
) -> accounts.Identity | None:
    """The identity with its new password version; None if the form is wrong."""
    if form.value is None:
        return None
    old, new = form.value.password.get_secret_value(), form.value.new_password.get_secret_value()
    try:
        await context.count_try_of("change password", visitor.login)
        if old == new:
            raise SamePassword
        return await context.cpu_pool.run(accounts.change_password(visitor.login, old, new))
    except TooManyTries as error:
        form.refuse(error, "password")
    except accounts.WrongCredentials:
        form.refuse(WrongPassword(), "password")
    except (SamePassword, accounts.PasswordTooWeak) as error:
        form.refuse(error, "new_password")
    return None


# The visitor's sessions


class EndSession(BaseModel):
    """The form that ends a session; it is called by its token's hash, which opens nothing."""

    session: str = Field(max_length=100)


@router.post("/me/sessions/end")
async def end_session(request: AppRequest) -> Response:
    """Ends a session of the visitor; one that has ended already is fine."""
    visitor, form = await request.read_visitor_form(EndSession)
    sent = form.require("This form names no session; load the page again.")
    with suppress(sessions.UnknownSession):
        await request.run(sessions.delete_session_of(sent.session, visitor.login))
    request.context.visitors.forget_login(visitor.login)
    return see_other("/me")


@router.post("/me/sessions/end-others")
async def end_other_sessions(request: AppRequest) -> Response:
    """Ends every session of the visitor but this one."""
    visitor = await request.signed_in()
    await request.read_fields()
    await request.run(sessions.delete_sessions(visitor.login, but=visitor.session))
    request.context.visitors.forget_login(visitor.login)
    return see_other("/me")


async def render_page(
    request: AppRequest,
    visitor: Visitor,
    form: AnyForm,
    *,
    changed: bool = False,
    moved: bool = False,
) -> Response:
    found, unread = await request.run(
        together(
            sessions.view_sessions(visitor.login, limit=MOST_SESSIONS),
            deals.count_unread_messages(visitor.username),
        )
    )
    living = [session for session in found if session.began_with(visitor.password_version)]
    living.sort(key=lambda session: session.last_seen, reverse=True)
    living.sort(key=lambda session: session.session_token != visitor.session)
    return await request.form_page(
        "shopper/me.html",
        visitor=visitor,
        sessions=living,
        unread=unread,
        form=form,
        changed=changed,
        moved=moved,
    )


# Activities, as the catalogue has them


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """An activity as the page shows it; `deal_id` is None if the deal is gone."""

    at: datetime
    did: str
    deal_id: str | None
    title: str | None


@router.get("/me/activity")
async def show_activity(request: AppRequest) -> Response:
    """The visitor's activities, newest first, with the deals' present titles if they have any."""
    visitor = await request.signed_in()
    steps = catalog.get_user_activities(visitor.username, after=request.page_start)
    found = await request.run(steps)
    deal_ids = [text_in(activity, "deal_id") for activity in found]
    known = await request.context.deals.by_ids([deal_id for deal_id in deal_ids if deal_id])
    titles = {str(deal.deal_id): deal.title for deal in known}
    rows = [activity_row(activity, titles) for activity in found]
    return await request.list_page("shopper/activity.html", found, rows=rows)


def activity_row(activity: catalog.UserActivity, titles: dict[str, str]) -> ActivityRow:
    deal_id, kind = text_in(activity, "deal_id") or "", activity.activity_type
    return ActivityRow(
        at=last_moment(activity),
        did=ACTIVITY_LABELS.get(kind) or kind.replace("_", " ").capitalize(),
        deal_id=deal_id if deal_id in titles else None,
        title=titles.get(deal_id) or text_in(activity, "title"),
    )


def last_moment(activity: catalog.UserActivity) -> datetime:
    """The time of the last view or click: one activity covers those of an hour."""
    try:
        at = datetime.fromisoformat(text_in(activity, "at") or "")
    except ValueError:
        return activity.timestamp
    return at if at.tzinfo else activity.timestamp


def text_in(activity: catalog.UserActivity, name: str) -> str | None:
    value = (activity.details or {}).get(name)
    return value if isinstance(value, str) else None
