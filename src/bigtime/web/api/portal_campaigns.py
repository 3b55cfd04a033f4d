"""`/v1.0/campaigns`: discounts for some days; everybody finds one by its code."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems import portal
from bigtime.web.api.caller import FOR_EVERYBODY, Admin, Whoever, is_admin
from bigtime.web.api.errors import TOLD, documented
from bigtime.web.api.json_route import JsonRoute
from bigtime.web.api.once import Answer, IdempotencyKey, Turn, once
from bigtime.web.api.paging import USUAL_SIZE, IncludeInactive, Listed, PageSize, StartAt, listed
from bigtime.web.api.portal_shapes import CampaignChanged, CampaignShown, NewCampaign
from bigtime.web.pages import Site, ordering_of, site_of
from bigtime.wire import Steps

campaigns = APIRouter(prefix="/v1.0/campaigns", tags=["campaigns"], route_class=JsonRoute)


@campaigns.post(
    "",
    status_code=201,
    response_model=CampaignShown,
    responses=documented(400, 401, 403, 409, 422),
)
async def create(
    request: Request, caller: Admin, wanted: NewCampaign, key: IdempotencyKey = None
) -> Response:
    """Makes a campaign. A code that was ever used is a conflict: restore that campaign."""
    site = site_of(request)

    async def make(turn: Turn) -> Answer:
        made = await turn.store.run(created(site, wanted.model_dump(), caller.login))
        return Answer.of(CampaignShown.of(made, to_admin=True))

    return await once(request, key, caller, make)


def created(site: Site, wanted: dict[str, Any], by: str) -> Steps[portal.Offer]:
    """The campaign with its prices. A product that is not there is a wrong field."""
    try:
        made = yield from portal.create_campaign(**wanted, by=by)
    except portal.UnknownProduct as error:
        raise portal.ProductUnavailable(str(error)) from None
    return (yield from shown(site, made.code))


def shown(site: Site, code: str) -> Steps[portal.Offer]:
    return (
        yield from portal.get_campaign(code, include_inactive=True, zone=ordering_of(site).zone)
    )


@campaigns.get("", response_model=Listed[CampaignShown], responses=documented(400, 401, 403))
async def list_all(
    request: Request,
    caller: Admin,
    page_size: PageSize = USUAL_SIZE,
    start_at: StartAt = None,
    include_inactive: IncludeInactive = False,
    valid_only: Annotated[
        bool, Query(alias="validOnly", description="Only active ones that run today.")
    ] = False,
    product_id: Annotated[portal.ProductId | None, TOLD, Query(alias="productId")] = None,
) -> Response:
    """Campaigns by their first day, newest first: all, or those of one product."""
    site = site_of(request)
    asked: dict[str, Any] = {
        "include_inactive": include_inactive,
        "valid_only": valid_only,
        "limit": page_size,
        "after": site.cursors.read(start_at),
        "zone": ordering_of(site).zone,
    }
    steps = (
        portal.list_campaigns(**asked)
        if product_id is None
        else portal.list_campaigns_by_product(product_id, **asked)
    )
    found = await site.store.run(steps)
    return listed(site, found, lambda one: CampaignShown.of(one, to_admin=True)).answer()


@campaigns.get(
    "/{code}",
    response_model=CampaignShown,
    responses=documented(400, 401, 404),
    openapi_extra=FOR_EVERYBODY,
)
async def get_one(request: Request, caller: Whoever, code: str) -> Response:
    """A campaign by its code, in any case; one that is archived is for admins alone."""
    site = site_of(request)
    to_admin = is_admin(caller)
    zone = ordering_of(site).zone
    found = await site.store.run(portal.get_campaign(code, include_inactive=to_admin, zone=zone))
    return CampaignShown.of(found, to_admin=to_admin).answer()


@campaigns.put(
    "/{code}",
    response_model=CampaignShown,
    responses=documented(400, 401, 403, 404, 409, 422),
)
async def change(request: Request, caller: Admin, code: str, wanted: CampaignChanged) -> Response:
    """Changes a campaign; `active` archives and restores it. Orders keep what it was."""
    site = site_of(request)
    changed = await site.store.run(portal.update_campaign(code, wanted.said(), by=caller.login))
    offer = await site.store.run(shown(site, changed.code))
    return CampaignShown.of(offer, to_admin=True).answer()
