"""`/v1.0/tenants`: customers and their orders, for admins and for the customer itself."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from pydantic import AfterValidator
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import RuleBroken
from bigtime.site import Visitor
from bigtime.systems import portal
from bigtime.web.api.caller import Admin, SignedIn, is_admin
from bigtime.web.api.errors import TOLD, documented
from bigtime.web.api.json_route import JsonRoute
from bigtime.web.api.once import Answer, IdempotencyKey, Turn, once
from bigtime.web.api.paging import USUAL_SIZE, IncludeInactive, Listed, PageSize, StartAt, listed
from bigtime.web.api.portal_order_shapes import OrderShown
from bigtime.web.api.portal_shapes import NewTenant, TenantChanged, TenantShown
from bigtime.web.api.times import WRITTEN_MOMENT
from bigtime.web.http import NotAllowed
from bigtime.web.pages import site_of
from bigtime.wire import Steps

tenants = APIRouter(prefix="/v1.0/tenants", tags=["tenants"], route_class=JsonRoute)

OWN_FIELDS: Final = frozenset({"organization_name", "destination_email"})

TenantIdInPath = Annotated[str, Path(alias="tenantId")]
OrderIdInPath = Annotated[str, Path(alias="orderId")]


Moment = Annotated[datetime, AfterValidator(portal.checked_moment), WRITTEN_MOMENT, TOLD]


class StatusNotAlone(RuleBroken):
    """A status changes by itself; send what else is to change in a request of its own."""


class ReasonNotAsked(RuleBroken):
    """A reason is told for a new status alone; leave it out, or send the status too."""


@tenants.post(
    "", status_code=201, response_model=TenantShown, responses=documented(400, 401, 403, 409, 422)
)
async def create(
    request: Request, caller: Admin, wanted: NewTenant, key: IdempotencyKey = None
) -> Response:
    """Makes a customer. An address that is somebody's already is a conflict."""

    async def make(turn: Turn) -> Answer:
        made = await turn.store.run(portal.create_tenant(**wanted.model_dump(), by=caller.login))
        return Answer.of(TenantShown.of(made, to_admin=True))

    return await once(request, key, caller, make)


@tenants.get("", response_model=Listed[TenantShown], responses=documented(400, 401, 403))
async def list_all(
    request: Request,
    caller: Admin,
    page_size: PageSize = USUAL_SIZE,
    start_at: StartAt = None,
    include_inactive: IncludeInactive = False,
    status: portal.Status | None = None,
    created_from: Annotated[Moment | None, Query(alias="createdFrom")] = None,
    created_to: Annotated[Moment | None, Query(alias="createdTo")] = None,
) -> Response:
    """Customers, newest first: all of them, or those of one status, made in a range of time."""
    site = site_of(request)
    asked: dict[str, Any] = {
        "include_inactive": include_inactive,
        "created_from": created_from,
        "created_to": created_to,
        "limit": page_size,
        "after": site.cursors.read(start_at),
    }
    steps = (
        portal.list_tenants_by_status(status, **asked) if status else portal.list_tenants(**asked)
    )
    found = await site.store.run(steps)
    return listed(site, found, lambda one: TenantShown.of(one, to_admin=True)).answer()


@tenants.get("/{tenantId}", response_model=TenantShown, responses=documented(400, 401, 403, 404))
async def get_one(request: Request, caller: SignedIn, tenant_id: TenantIdInPath) -> Response:
    """A customer: for admins, and for whoever it is."""
    to_admin = check_own(caller, tenant_id)
    found = await site_of(request).store.run(
        portal.get_tenant(tenant_id, include_inactive=to_admin)
    )
    return TenantShown.of(found, to_admin=to_admin).answer()


@tenants.put(
    "/{tenantId}",
    response_model=TenantShown,
    responses=documented(400, 401, 403, 404, 409, 422),
)
async def change(
    request: Request, caller: SignedIn, tenant_id: TenantIdInPath, wanted: TenantChanged
) -> Response:
    """Changes a customer; `active` archives and restores it.

    A customer itself changes its organization and where its forms go, and nothing else.
    """
    to_admin = check_own(caller, tenant_id)
    said = wanted.said()
    if not to_admin and not said.keys() <= OWN_FIELDS:
        raise NotAllowed()
    steps = changing(tenant_id, said, caller)
    changed = await site_of(request).store.run(steps)
    return TenantShown.of(changed, to_admin=to_admin).answer()


def changing(tenant_id: str, said: dict[str, Any], caller: Visitor) -> Steps[portal.Tenant]:
    if "status" in said:
        return moving(tenant_id, said, caller)
    if "reason" in said:
        raise ReasonNotAsked
    return editing(tenant_id, said, caller)


def moving(tenant_id: str, said: dict[str, Any], caller: Visitor) -> Steps[portal.Tenant]:
    if not said.keys() <= {"status", "reason"}:
        raise StatusNotAlone
    if "reason" in said:
        return portal.override_tenant_status(
            tenant_id, said["status"], said["reason"], by=caller.login
        )
    return portal.update_tenant_status(tenant_id, said["status"], by=caller.login)


def editing(tenant_id: str, said: dict[str, Any], caller: Visitor) -> Steps[portal.Tenant]:
    """What a customer changes of itself, it changes as itself, here as on its pages."""
    if is_admin(caller):
        return (yield from portal.update_tenant(tenant_id, said, by=caller.login))
    portal.orderly((yield from portal.get_tenant(tenant_id)))
    return (yield from portal.update_tenant(tenant_id, said, by=tenant_id))


@tenants.get(
    "/{tenantId}/orders",
    response_model=Listed[OrderShown],
    responses=documented(400, 401, 403, 404),
)
async def list_its_orders(
    request: Request,
    caller: SignedIn,
    tenant_id: TenantIdInPath,
    page_size: PageSize = USUAL_SIZE,
    start_at: StartAt = None,
) -> Response:
    """A customer's orders, newest first; those from before it registered too."""
    site = site_of(request)
    to_admin = check_own(caller, tenant_id)
    await site.store.run(portal.get_tenant(tenant_id, include_inactive=to_admin))
    steps = portal.list_orders(tenant_id, limit=page_size, after=site.cursors.read(start_at))
    found = await site.store.run(steps)
    return listed(site, found, lambda one: OrderShown.of(one, to_admin=to_admin)).answer()


@tenants.get(
    "/{tenantId}/orders/{orderId}",
    response_model=OrderShown,
    responses=documented(400, 401, 403, 404),
)
async def get_its_order(
    request: Request, caller: SignedIn, tenant_id: TenantIdInPath, order_id: OrderIdInPath
) -> Response:
    """One order of a customer."""
    to_admin = check_own(caller, tenant_id)
    steps = order_of(tenant_id, order_id, include_inactive=to_admin)
    found = await site_of(request).store.run(steps)
    return OrderShown.of(found, to_admin=to_admin).answer()


def order_of(tenant_id: str, order_id: str, *, include_inactive: bool) -> Steps[portal.Order]:
    """An order of a customer who is there; the orders of one who is not are not either."""
    yield from portal.get_tenant(tenant_id, include_inactive=include_inactive)
    return (yield from portal.get_order(tenant_id, order_id))


def check_own(caller: Visitor, tenant_id: str) -> bool:
    """Whether an admin asks; anybody else asks for their own, or gets nothing."""
    if not is_admin(caller) and caller.tenant_id != tenant_id:
        raise NotAllowed()
    return is_admin(caller)
