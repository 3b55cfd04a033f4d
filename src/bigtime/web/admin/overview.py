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
from bigtime.web.pages import AppContext, context_of, ordering_of
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
    context = context_of(request)
    seen = await context.store.run(read_overview(await next_and_last_campaigns(context)))
    page = context.templates.page("admin/overview.html", seen=seen)
    return await context.answer(request, page)


async def next_and_last_campaigns(context: AppContext) -> Campaigns:
    """The next and the last campaigns: of a day, until one of them or a product changes."""
    zone = ordering_of(context).zone
    key = ("campaigns", datetime.now(zone).date())
    return await context.remember(
        key,
        lambda found: (CAMPAIGNS, PRICING),
        lambda: portal.list_next_and_last_campaigns(limit=SHOWN, zone=zone),
    )


def read_overview(campaigns: Campaigns) -> Steps[Overview]:
    upcoming, expired = campaigns
    return Overview(
        by_status=(yield from portal.count_tenants_by_status()),
        archived=(yield from portal.count_deleted_tenants()),
        products=(yield from portal.count_products()),
        upcoming=upcoming,
        expired=expired,
        to_remind=(yield from portal.count_tenants_to_remind()),
    )
