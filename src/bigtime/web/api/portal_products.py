"""`/v1.0/products`: what there is to buy; everybody sees it, admins change it."""

from __future__ import annotations

from typing import Annotated, Self

from fastapi import Path
from starlette.responses import Response

from bigtime.systems import portal
from bigtime.web.api.access import (
    OPEN,
    Admin,
    AnyCaller,
    CurrentContext,
    CurrentStore,
    check_admin,
    is_admin,
)
from bigtime.web.api.bodies import OPTIONAL, Amount, RequestBody, example
from bigtime.web.api.errors import error_responses
from bigtime.web.api.json_route import portal_router
from bigtime.web.api.once import Idempotent
from bigtime.web.api.paging import Items, Listed, PagesOf50
from bigtime.web.api.portal_records import (
    CREATED,
    IncludeInactive,
    RecordChanged,
    RecordShown,
    visible_fields,
)

products = portal_router("products")

ProductId = Annotated[str, Path(alias="productId")]


# Bodies


class ProductShown(RecordShown):
    """Something to buy; its price is in ZAR."""

    model_config = example(
        id=portal.example_of("prod"),
        name="WordPress Professional Plan",
        description="Professional WordPress hosting with advanced features",
        price=299.99,
        features=["Up to 10 WordPress sites", "100GB storage"],
        billingCycle="monthly",
        active=True,
        dateCreated=CREATED,
        dateLastUpdated=CREATED,
        lastUpdatedBy=None,
    )

    name: str
    description: str
    price: Amount
    features: list[str]
    billing_cycle: portal.BillingCycle

    @classmethod
    def of(cls, product: portal.Product, *, to_admin: bool) -> Self:
        return cls(**visible_fields(product.__dict__, to_admin))


class NewProduct(RequestBody):
    """A product to be made."""

    model_config = example(
        name="WordPress Professional Plan",
        description="Professional WordPress hosting with advanced features",
        price=299.99,
        features=["Up to 10 WordPress sites", "100GB storage"],
        billingCycle="monthly",
    )

    name: portal.Name
    description: portal.Description
    price: portal.Price
    features: portal.Features = []
    billing_cycle: portal.Billing


class ProductChanged(RecordChanged):
    """What is to change of a product; a new price holds for new orders at once."""

    model_config = example(price=249.99)

    name: portal.Name = OPTIONAL
    description: portal.Description = OPTIONAL
    price: portal.Price = OPTIONAL
    features: portal.Features = OPTIONAL
    billing_cycle: portal.Billing = OPTIONAL
    active: portal.Active = OPTIONAL


# Products


@products.post(
    "",
    status_code=201,
    response_model=ProductShown,
    summary=portal.create_product.title,
    responses=error_responses(400, 401, 403, 409),
)
async def create(caller: Admin, idempotent: Idempotent, wanted: NewProduct) -> Response:
    """Creates a product. Admins only."""
    return await idempotent.run(
        lambda: portal.create_product(**dict(wanted), by=caller.login),
        lambda product: ProductShown.of(product, to_admin=True),
    )


@products.get(
    "",
    response_model=Listed[ProductShown],
    summary=portal.list_products.title,
    responses=error_responses(400, 401, 403),
    openapi_extra=OPEN,
)
async def list_all(
    store: CurrentStore,
    caller: AnyCaller,
    paging: PagesOf50,
    include_inactive: IncludeInactive = False,
) -> Items[ProductShown]:
    """Lists the products that can be ordered, oldest first."""
    if include_inactive:
        await check_admin(caller)
    steps = portal.list_products(include_inactive=include_inactive, **paging.query)
    to_admin = is_admin(caller)
    found = await store.run(steps)
    return paging.map_items(found, lambda product: ProductShown.of(product, to_admin=to_admin))


@products.get(
    "/{productId}",
    response_model=ProductShown,
    summary=portal.get_product.title,
    responses=error_responses(400, 401, 404),
    openapi_extra=OPEN,
)
async def get_one(store: CurrentStore, caller: AnyCaller, product_id: ProductId) -> ProductShown:
    """Returns a product; one that is archived, to admins alone."""
    to_admin = is_admin(caller)
    found = await store.run(portal.get_product(product_id, include_inactive=to_admin))
    return ProductShown.of(found, to_admin=to_admin)


@products.put(
    "/{productId}",
    response_model=ProductShown,
    summary=portal.update_product.title,
    responses=error_responses(400, 401, 403, 404, 409),
)
async def change(
    context: CurrentContext, caller: Admin, product_id: ProductId, wanted: ProductChanged
) -> ProductShown:
    """Changes a product; `active` archives and restores it. Admins only.

    A new price holds for new orders at once. Orders that are made keep theirs.
    """
    steps = portal.update_product(product_id, wanted.given(), by=caller.login)
    changed = await context.store.run(steps)
    return ProductShown.of(changed, to_admin=True)
