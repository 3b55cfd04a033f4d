"""`/v1.0/products`: what there is to buy; everybody sees it, admins change it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems import portal
from bigtime.web.api.caller import FOR_EVERYBODY, Admin, Whoever, check_admin, is_admin
from bigtime.web.api.errors import documented
from bigtime.web.api.json_route import JsonRoute
from bigtime.web.api.once import Answer, IdempotencyKey, Turn, once
from bigtime.web.api.paging import USUAL_SIZE, IncludeInactive, Listed, PageSize, StartAt, listed
from bigtime.web.api.portal_shapes import NewProduct, ProductChanged, ProductShown
from bigtime.web.pages import site_of

products = APIRouter(prefix="/v1.0/products", tags=["products"], route_class=JsonRoute)

ProductIdInPath = Annotated[str, Path(alias="productId")]


@products.post(
    "", status_code=201, response_model=ProductShown, responses=documented(400, 401, 403, 409, 422)
)
async def create(
    request: Request, caller: Admin, wanted: NewProduct, key: IdempotencyKey = None
) -> Response:
    """Makes a product."""

    async def make(turn: Turn) -> Answer:
        made = await turn.store.run(portal.create_product(**wanted.model_dump(), by=caller.login))
        return Answer.of(ProductShown.of(made, to_admin=True))

    return await once(request, key, caller, make)


@products.get(
    "",
    response_model=Listed[ProductShown],
    responses=documented(400, 401, 403),
    openapi_extra=FOR_EVERYBODY,
)
async def list_all(
    request: Request,
    caller: Whoever,
    page_size: PageSize = USUAL_SIZE,
    start_at: StartAt = None,
    include_inactive: IncludeInactive = False,
) -> Response:
    """The pricing list: products that can be ordered, oldest first."""
    site = site_of(request)
    if include_inactive:
        check_admin(caller)
    steps = portal.list_products(
        include_inactive=include_inactive, limit=page_size, after=site.cursors.read(start_at)
    )
    found = await site.store.run(steps)
    to_admin = is_admin(caller)
    return listed(site, found, lambda one: ProductShown.of(one, to_admin=to_admin)).answer()


@products.get(
    "/{productId}",
    response_model=ProductShown,
    responses=documented(400, 401, 404),
    openapi_extra=FOR_EVERYBODY,
)
async def get_one(request: Request, caller: Whoever, product_id: ProductIdInPath) -> Response:
    """A product; one that is archived is for admins alone."""
    to_admin = is_admin(caller)
    found = await site_of(request).store.run(
        portal.get_product(product_id, include_inactive=to_admin)
    )
    return ProductShown.of(found, to_admin=to_admin).answer()


@products.put(
    "/{productId}",
    response_model=ProductShown,
    responses=documented(400, 401, 403, 404, 409, 422),
)
async def change(
    request: Request, caller: Admin, product_id: ProductIdInPath, wanted: ProductChanged
) -> Response:
    """Changes a product; `active` archives and restores it.

    A new price holds for new orders at once. Orders that are made keep theirs.
    """
    site = site_of(request)
    changed = await site.store.run(
        portal.update_product(product_id, wanted.said(), by=caller.login)
    )
    return ProductShown.of(changed, to_admin=True).answer()
