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
from bigtime.web.http import SESSION, VISIT, TooManyTries, local_path, see_other, status_in_form
from bigtime.web.pages import (
    SubmittedForm,
    codes_of,
    context_of,
    count_code,
    empty_form,
    read_fields,
    read_form,
    with_retry_after,
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
        return see_other(then)
    visitor = await context_of(request).visitor(request)
    return await address_page(
        request, empty_form(next=then, email=visitor.login if visitor else "")
    )


@confirm.post("/portal/confirm")
async def send_first(request: Request) -> Response:
    """Mails a code, if the address is a customer's; the answer is the same if it is not."""
    context = context_of(request)
    form = await read_form(request, context, Address)
    if form.value is None:
        return await address_page(request, form, status=422)
    then = local_path(form.value.next, default=HOME)
    try:
        return await begin_confirmation(request, form.value.email, then)
    except TooManyTries as error:
        form.refuse(error)
        return with_retry_after(await address_page(request, form, status=429), error)


async def begin_confirmation(
    request: Request, email: str, then: str, *, ordering: bool = False
) -> Response:
    """To the page that asks for a code; the code is sent when that is answered."""
    context = context_of(request)
    count_code(request, email)
    pending = await context.store.run(begin_check(email, then))
    return redirect_and_send(request, pending, ordering=ordering)


def redirect_and_send(
    request: Request, pending: PendingCheck, *, ordering: bool = False, told: str = ""
) -> Response:
    context = context_of(request)
    steps = send_code(codes_of(context), pending, ordering=ordering)
    response = see_other(f"/portal/confirm/{pending.check_id}{told}")
    response.background = BackgroundTask(context.store.run, steps)
    return response


@confirm.get("/portal/confirm/{check_id}")
async def show_code(request: Request, check_id: str, code: str = "") -> Response:
    """Asks for the code. A link in a letter brings it along; it is not used up by looking."""
    pending = await context_of(request).store.run(fetch_check(check_id))
    return await code_page(request, pending, empty_form(code=code[:20]))


@confirm.post("/portal/confirm/{check_id}")
async def check(request: Request, check_id: str) -> Response:
    """Takes the code, and remembers whose mailbox it is."""
    context = context_of(request)
    form = await read_form(request, context, Code)
    pending = await context.store.run(fetch_check(check_id))
    if form.value is None:
        return await code_page(request, pending, form, status=422)
    try:
        context.count_try("try code", request)
        tenant_id = await context.store.run(
            redeem_code(codes_of(context), check_id, form.value.code)
        )
    except TooManyTries as error:
        form.refuse(error, "code")
        return with_retry_after(await code_page(request, pending, form, status=429), error)
    except REFUSED as error:
        form.refuse(error, "code")
        status = 422 if isinstance(error, portal.CodeSpent) else status_in_form(error)
        return await code_page(request, pending, form, status=status)
    return await continue_as_tenant(request, tenant_id, pending.next)


@confirm.post("/portal/confirm/{check_id}/again")
async def send_again(request: Request, check_id: str) -> Response:
    """Mails another code."""
    context = context_of(request)
    await read_fields(request, context)
    pending = await context.store.run(fetch_check(check_id))
    try:
        count_code(request, pending.email)
    except TooManyTries as error:
        form = empty_form()
        form.refuse(error)
        return with_retry_after(await code_page(request, pending, form, status=429), error)
    pending = await context.store.run(restart_check(check_id))
    return redirect_and_send(request, pending, told="?sent=again")


# How


async def continue_as_tenant(request: Request, tenant_id: str, then: str) -> Response:
    """Goes on as that tenant; a visit that shows who it is gets a cookie nobody knew before."""
    context = context_of(request)
    response = see_other(then)
    visitor = await context.visitor(request)
    if visitor is not None:
        await context.store.run(remember_mailbox(session_holder(visitor.cookie), tenant_id))
        return response
    visit = secrets.token_urlsafe(32)
    response.raw_headers.append(context.cookies.setting(VISIT, visit))
    response.raw_headers.append(context.cookies.clearing(SESSION))
    await context.store.run(remember_mailbox(visit_holder(visit), tenant_id))
    return response


async def address_page(
    request: Request, form: SubmittedForm[Any], *, status: int = 200
) -> Response:
    return await context_of(request).form_page(
        request, "portal/address.html", status=status, form=form
    )


async def code_page(
    request: Request, pending: PendingCheck, form: SubmittedForm[Any], *, status: int = 200
) -> Response:
    return await context_of(request).form_page(
        request,
        "portal/code.html",
        status=status,
        pending=pending,
        form=form,
        again=request.query_params.get("sent") == "again",
    )
