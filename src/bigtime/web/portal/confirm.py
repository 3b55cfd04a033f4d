"""The pages on which somebody shows whose a mailbox is: the address, and then the code."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import DomainError
from bigtime.site import (
    PendingCheck,
    begin_check,
    fetch_check,
    redeem_code,
    remember_mailbox,
    restart_check,
    send_code,
    session_holder,
    visit_holder,
)
from bigtime.systems import portal
from bigtime.web.http import SESSION, VISIT, TooManyTries, local_path, status_in_form
from bigtime.web.pages import (
    Filled,
    codes_of,
    count_code,
    empty,
    going_on,
    read_fields,
    read_form,
    site_of,
    waiting,
)
from bigtime.web.portal.customer import HOME, customer_of

confirm = APIRouter(include_in_schema=False)

REFUSED: tuple[type[DomainError], ...] = (
    portal.CodeWrong,
    portal.CodeSpent,
    portal.UnknownCode,
    portal.MoveRefused,
    portal.TenantDeleted,
    portal.TenantSuspended,
)


class Address(BaseModel):
    """The form that asks for a code."""

    email: portal.Email
    next: str = ""


class Code(BaseModel):
    """The form that the code is typed into."""

    code: Annotated[str, Field(max_length=20)]


@confirm.get("/portal/confirm")
async def show_address(request: Request, next: str | None = None) -> Response:
    """Asks for the address of somebody who has ordered before."""
    then = local_path(next, default=HOME)
    if await customer_of(request):
        return going_on(then)
    visitor = await site_of(request).visitor(request)
    return await address_asked(request, empty(next=then, email=visitor.login if visitor else ""))


@confirm.post("/portal/confirm")
async def send(request: Request) -> Response:
    """Mails a code, if the address is a customer's; the answer is the same if it is not."""
    site = site_of(request)
    form = await read_form(request, site, Address)
    if form.value is None:
        return await address_asked(request, form, status=422)
    then = local_path(form.value.next, default=HOME)
    try:
        return await begin(request, form.value.email, then)
    except TooManyTries as error:
        form.refuse(error)
        return waiting(await address_asked(request, form, status=429), error)


async def begin(request: Request, email: str, then: str, *, ordering: bool = False) -> Response:
    """To the page that asks for a code; the code is sent when that is answered."""
    site = site_of(request)
    count_code(request, email)
    pending = await site.store.run(begin_check(email, then))
    return sending(request, pending, ordering=ordering)


def sending(
    request: Request, pending: PendingCheck, *, ordering: bool = False, told: str = ""
) -> Response:
    site = site_of(request)
    steps = send_code(codes_of(site), pending, ordering=ordering)
    response = going_on(f"/portal/confirm/{pending.check_id}{told}")
    response.background = BackgroundTask(site.store.run, steps)
    return response


@confirm.get("/portal/confirm/{check_id}")
async def show_code(request: Request, check_id: str, code: str = "") -> Response:
    """Asks for the code. A link in a letter brings it along; it is not used up by looking."""
    pending = await site_of(request).store.run(fetch_check(check_id))
    return await code_asked(request, pending, empty(code=code[:20]))


@confirm.post("/portal/confirm/{check_id}")
async def check(request: Request, check_id: str) -> Response:
    """Takes the code, and remembers whose mailbox it is."""
    site = site_of(request)
    form = await read_form(request, site, Code)
    pending = await site.store.run(fetch_check(check_id))
    if form.value is None:
        return await code_asked(request, pending, form, status=422)
    try:
        site.count_try("try code", request)
        tenant_id = await site.store.run(redeem_code(codes_of(site), check_id, form.value.code))
    except TooManyTries as error:
        form.refuse(error, "code")
        return waiting(await code_asked(request, pending, form, status=429), error)
    except REFUSED as error:
        form.refuse(error, "code")
        status = 422 if isinstance(error, portal.CodeSpent) else status_in_form(error)
        return await code_asked(request, pending, form, status=status)
    return await shown_to_be(request, tenant_id, pending.next)


@confirm.post("/portal/confirm/{check_id}/again")
async def again(request: Request, check_id: str) -> Response:
    """Mails another code."""
    site = site_of(request)
    await read_fields(request, site)
    pending = await site.store.run(fetch_check(check_id))
    try:
        count_code(request, pending.email)
    except TooManyTries as error:
        form = empty()
        form.refuse(error)
        return waiting(await code_asked(request, pending, form, status=429), error)
    pending = await site.store.run(restart_check(check_id))
    return sending(request, pending, told="?sent=again")


# How


async def shown_to_be(request: Request, tenant_id: str, then: str) -> Response:
    """Goes on as that tenant; a visit that shows who it is gets a cookie nobody knew before."""
    site = site_of(request)
    response = going_on(then)
    visitor = await site.visitor(request)
    if visitor is not None:
        await site.store.run(remember_mailbox(session_holder(visitor.cookie), tenant_id))
        return response
    visit = secrets.token_urlsafe(32)
    response.raw_headers.append(site.cookies.setting(VISIT, visit))
    response.raw_headers.append(site.cookies.clearing(SESSION))
    await site.store.run(remember_mailbox(visit_holder(visit), tenant_id))
    return response


async def address_asked(request: Request, form: Filled[Any], *, status: int = 200) -> Response:
    return await site_of(request).form_page(
        request, "portal/address.html", status=status, form=form
    )


async def code_asked(
    request: Request, pending: PendingCheck, form: Filled[Any], *, status: int = 200
) -> Response:
    return await site_of(request).form_page(
        request,
        "portal/code.html",
        status=status,
        pending=pending,
        form=form,
        again=request.query_params.get("sent") == "again",
    )
