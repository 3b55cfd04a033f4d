"""What there is, in numbers: where an admin begins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Steps
from bigtime.systems.portal.campaigns import list_next_and_last_campaigns
from bigtime.systems.portal.offers import Offer
from bigtime.systems.portal.paging import Counts
from bigtime.systems.portal.products import count_products
from bigtime.systems.portal.tenants import (
    count_deleted_tenants,
    count_tenants_by_status,
    count_tenants_to_remind,
)
from bigtime.systems.portal.values import Status
from bigtime.web.portal.admin.admin import Admin
from bigtime.web.portal.ordering import ordering_of
from bigtime.web.site import Site, site_of
from bigtime.web.tags import CAMPAIGNS, PRICING

SHOWN: Final = 5
Campaigns: TypeAlias = tuple[list[Offer], list[Offer]]
"""The next ones, and the last ones."""

overview = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Overview:
    """How many there are of everything, and what comes and goes."""

    by_status: dict[Status, int]
    archived: int
    products: Counts
    upcoming: list[Offer]
    expired: list[Offer]
    to_remind: int

    @property
    def active(self) -> int:
        return sum(self.by_status.values())


@overview.get("/admin")
async def show_overview(request: Request, admin: Admin) -> Response:
    site = site_of(request)
    seen = await site.store.run(looked_over(await coming_and_going(site)))
    page = site.templates.page("admin/overview.html", seen=seen)
    return await site.answer(request, page)


async def coming_and_going(site: Site) -> Campaigns:
    """The next and the last campaigns: of a day, until one of them or a product changes."""
    zone = ordering_of(site).zone
    key = f"coming and going on {datetime.now(zone).date()}"
    known: Campaigns | None = site.facts.get(key)
    if known is None:
        begun = site.facts.begin()
        known = await site.store.run(list_next_and_last_campaigns(limit=SHOWN, zone=zone))
        site.facts.put(key, known, (CAMPAIGNS, PRICING), begun=begun)
    return known


def looked_over(campaigns: Campaigns) -> Steps[Overview]:
    upcoming, expired = campaigns
    return Overview(
        by_status=(yield from count_tenants_by_status()),
        archived=(yield from count_deleted_tenants()),
        products=(yield from count_products()),
        upcoming=upcoming,
        expired=expired,
        to_remind=(yield from count_tenants_to_remind()),
    )
