"""What there is, in numbers: where an admin begins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Page, Steps
from bigtime.systems.portal.campaigns import list_expired_campaigns, list_upcoming_campaigns
from bigtime.systems.portal.design import Tenant
from bigtime.systems.portal.offers import Offer
from bigtime.systems.portal.paging import Counts
from bigtime.systems.portal.products import count_products
from bigtime.systems.portal.tenants import (
    count_tenants,
    count_tenants_by_status,
    list_tenants_to_remind,
)
from bigtime.systems.portal.values import Status
from bigtime.web.portal.admin.admin import Admin
from bigtime.web.portal.ordering import ordering_of
from bigtime.web.site import site_of

SHOWN: Final = 5

overview = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Overview:
    """How many there are of everything, and what comes and goes."""

    tenants: Counts
    by_status: dict[Status, int]
    products: Counts
    upcoming: Page[Offer]
    expired: Page[Offer]
    to_remind: Page[Tenant]


@overview.get("/admin")
async def show_overview(request: Request, admin: Admin) -> Response:
    site = site_of(request)
    seen = await site.store.run(looked_over(ordering_of(site).zone))
    page = site.templates.page("admin/overview.html", seen=seen)
    return await site.answer(request, page)


def looked_over(zone: tzinfo) -> Steps[Overview]:
    return Overview(
        tenants=(yield from count_tenants()),
        by_status=(yield from count_tenants_by_status()),
        products=(yield from count_products()),
        upcoming=(yield from list_upcoming_campaigns(limit=SHOWN, zone=zone)),
        expired=(yield from list_expired_campaigns(limit=SHOWN, zone=zone)),
        to_remind=(yield from list_tenants_to_remind(limit=SHOWN)),
    )
