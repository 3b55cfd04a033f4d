"""`/v1.0/products`: the products on sale, which everybody reads and admins change."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Path
from starlette.responses import Response

from bigtime.systems import portal
from bigtime.web.api import bodies, dependencies
from bigtime.web.api.idempotency import Idempotent
from bigtime.web.api.routing import PortalRouter, check_alone, error_responses
from bigtime.web.pages import AppRequest

products = PortalRouter("products")

PLAN: Final[dict[str, Any]] = {
    "name": "WordPress Professional Plan",
    "description": "Professional WordPress hosting with advanced features",
    "price": 299.99,
    "features": ["Up to 10 WordPress sites", "100GB storage"],
    "billingCycle": "monthly",
}

ProductId = Annotated[str, Path(alias="productId")]


# Bodies


class ProductShown(bodies.RecordShown):
    """A hosting plan; its price is in South African rand."""

    model_config = bodies.example(id=portal.example_of("prod"), **PLAN, **bodies.RECORD)

    name: str
    description: str
    price: bodies.Amount
    features: list[str]
    billing_cycle: portal.BillingCycle


class NewProduct(bodies.RequestBody):
    """A new product."""

    model_config = bodies.example(**PLAN)

    name: portal.Name
    description: portal.Description
    price: portal.Price
    features: portal.Features = []
    billing_cycle: portal.Billing


class ProductChanged(bodies.RecordChanged):
    """The fields of a product to change; others stay. A new price holds for new orders at once."""

    model_config = bodies.example(price=249.99)

    name: portal.Name = bodies.OPTIONAL
    description: portal.Description = bodies.OPTIONAL
    price: portal.Price = bodies.OPTIONAL
    features: portal.Features = bodies.OPTIONAL
    billing_cycle: portal.Billing = bodies.OPTIONAL
    active: portal.Active = bodies.OPTIONAL


# Products


@products.post(
    "", status_code=201, response_model=ProductShown, summary=portal.create_product.title
)
async def create(
    caller: dependencies.Admin, idempotent: Idempotent, wanted: NewProduct
) -> Response:
    """Creates a product. Admins only."""
    return await idempotent.run(
        lambda: portal.create_product(**dict(wanted), by=caller.login),
        lambda product: ProductShown.of(product, to_admin=True),
    )


@products.get(
    "",
    response_model=bodies.Listed[ProductShown],
    summary=portal.list_products.title,
    openapi_extra=dependencies.OPEN,
)
async def list_all(
    caller: dependencies.AnyCaller,
    paging: dependencies.PagesOf50,
    include_inactive: bodies.IncludeInactive = False,
    inactive_only: bodies.InactiveOnly = False,
) -> bodies.Items[ProductShown]:
    """Lists the products that can be ordered, oldest first; archived ones, newest first."""
    check_alone("inactiveOnly", inactive_only, includeInactive=include_inactive)
    if include_inactive or inactive_only:
        await dependencies.check_admin(caller)
    steps = (
        portal.list_deleted_products(**paging.query)
        if inactive_only
        else portal.list_products(include_inactive=include_inactive, **paging.query)
    )
    to_admin = dependencies.is_admin(caller)
    return await paging.run_and_show(
        steps, lambda product: ProductShown.of(product, to_admin=to_admin)
    )


@products.get(
    "/{productId}",
    response_model=ProductShown,
    summary=portal.get_product.title,
    responses=error_responses(400, 401, 403, 404, 429),
    openapi_extra=dependencies.OPEN,
)
async def get_one(
    request: AppRequest, caller: dependencies.AnyCaller, product_id: ProductId
) -> ProductShown:
    """Returns a product; archived ones to admins only."""
    to_admin = dependencies.is_admin(caller)
    found = await request.run(portal.get_product(product_id, include_inactive=to_admin))
    return ProductShown.of(found, to_admin=to_admin)


@products.put("/{productId}", response_model=ProductShown, summary=portal.update_product.title)
async def change(
    request: AppRequest, caller: dependencies.Admin, product_id: ProductId, wanted: ProductChanged
) -> ProductShown:
    """Changes a product; `active` archives and restores it. Admins only.

    A new price holds for new orders at once. Orders that are made keep theirs.
    """
    steps = portal.update_product(product_id, wanted.given_fields(), by=caller.login)
    return ProductShown.of(await request.run(steps), to_admin=True)
