"""Who a customer is: by the account that is signed in, or by the mailbox that was shown."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bigtime.systems.portal.design import Tenant
from bigtime.systems.portal.tenants import get_tenant
from bigtime.web.portal.proving import proven
from bigtime.web.site import site_of
from bigtime.web.visitor import Visitor


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
    site = site_of(request)
    visitor = await site.visitor(request)
    if visitor is not None and visitor.tenant_id is not None:
        return Customer(visitor.tenant_id, visitor)
    cookie = site.form_holder(request)
    tenant_id = await site.store.run(proven(cookie)) if cookie else None
    return None if tenant_id is None else Customer(tenant_id)


async def tenant_of_customer(request: Request, customer: Customer) -> Tenant:
    """The tenant, also if it was deleted: its page says so."""
    steps = get_tenant(customer.tenant_id, include_inactive=True)
    return await site_of(request).store.run(steps)


def to_confirm(request: Request) -> Response:
    """To the page where a customer shows who they are, and from there back to this one."""
    asked = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
    then = quote(asked if request.method == "GET" else "/portal")
    return RedirectResponse(f"/portal/confirm?next={then}", status_code=HTTPStatus.SEE_OTHER)
