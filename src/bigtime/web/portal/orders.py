"""A customer's orders, also those from before there was an account."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems import portal
from bigtime.web.pages import site_of
from bigtime.web.portal.customer import customer_of, to_confirm

PAGE = 25

orders = APIRouter(include_in_schema=False)


@orders.get("/portal/orders")
async def show_orders(request: Request, after: str | None = None) -> Response:
    """A customer's orders, newest first."""
    site = site_of(request)
    customer = await customer_of(request)
    if customer is None:
        return to_confirm(request)
    steps = portal.list_orders(customer.tenant_id, limit=PAGE, after=site.cursors.read(after))
    found = await site.store.run(steps)
    page = site.templates.page(
        "portal/orders.html",
        orders=found.items,
        after=site.cursors.write(found.position),
        is_first=after is None,
    )
    return await site.answer(request, page)


@orders.get("/portal/orders/{order_id}")
async def show_order(request: Request, order_id: str, placed: str = "") -> Response:
    """One order; another's is as unknown as none."""
    site = site_of(request)
    customer = await customer_of(request)
    if customer is None:
        return to_confirm(request)
    order = await site.store.run(portal.get_order(customer.tenant_id, order_id))
    page = site.templates.page(
        "portal/order.html",
        order=order,
        is_new=placed == "yes",
        has_account=customer.has_account,
    )
    return await site.answer(request, page)
