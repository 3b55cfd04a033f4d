"""Who a customer is: by the account that is signed in, or by the mailbox that was shown."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bigtime.site import Visitor, fetch_verified_tenant, session_holder, visit_holder
from bigtime.systems import portal
from bigtime.web.http import VISIT
from bigtime.web.pages import context_of

HOME: Final = "/portal"


@dataclass(frozen=True, slots=True)
class Customer:
    """The tenant that somebody is; `visitor` is there where an account says so."""

    tenant_id: str
    visitor: Visitor | None = None

    @property
    def has_account(self) -> bool:
        return self.visitor is not None


async def customer_of(request: Request) -> Customer | None:
    """Which tenant asks; None if nobody knows."""
    context = context_of(request)
    visitor = await context.visitor(request)
    if visitor is not None and visitor.tenant_id is not None:
        return Customer(visitor.tenant_id, visitor)
    holder = await proof_holder(request)
    tenant_id = await context.store.run(fetch_verified_tenant(holder)) if holder else None
    return None if tenant_id is None else Customer(tenant_id)


async def proof_holder(request: Request) -> str | None:
    """What a proof belongs to: the session, if it lives, or the visit."""
    context = context_of(request)
    visitor = await context.visitor(request)
    if visitor is not None:
        return session_holder(visitor.cookie)
    visit = context.cookies.read(VISIT, request.scope["headers"])
    return visit_holder(visit) if visit else None


async def tenant_of_customer(request: Request, customer: Customer) -> portal.Tenant:
    """The tenant, also if it was deleted: its page says so."""
    steps = portal.get_tenant(customer.tenant_id, include_inactive=True)
    return await context_of(request).store.run(steps)


def redirect_to_confirm(request: Request) -> Response:
    """To the page where a customer shows who they are, and from there back to this one."""
    asked = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    then = quote(asked if request.method == "GET" else HOME)
    return RedirectResponse(f"/portal/confirm?next={then}", status_code=HTTPStatus.SEE_OTHER)
