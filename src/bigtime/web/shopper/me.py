"""The page of whoever is signed in: who they are, where, and their password."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, SecretStr
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import together
from bigtime.systems.accounts.account import change_password
from bigtime.systems.accounts.errors import WrongCredentials
from bigtime.systems.deals.messages import count_unread_messages
from bigtime.systems.sessions.session import delete_sessions, view_sessions
from bigtime.web.forms import Filled, empty, read_form
from bigtime.web.shopper.sign_up import a_new_password
from bigtime.web.signing_in import going_on
from bigtime.web.site import site_of
from bigtime.web.visitor import Visitor

me = APIRouter(include_in_schema=False)


class NewPassword(BaseModel):
    """The form that changes a password."""

    password: SecretStr
    new_password: Annotated[SecretStr, AfterValidator(a_new_password)]


class WrongPassword(WrongCredentials):
    """This is not your password; try again."""


@me.get("/me")
async def show_me(request: Request, changed: bool = False) -> Response:
    visitor = await site_of(request).signed_in(request)
    return await shown(request, visitor, empty(), changed=changed)


@me.post("/me/password")
async def change(request: Request) -> Response:
    """Changes the password, and ends every other session: somebody may have known the old one."""
    site = site_of(request)
    visitor = await site.signed_in(request)
    form = await read_form(request, site, NewPassword)
    if form.value is not None:
        site.limits.take("log in as", visitor.login)
        await try_changing(request, visitor, form)
    if form.value is None:
        return await shown(request, visitor, form, status=422)
    await site.store.run(delete_sessions(visitor.login, but=visitor.session))
    site.visitors.forget_all()
    return going_on("/me?changed=true")


async def try_changing(request: Request, visitor: Visitor, form: Filled[NewPassword]) -> None:
    assert form.value is not None
    old, new = form.value.password, form.value.new_password
    try:
        await site_of(request).apart.run(
            change_password(visitor.login, old.get_secret_value(), new.get_secret_value())
        )
    except WrongCredentials:
        form.refuse(WrongPassword(), "password")


async def shown(
    request: Request,
    visitor: Visitor,
    form: Filled[NewPassword],
    *,
    status: int = 200,
    changed: bool = False,
) -> Response:
    site = site_of(request)
    sessions, unread = await site.store.run(
        together(view_sessions(visitor.login), count_unread_messages(visitor.username))
    )
    return await site.form_page(
        request,
        "shopper/me.html",
        status=status,
        visitor=visitor,
        sessions=sessions,
        unread=unread,
        form=form,
        changed=changed,
    )
