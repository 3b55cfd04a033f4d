"""What there is, in numbers: where an admin begins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import CAMPAIGNS, PRICING
from bigtime.systems import portal
from bigtime.web.admin.admin import Admin
from bigtime.web.pages import Site, ordering_of, site_of
from bigtime.wire import Steps

SHOWN: Final = 5
Campaigns: TypeAlias = tuple[list[portal.Offer], list[portal.Offer]]
"""The next ones, and the last ones."""

overview = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Overview:
    """How many there are of everything, and what comes and goes."""

    by_status: dict[portal.Status, int]
    archived: int
    products: portal.Counts
    upcoming: list[portal.Offer]
    expired: list[portal.Offer]
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
        known = await site.store.run(portal.list_next_and_last_campaigns(limit=SHOWN, zone=zone))
        site.facts.put(key, known, (CAMPAIGNS, PRICING), begun=begun)
    return known


def looked_over(campaigns: Campaigns) -> Steps[Overview]:
    upcoming, expired = campaigns
    return Overview(
        by_status=(yield from portal.count_tenants_by_status()),
        archived=(yield from portal.count_deleted_tenants()),
        products=(yield from portal.count_products()),
        upcoming=upcoming,
        expired=expired,
        to_remind=(yield from portal.count_tenants_to_remind()),
    )
