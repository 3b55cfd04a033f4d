"""Mailbox checks: the pages that ask for an address and the code mailed to it; and the outbox."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, Field
from starlette.background import BackgroundTask
from starlette.responses import Response

from bigtime import site
from bigtime.model import DomainError
from bigtime.systems import portal
from bigtime.web import http, pages
from bigtime.web.pages import AppRequest, page_router
from bigtime.web.portal.customer import HOME, customer_of

mailbox = page_router()

LINK: Final = re.compile(r"(https?://\S+)")

REFUSED: tuple[type[DomainError], ...] = (
    http.TooManyTries,
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


@mailbox.get("/portal/confirm")
async def show_address(request: AppRequest, next: str | None = None) -> Response:
    """Asks for the address of a customer who has ordered before."""
    then = http.local_path(next, default=HOME)
    if await customer_of(request):
        return http.see_other(then)
    visitor = await request.visitor()
    return await address_page(
        request, pages.empty_form(next=then, email=visitor.login if visitor else "")
    )


@mailbox.post("/portal/confirm")
async def send_first(request: AppRequest) -> Response:
    """Mails a code, if the address is a customer's; the answer is the same if it is not."""
    form = await request.read_form(Address)
    if form.value is None:
        return await address_page(request, form)
    then = http.local_path(form.value.next, default=HOME)
    try:
        return await begin_confirmation(request, form.value.email, then)
    except http.TooManyTries as error:
        return await address_page(request, form.refuse(error))


async def begin_confirmation(
    request: AppRequest, email: str, then: str, *, ordering: bool = False
) -> Response:
    """To the page that asks for a code; the code is sent after the response."""
    await pages.count_code(request, email)
    pending = await request.run(site.begin_check(email, then))
    return redirect_and_send(request, pending, ordering=ordering)


def redirect_and_send(
    request: AppRequest, pending: site.PendingCheck, *, ordering: bool = False, query: str = ""
) -> Response:
    steps = site.send_code(request.context.codes, pending, ordering=ordering)
    response = http.see_other(f"/portal/confirm/{pending.check_id}{query}")
    response.background = BackgroundTask(request.context.store.run, steps)
    return response


@mailbox.get("/portal/confirm/{check_id}")
async def show_code(request: AppRequest, check_id: str, code: str = "") -> Response:
    """Asks for the code. A link in a letter brings it along; it is not used up by looking."""
    pending = await request.run(site.fetch_check(check_id))
    return await code_page(request, pending, pages.empty_form(code=code[:20]))


@mailbox.post("/portal/confirm/{check_id}")
async def check(request: AppRequest, check_id: str) -> Response:
    """Takes the code, and remembers whose mailbox it is."""
    form = await request.read_form(Code)
    pending = await request.run(site.fetch_check(check_id))
    if form.value is None:
        return await code_page(request, pending, form)
    try:
        await request.count_try("try code")
        tenant_id = await request.run(
            site.redeem_code(request.context.codes, check_id, form.value.code)
        )
    except REFUSED as error:
        is_spent = isinstance(error, portal.CodeSpent)
        form.refuse(error, "code", status=422 if is_spent else http.status_in_form(error))
        return await code_page(request, pending, form)
    response = await continue_as_tenant(request, tenant_id, pending.next)
    response.raw_headers.append(await pages.remember_place(request, pending.email))
    return response


@mailbox.post("/portal/confirm/{check_id}/again")
async def send_again(request: AppRequest, check_id: str) -> Response:
    """Mails another code."""
    await request.read_fields()
    pending = await request.run(site.fetch_check(check_id))
    try:
        await pages.count_code(request, pending.email)
    except http.TooManyTries as error:
        form = pages.empty_form()
        return await code_page(request, pending, form.refuse(error))
    pending = await request.run(site.restart_check(check_id))
    return redirect_and_send(request, pending, query="?sent=again")


async def continue_as_tenant(request: AppRequest, tenant_id: str, then: str) -> Response:
    """Redirects a verified tenant; a visit gets a new cookie, which nobody else can know."""
    response = http.see_other(then)
    visitor = await request.visitor()
    if visitor is not None:
        await request.run(site.remember_mailbox(site.session_holder(visitor.cookie), tenant_id))
        return response
    visit = secrets.token_urlsafe(32)
    response.raw_headers.append(request.context.cookies.set_header(http.VISIT, visit))
    response.raw_headers.append(request.context.cookies.clear_header(http.SESSION))
    await request.run(site.remember_mailbox(site.visit_holder(visit), tenant_id))
    return response


async def address_page(request: AppRequest, form: pages.AnyForm) -> Response:
    visitor = await request.visitor()
    return await request.form_page("portal/address.html", form=form, visitor=visitor)


async def code_page(
    request: AppRequest, pending: site.PendingCheck, form: pages.AnyForm
) -> Response:
    return await request.form_page(
        "portal/code.html",
        pending=pending,
        form=form,
        again=request.query_params.get("sent") == "again",
    )


# The outbox: in development, it shows the mails


@dataclass(frozen=True, slots=True)
class ShownMail:
    """A mail with its text in parts: every second one is a link.

    Links to this site lead to the page on the host of the request.
    """

    mail: site.Mail
    parts: list[str]
    here: str

    def path_of(self, link: str) -> str:
        return link.removeprefix(self.here) if link.startswith(f"{self.here}/") else link


@mailbox.get("/outbox")
async def show_outbox(request: AppRequest) -> Response:
    """Every letter, newest first. They hold codes, so there is no such page in production."""
    if request.context.settings.mode != "development":
        raise http.NoSuchPage()
    found = await request.run(site.view_outbox(after=request.page_start))
    return await request.list_page(
        "portal/outbox.html",
        found,
        letters=[show_mail(request.context, mail) for mail in found],
        sent=bool(request.context.settings.smtp),
    )


def show_mail(context: pages.AppContext, mail: site.Mail) -> ShownMail:
    parts = LINK.split(site.mail_text(mail, context.pepper))
    return ShownMail(mail, parts, context.settings.base_url)
