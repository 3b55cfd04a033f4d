"""`/v1.0/tenants`: customers and their orders, for admins and for the customer itself."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Final, Self

from fastapi import Path, Query
from pydantic import AfterValidator, Field
from starlette.responses import Response

from bigtime.model import RuleBroken, together
from bigtime.site import Visitor
from bigtime.systems import portal
from bigtime.web.api import bodies
from bigtime.web.api.dependencies import Admin, PagesOf50, SignedIn, is_admin
from bigtime.web.api.idempotency import Idempotent
from bigtime.web.api.routing import PortalRouter, check_alone
from bigtime.web.http import NotAllowed
from bigtime.web.pages import AppRequest
from bigtime.wire import Steps

tenants = PortalRouter("tenants")

OWN_FIELDS: Final = frozenset({"organization_name", "destination_email"})

TenantId = Annotated[str, Path(alias="tenantId")]
Moment = Annotated[
    datetime, AfterValidator(portal.checked_moment), bodies.WrittenMoment, bodies.FieldErrors
]


class StatusNotAlone(RuleBroken):
    """A status changes by itself; send what else is to change in a request of its own."""


class ReasonNotAsked(RuleBroken):
    """A reason is told for a new status alone; leave it out, or send the status too."""


# Bodies


class TenantShown(bodies.RecordShown):
    """A customer."""

    model_config = bodies.example(
        id=portal.example_of("tenant"),
        email="customer@example.com",
        status="VALIDATED",
        previousStatus=None,
        organizationName="Example Corp",
        destinationEmail="forms@example.com",
        **bodies.RECORD | {"lastUpdatedBy": "admin@example.com"},
    )

    email: str
    status: portal.Status
    previous_status: portal.Status | None = Field(description="What a suspended one was before.")
    organization_name: str | None
    destination_email: str | None = Field(description="Where its forms go, if not to `email`.")


class NewTenant(bodies.RequestBody):
    """A new customer, whose first status is UNVALIDATED."""

    model_config = bodies.example(email="customer@example.com", organizationName="Example Corp")

    email: portal.Email
    organization_name: portal.Name | None = None
    destination_email: portal.Email | None = None


class TenantChanged(bodies.RecordChanged):
    """The fields of a customer to change; others stay.

    A status changes in a request of its own: along the lifecycle, or to any with a `reason`.
    """

    model_config = bodies.example(organizationName="Example Corp")

    organization_name: portal.Name | None = bodies.OPTIONAL
    destination_email: portal.Email | None = bodies.OPTIONAL
    active: portal.Active = bodies.OPTIONAL
    status: portal.TenantStatus = bodies.OPTIONAL
    reason: portal.Reason = bodies.OPTIONAL
    email: bodies.Immutable = bodies.OPTIONAL
    previous_status: bodies.Immutable = bodies.OPTIONAL


class OrderItemShown(bodies.ResponseBody):
    """A product of an order, its quantity and its unit price."""

    product_id: str
    product_name: str
    quantity: int
    unit_price: bodies.Amount


class SnapshotShown(bodies.RecordShown):
    """A campaign as it was at the time of an order."""

    code: str
    description: str
    discount_percentage: bodies.Amount
    product_id: str
    terms_conditions_link: str
    from_date: date
    to_date: date
    is_valid: bool
    original_price: bodies.Amount
    discounted_price: bodies.Amount


class OrderShown(bodies.RecordShown):
    """An order of a customer, which never changes."""

    model_config = bodies.example(
        id="order_0190e8a0-e29b-7d41-a716-446655440000",
        tenantId=portal.example_of("tenant"),
        items=[
            {
                "productId": portal.example_of("prod"),
                "productName": "WordPress Professional Plan",
                "quantity": 1,
                "unitPrice": 299.99,
            }
        ],
        campaign=None,
        total=299.99,
        **bodies.RECORD,
    )

    tenant_id: str
    items: list[OrderItemShown]
    campaign: SnapshotShown | None
    total: bodies.Amount

    @classmethod
    def of(cls, order: portal.Order, *, to_admin: bool) -> Self:
        fields = bodies.visible_fields(order.__dict__, to_admin)
        if order.campaign is not None:
            fields["campaign"] = SnapshotShown.of(order.campaign, to_admin=to_admin)
        return cls(**fields)


class TenantCounts(bodies.ResponseBody):
    """How many customers there are."""

    model_config = bodies.example(
        total=42,
        byStatus={"UNVALIDATED": 5, "VALIDATED": 6, "REGISTERED": 30, "SUSPENDED": 1},
        inactive=3,
    )

    total: int = Field(description="Those of all statuses together.")
    by_status: dict[portal.Status, int] = Field(description="How many of each status.")
    inactive: int = Field(description="Archived ones, whether or not they are counted above.")


# Tenants


@tenants.post("", status_code=201, response_model=TenantShown, summary=portal.create_tenant.title)
async def create(caller: Admin, idempotent: Idempotent, wanted: NewTenant) -> Response:
    """Creates a customer. An e-mail address that is a customer's already is 409. Admins only."""
    return await idempotent.run(
        lambda: portal.create_tenant(**dict(wanted), by=caller.login),
        lambda tenant: TenantShown.of(tenant, to_admin=True),
    )


