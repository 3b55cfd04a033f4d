"""`/v1.0/campaigns`: discounts for some days, which anybody can look up by code."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from bigtime.systems import portal
from bigtime.web.api import bodies
from bigtime.web.api.dependencies import OPEN, Admin, AnyCaller, PagesOf50, is_admin
from bigtime.web.api.idempotency import Idempotent
from bigtime.web.api.routing import PortalRouter, check_alone, error_responses
from bigtime.web.pages import AppContext, AppRequest
from bigtime.wire import Steps

campaigns = PortalRouter("campaigns")

SUMMER: Final[dict[str, Any]] = {
    "code": "SUMMER2025",
    "description": "Summer 2025 special offer",
    "discountPercentage": 20,
    "productId": portal.example_of("prod"),
    "termsConditionsLink": "https://example.com/terms/summer2025",
    "fromDate": "2025-06-01",
    "toDate": "2025-08-31",
}


# Bodies


class CampaignShown(bodies.RecordShown):
    """A discount on one product for some days, with the prices of today."""

    model_config = bodies.example(
        id=portal.example_of("camp"),
        **SUMMER,
        productName="WordPress Professional Plan",
        originalPrice=299.99,
        discountedPrice=239.99,
        isValid=False,
        **bodies.RECORD,
    )

    code: str
    description: str
    discount_percentage: bodies.Amount
    product_id: str
    product_name: str
    original_price: bodies.Amount | None = Field(
        description="null while the product is not to be had."
    )
    discounted_price: bodies.Amount | None
    terms_conditions_link: str
    from_date: date
    to_date: date
    is_valid: bool = Field(description="Whether it is active, and today lies in its dates.")

    @classmethod
    def of(cls, offer: portal.Offer, *, to_admin: bool) -> Self:
        return cls(
            **bodies.visible_fields(offer.campaign.__dict__, to_admin),
            product_name=offer.product_name,
            original_price=offer.original_price,
            discounted_price=offer.discounted_price,
            is_valid=offer.is_valid,
        )


class NewCampaign(bodies.RequestBody):
    """A new campaign. Its code is in capitals, and was never used before."""

    model_config = bodies.example(**SUMMER)

    code: portal.CampaignCode
    description: portal.Description
    discount_percentage: portal.Discount
    product_id: portal.ProductId
    terms_conditions_link: portal.Link
    from_date: portal.Day
    to_date: portal.Day


class CampaignChanged(bodies.RecordChanged):
    """The fields of a campaign to change; others stay. The resulting dates are checked together."""

    model_config = bodies.example(discountPercentage=15)

    description: portal.Description = bodies.OPTIONAL
    discount_percentage: portal.Discount = bodies.OPTIONAL
    terms_conditions_link: portal.Link = bodies.OPTIONAL
    from_date: portal.Day = bodies.OPTIONAL
    to_date: portal.Day = bodies.OPTIONAL
    active: portal.Active = bodies.OPTIONAL
    code: bodies.Immutable = bodies.OPTIONAL
    product_id: bodies.Immutable = bodies.OPTIONAL


# Campaigns


class When(StrEnum):
    """Where today is, seen from a campaign's days."""

    UPCOMING = "upcoming"
    EXPIRED = "expired"


LISTS: Final = {
    When.UPCOMING: portal.list_upcoming_campaigns,
    When.EXPIRED: portal.list_expired_campaigns,
}


@campaigns.post(
    "", status_code=201, response_model=CampaignShown, summary=portal.create_campaign.title
)
async def create(
    request: AppRequest, caller: Admin, idempotent: Idempotent, wanted: NewCampaign
) -> Response:
    """Creates a campaign. A code that was ever used is 409: restore that campaign. Admins only."""
    return await idempotent.run(
        lambda: create_campaign(request.context, dict(wanted), caller.login),
        lambda offer: CampaignShown.of(offer, to_admin=True),
    )


def create_campaign(context: AppContext, fields: dict[str, Any], by: str) -> Steps[portal.Offer]:
    """Creates a campaign and returns it with its prices; an unknown product is a field error."""
    try:
        campaign = yield from portal.create_campaign(**fields, by=by)
    except portal.UnknownProduct as error:
        raise portal.ProductUnavailable(str(error)) from None
    return (yield from read_campaign(context, campaign.code, include_inactive=True))


def read_campaign(context: AppContext, code: str, *, include_inactive: bool) -> Steps[portal.Offer]:
    zone = context.plan_shop.zone
    return (yield from portal.get_campaign(code, include_inactive=include_inactive, zone=zone))


@campaigns.get("", response_model=bodies.Listed[CampaignShown], summary=portal.list_campaigns.title)
async def list_all(
    request: AppRequest,
    _: Admin,
    paging: PagesOf50,
    include_inactive: bodies.IncludeInactive = False,
    inactive_only: bodies.InactiveOnly = False,
    when: Annotated[
        When | None, Query(description="Only active ones that are yet to begin, or are over.")
    ] = None,
    valid_only: Annotated[
        bool, Query(alias="validOnly", description="Only active ones that run today.")
    ] = False,
    product_id: Annotated[
        portal.ProductId | None, bodies.FieldErrors, Query(alias="productId")
    ] = None,
) -> bodies.Items[CampaignShown]:
    """Lists campaigns by their first day, newest first: all, or a product's. Admins only."""
    others = {
        "validOnly": valid_only,
        "productId": product_id,
        "includeInactive": include_inactive,
    }
    check_alone("inactiveOnly", inactive_only, when=when, **others)
    check_alone("when", when, **others)
    query: dict[str, Any] = {"zone": request.context.plan_shop.zone, **paging.query}
    filters: dict[str, Any] = {"include_inactive": include_inactive, "valid_only": valid_only}
    if inactive_only:
        steps = portal.list_deleted_campaigns(**query)
    elif when is not None:
        steps = LISTS[when](**query)
    elif product_id is None:
        steps = portal.list_campaigns(**filters, **query)
    else:
        steps = portal.list_campaigns_by_product(product_id, **filters, **query)
    return await paging.run_and_show(steps, lambda offer: CampaignShown.of(offer, to_admin=True))


@campaigns.get(
    "/{code}",
    response_model=CampaignShown,
    summary=portal.get_campaign.title,
    responses=error_responses(400, 401, 403, 404, 429),
    openapi_extra=OPEN,
)
async def get_one(request: AppRequest, caller: AnyCaller, code: str) -> CampaignShown:
    """Returns a campaign by its code, in any case; archived ones to admins only."""
    to_admin = is_admin(caller)
    found = await request.run(read_campaign(request.context, code, include_inactive=to_admin))
    return CampaignShown.of(found, to_admin=to_admin)


@campaigns.put("/{code}", response_model=CampaignShown, summary=portal.update_campaign.title)
async def change(
    request: AppRequest, caller: Admin, code: str, wanted: CampaignChanged
) -> CampaignShown:
    """Changes a campaign; `active` archives and restores it. Orders keep theirs. Admins only."""
    steps = portal.update_campaign(code, wanted.given_fields(), by=caller.login)
    changed = await request.run(steps)
    offer = await request.run(read_campaign(request.context, changed.code, include_inactive=True))
    return CampaignShown.of(offer, to_admin=True)
