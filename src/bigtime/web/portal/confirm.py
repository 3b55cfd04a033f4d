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
from bigtime.systems.portal.errors import (
    CodeSpent,
    CodeWrong,
    MoveRefused,
    TenantDeleted,
    TenantSuspended,
    UnknownCode,
)
from bigtime.systems.portal.values import Email
from bigtime.web.cookies import SESSION, VISIT
from bigtime.web.design import Proving
from bigtime.web.forms import Filled, empty, read_fields, read_form
from bigtime.web.local_path import local_path
from bigtime.web.portal.customer import customer_of
from bigtime.web.portal.ordering import codes_of
from bigtime.web.portal.proving import (
    begin_again,
    begin_proving,
    open_proving,
    prove,
    remember,
    send_code,
)
from bigtime.web.problems import status_of
from bigtime.web.signing_in import going_on
from bigtime.web.site import site_of

confirm = APIRouter(include_in_schema=False)

HOME = "/portal"
REFUSED: tuple[type[DomainError], ...] = (
    CodeWrong,
    CodeSpent,
    UnknownCode,
    MoveRefused,
    TenantDeleted,
    TenantSuspended,
)


class Address(BaseModel):
    """The form that asks for a code."""

    email: Email
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
    return await begin(request, form.value.email, then)


async def begin(request: Request, email: str, then: str, *, ordering: bool = False) -> Response:
    """To the page that asks for a code; the code is sent when that is answered."""
    site = site_of(request)
    count_code(request, email)
    proving = await site.store.run(begin_proving(email, then))
    return sending(request, proving, ordering=ordering)


def count_code(request: Request, email: str) -> None:
    """Refuses too many codes: asked for from one address, or sent to one mailbox."""
    site = site_of(request)
    site.count_try("one-time code", request)
    site.limits.take("one-time code to", email)


def sending(
    request: Request, proving: Proving, *, ordering: bool = False, told: str = ""
) -> Response:
    site = site_of(request)
    steps = send_code(codes_of(site), proving, ordering=ordering)
    response = going_on(f"/portal/confirm/{proving.proving_id}{told}")
    response.background = BackgroundTask(site.store.run, steps)
    return response


@confirm.get("/portal/confirm/{proving_id}")
async def show_code(request: Request, proving_id: str, code: str = "") -> Response:
    """Asks for the code. A link in a letter brings it along; it is not used up by looking."""
    proving = await site_of(request).store.run(open_proving(proving_id))
    return await code_asked(request, proving, empty(code=code[:20]))


@confirm.post("/portal/confirm/{proving_id}")
async def check(request: Request, proving_id: str) -> Response:
    """Takes the code, and remembers whose mailbox it is."""
    site = site_of(request)
    form = await read_form(request, site, Code)
    proving = await site.store.run(open_proving(proving_id))
    if form.value is None:
        return await code_asked(request, proving, form, status=422)
    site.count_try("try code", request)
    try:
        tenant_id = await site.store.run(prove(codes_of(site), proving_id, form.value.code))
    except REFUSED as error:
        form.refuse(error, "code")
        return await code_asked(request, proving, form, status=refused_with(error))
    return await shown_to_be(request, tenant_id, proving.next)


@confirm.post("/portal/confirm/{proving_id}/again")
async def again(request: Request, proving_id: str) -> Response:
    """Mails another code."""
    site = site_of(request)
    await read_fields(request, site)
    proving = await site.store.run(open_proving(proving_id))
    count_code(request, proving.email)
    proving = await site.store.run(begin_again(proving_id))
    return sending(request, proving, told="?sent=again")


# How


async def shown_to_be(request: Request, tenant_id: str, then: str) -> Response:
    """Goes on as that tenant; a visit that shows who it is gets a cookie nobody knew before."""
    site = site_of(request)
    response = going_on(then)
    cookie = site.cookies.read(SESSION, request.scope["headers"])
    if cookie is None or await site.visitor(request) is None:
        cookie = secrets.token_urlsafe(32)
        response.raw_headers.append(site.cookies.setting(VISIT, cookie))
        response.raw_headers.append(site.cookies.clearing(SESSION))
    await site.store.run(remember(cookie, tenant_id))
    return response


def refused_with(error: DomainError) -> int:
    """A code that will not do is a wrong field, whatever is wrong with it."""
    is_wrong = isinstance(error, CodeWrong | CodeSpent | UnknownCode)
    return 422 if is_wrong else status_of(error)


async def address_asked(request: Request, form: Filled[Any], *, status: int = 200) -> Response:
    return await site_of(request).form_page(
        request, "portal/address.html", status=status, form=form
    )


async def code_asked(
    request: Request, proving: Proving, form: Filled[Any], *, status: int = 200
) -> Response:
    return await site_of(request).form_page(
        request,
        "portal/code.html",
        status=status,
        proving=proving,
        form=form,
        again=request.query_params.get("sent") == "again",
    )