@tenants.get("", response_model=bodies.Listed[TenantShown], summary=portal.list_tenants.title)
async def list_all(
    _: Admin,
    paging: PagesOf50,
    include_inactive: bodies.IncludeInactive = False,
    inactive_only: bodies.InactiveOnly = False,
    status: portal.Status | None = None,
    created_from: Annotated[Moment | None, Query(alias="createdFrom")] = None,
    created_to: Annotated[Moment | None, Query(alias="createdTo")] = None,
) -> bodies.Items[portal.Tenant]:
    """Lists customers, newest first: all, or those of a status or a time. Admins only."""
    check_alone("inactiveOnly", inactive_only, status=status, includeInactive=include_inactive)
    query: dict[str, Any] = {
        "created_from": created_from,
        "created_to": created_to,
        **paging.query,
    }
    if inactive_only:
        return await paging.run(portal.list_deleted_tenants(**query))
    query["include_inactive"] = include_inactive
    steps = (
        portal.list_tenants_by_status(status, **query) if status else portal.list_tenants(**query)
    )
    return await paging.run(steps)


@tenants.get("/counts", response_model=TenantCounts, summary=portal.count_tenants_by_status.title)
async def count_all(
    request: AppRequest, _: Admin, include_inactive: bodies.IncludeInactive = False
) -> TenantCounts:
    """Counts customers by status. Admins only."""
    by_status, inactive = await request.run(
        together(
            portal.count_tenants_by_status(include_inactive=include_inactive),
            portal.count_deleted_tenants(),
        )
    )
    total = sum(by_status.values())
    return TenantCounts(total=total, by_status=by_status, inactive=inactive)


@tenants.get(
    "/by-email/{email}",
    response_model=TenantShown,
    summary=portal.get_tenant_by_email.title,
)
async def get_by_email(
    request: AppRequest, _: Admin, email: Annotated[str, Path(max_length=254)]
) -> TenantShown:
    """Returns the customer with an e-mail address, in any case; archived ones too. Admins only."""
    found = await request.run(portal.get_tenant_by_email(email, include_inactive=True))
    return TenantShown.of(found, to_admin=True)


@tenants.get("/{tenantId}", response_model=TenantShown, summary=portal.get_tenant.title)
async def get_one(request: AppRequest, caller: SignedIn, tenant_id: TenantId) -> TenantShown:
    """Returns a customer, to admins and to that customer."""
    to_admin = check_own(caller, tenant_id)
    found = await request.run(portal.get_tenant(tenant_id, include_inactive=to_admin))
    return TenantShown.of(found, to_admin=to_admin)


@tenants.put("/{tenantId}", response_model=TenantShown, summary=portal.update_tenant.title)
async def change(
    request: AppRequest, caller: SignedIn, tenant_id: TenantId, wanted: TenantChanged
) -> TenantShown:
    """Changes a customer; `active` archives and restores it.

    A customer itself changes its organization and where its forms go, and nothing else.
    """
    to_admin = check_own(caller, tenant_id)
    given = wanted.given_fields()
    if not to_admin and not given.keys() <= OWN_FIELDS:
        raise NotAllowed()
    return TenantShown.of(
        await request.run(change_tenant(tenant_id, given, caller)), to_admin=to_admin
    )


def change_tenant(tenant_id: str, given: dict[str, Any], caller: Visitor) -> Steps[portal.Tenant]:
    if "status" in given:
        return move_tenant(tenant_id, given, caller)
    if "reason" in given:
        raise ReasonNotAsked
    return edit_tenant(tenant_id, given, caller)


def move_tenant(tenant_id: str, given: dict[str, Any], caller: Visitor) -> Steps[portal.Tenant]:
    if not given.keys() <= {"status", "reason"}:
        raise StatusNotAlone
    if "reason" in given:
        return portal.override_tenant_status(
            tenant_id, given["status"], given["reason"], by=caller.login
        )
    return portal.update_tenant_status(tenant_id, given["status"], by=caller.login)


def edit_tenant(tenant_id: str, given: dict[str, Any], caller: Visitor) -> Steps[portal.Tenant]:
    """Changes by the customer itself; the history names the customer, as on its pages."""
    if is_admin(caller):
        return (yield from portal.update_tenant(tenant_id, given, by=caller.login))
    portal.orderly((yield from portal.get_tenant(tenant_id)))
    return (yield from portal.update_tenant(tenant_id, given, by=tenant_id))


# Orders


@tenants.get(
    "/{tenantId}/orders", response_model=bodies.Listed[OrderShown], summary=portal.list_orders.title
)
async def list_its_orders(
    request: AppRequest, caller: SignedIn, tenant_id: TenantId, paging: PagesOf50
) -> bodies.Items[OrderShown]:
    """Lists a customer's orders, newest first, also those from before its registration."""
    to_admin = check_own(caller, tenant_id)
    await request.run(portal.get_tenant(tenant_id, include_inactive=to_admin))
    return await paging.run_and_show(
        portal.list_orders(tenant_id, **paging.query),
        lambda order: OrderShown.of(order, to_admin=to_admin),
    )


@tenants.get(
    "/{tenantId}/orders/{orderId}", response_model=OrderShown, summary=portal.get_order.title
)
async def get_its_order(
    request: AppRequest,
    caller: SignedIn,
    tenant_id: TenantId,
    order_id: Annotated[str, Path(alias="orderId")],
) -> OrderShown:
    """Returns an order of a customer; 404 if the customer is archived, except for admins."""
    to_admin = check_own(caller, tenant_id)
    await request.run(portal.get_tenant(tenant_id, include_inactive=to_admin))
    found = await request.run(portal.get_order(tenant_id, order_id))
    return OrderShown.of(found, to_admin=to_admin)


def check_own(caller: Visitor, tenant_id: str) -> bool:
    """Whether the caller is an admin; raises an error if not, unless the tenant is their own."""
    if not is_admin(caller) and caller.tenant_id != tenant_id:
        raise NotAllowed()
    return is_admin(caller)
