"""`/v1.0/campaigns`: discounts for some days; everybody finds one by its code."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Steps
from bigtime.systems.portal.campaigns import (
    create_campaign,
    get_campaign,
    list_campaigns,
    list_campaigns_by_product,
    update_campaign,
)
from bigtime.systems.portal.errors import ProductUnavailable, UnknownProduct
from bigtime.systems.portal.offers import Offer
from bigtime.systems.portal.values import ProductId
from bigtime.web.api.caller import FOR_EVERYBODY, Admin, Whoever, is_admin
from bigtime.web.api.errors import TOLD, documented
from bigtime.web.api.json_route import JsonRoute
from bigtime.web.api.once import Answer, IdempotencyKey, Turn, once
from bigtime.web.api.paging import (
    USUAL_SIZE,
    IncludeInactive,
    Listed,
    PageSize,
    StartAt,
    listed,
)
from bigtime.web.api.portal_shapes import CampaignChanged, CampaignShown, NewCampaign
from bigtime.web.portal.ordering import ordering_of
from bigtime.web.site import Site, site_of
from bigtime.web.tags import CAMPAIGNS, campaign_tag

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
        site.drop((CAMPAIGNS, campaign_tag(wanted.code)))
        return Answer.of(CampaignShown.of(made, to_admin=True))

    return await once(request, key, caller, make)


def created(site: Site, wanted: dict[str, Any], by: str) -> Steps[Offer]:
    """The campaign with its prices. A product that is not there is a wrong field."""
    try:
        made = yield from create_campaign(**wanted, by=by)
    except UnknownProduct as error:
        raise ProductUnavailable(str(error)) from None
    return (yield from shown(site, made.code))


def shown(site: Site, code: str) -> Steps[Offer]:
    return (yield from get_campaign(code, include_inactive=True, zone=ordering_of(site).zone))


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
    product_id: Annotated[ProductId | None, TOLD, Query(alias="productId")] = None,
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
        list_campaigns(**asked)
        if product_id is None
        else list_campaigns_by_product(product_id, **asked)
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
    found = await site.store.run(get_campaign(code, include_inactive=to_admin, zone=zone))
    return CampaignShown.of(found, to_admin=to_admin).answer()


@campaigns.put(
    "/{code}",
    response_model=CampaignShown,
    responses=documented(400, 401, 403, 404, 409, 422),
)
async def change(request: Request, caller: Admin, code: str, wanted: CampaignChanged) -> Response:
    """Changes a campaign; `active` archives and restores it. Orders keep what it was."""
    site = site_of(request)
    changed = await site.store.run(update_campaign(code, wanted.said(), by=caller.login))
    site.drop((CAMPAIGNS, campaign_tag(changed.code)))
    offer = await site.store.run(shown(site, changed.code))
    return CampaignShown.of(offer, to_admin=True).answer()
