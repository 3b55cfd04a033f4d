"""A customer's orders, also those from before there was an account."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems import portal
from bigtime.web.pages import context_of
from bigtime.web.portal.customer import customer_of, to_confirm

PAGE = 25

orders = APIRouter(include_in_schema=False)


@orders.get("/portal/orders")
async def show_orders(request: Request, after: str | None = None) -> Response:
    """A customer's orders, newest first."""
    context = context_of(request)
    customer = await customer_of(request)
    if customer is None:
        return to_confirm(request)
    steps = portal.list_orders(customer.tenant_id, limit=PAGE, after=context.cursors.read(after))
    found = await context.store.run(steps)
    page = context.templates.page(
        "portal/orders.html",
        orders=found.items,
        after=context.cursors.write(found.position),
        is_first=after is None,
    )
    return await context.answer(request, page)


@orders.get("/portal/orders/{order_id}")
async def show_order(request: Request, order_id: str, placed: str = "") -> Response:
    """One order; another's is as unknown as none."""
    context = context_of(request)
    customer = await customer_of(request)
    if customer is None:
        return to_confirm(request)
    order = await context.store.run(portal.get_order(customer.tenant_id, order_id))
    page = context.templates.page(
        "portal/order.html",
        order=order,
        is_new=placed == "yes",
        has_account=customer.has_account,
    )
    return await context.answer(request, page)
