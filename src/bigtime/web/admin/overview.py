"""The admin's overview: sales, tenants, products and campaigns; and tenants to remind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from bigtime import site
from bigtime.model import Malformed
from bigtime.systems import portal
from bigtime.web.admin.records import Admin, count_by_status
from bigtime.web.http import see_other
from bigtime.web.pages import AppContext, AppRequest, page_router, split_words
from bigtime.wire import Steps

SHOWN: Final = 5
REMINDERS: Final = "/admin/reminders"
MOST_REMINDED: Final = 50
FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Before any tenant."""
Campaigns: TypeAlias = tuple[list[portal.Offer], list[portal.Offer], list[portal.Offer]]
"""The current campaigns, the next ones and the last ones."""

SALES_DAYS: Final = 7
TODAY_SECONDS: Final = 60.0
PAST_SECONDS: Final = 3600.0
"""How long the sales of a day are cached; of a past day, only a cancellation changes them."""

overview = page_router()


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts of all records; current, next and last campaigns; `sales` of today and of the week."""

    sales: tuple[site.Sales, site.Sales]
    by_status: dict[portal.Status, int]
    archived: int
    products: portal.Counts
    running: list[portal.Offer]
    upcoming: list[portal.Offer]
    expired: list[portal.Offer]
    to_remind: int

    @property
    def active(self) -> int:
        return sum(self.by_status.values())


@overview.get("/admin")
async def show_overview(request: AppRequest, admin: Admin) -> Response:
    by_status, campaigns = (
        await count_by_status(request.context),
        await campaigns_of_today(request.context),
    )
    sales = await sales_of_week(request.context)
    seen = await request.run(read_overview(sales, by_status, campaigns))
    return await request.page("admin/overview.html", seen=seen)


async def sales_of_week(context: AppContext) -> tuple[site.Sales, site.Sales]:
    """The sales of today, and of the last seven days; each day is cached separately."""
    today = context.store.clock().astimezone(UTC).date()
    days = [
        await sales_of_day(context, today - timedelta(days=ago), is_today=not ago)
        for ago in range(SALES_DAYS)
    ]
    return days[0], sum(days, site.Sales())


async def sales_of_day(context: AppContext, day: date, *, is_today: bool) -> site.Sales:
    seconds = TODAY_SECONDS if is_today else PAST_SECONDS
    key = ("sales", day, is_today)
    return await context.remember(key, (), lambda: site.view_sales(day), seconds=seconds)


async def campaigns_of_today(context: AppContext) -> Campaigns:
    """The current, next and last campaigns, cached until a campaign or product changes."""
    zone = context.plan_shop.zone
    key = ("campaigns", datetime.now(zone).date())
    tags = (site.CAMPAIGNS, site.PRICING)
    return await context.remember(key, tags, lambda: read_campaigns(zone))


def read_campaigns(zone: tzinfo) -> Steps[Campaigns]:
    running = yield from portal.list_campaigns(valid_only=True, limit=SHOWN, zone=zone)
    upcoming, expired = yield from portal.list_next_and_last_campaigns(limit=SHOWN, zone=zone)
    return running.items, upcoming, expired


def read_overview(
    sales: tuple[site.Sales, site.Sales], by_status: dict[portal.Status, int], campaigns: Campaigns
) -> Steps[Overview]:
    running, upcoming, expired = campaigns
    return Overview(
        sales=sales,
        by_status=by_status,
        archived=(yield from portal.count_deleted_tenants()),
        products=(yield from portal.count_products()),
        running=running,
        upcoming=upcoming,
        expired=expired,
        to_remind=(yield from portal.count_tenants_to_remind()),
    )


# Tenants who have not confirmed their address


class ReminderForm(BaseModel):
    """Whom to remind: one, or all of a page."""

    tenant_ids: Annotated[list[str], Field(max_length=MOST_REMINDED), BeforeValidator(split_words)]
    which: str = "day"


@overview.get(REMINDERS)
async def show_reminders(
    request: AppRequest,
    admin: Admin,
    after: str | None = None,
    sent: int | None = None,
    which: Literal["day", "all"] = "day",
) -> Response:
    """Unvalidated tenants of the last day, or all of them, newest first."""
    since = FIRST if which == "all" else None
    listed, position = await request.run(
        site.view_tenants_to_remind(since=since, after=request.read_cursor(after))
    )
    return await request.form_page(
        "admin/reminders.html",
        listed=listed,
        waiting=[row.tenant.id for row in listed if row.reminder is None],
        after=request.write_cursor(position),
        is_first=after is None,
        sent=sent,
        which=which,
    )


@overview.post(REMINDERS)
async def send_reminders(request: AppRequest, admin: Admin) -> Response:
    """Reminds those who were not reminded today."""
    form = await request.read_form(ReminderForm)
    if form.value is None:
        raise Malformed("Say whom to remind; at most 50 at once.")
    steps = site.remind_tenants(
        form.value.tenant_ids, by=admin.login, base_url=request.context.settings.base_url
    )
    sent = await request.run(steps)
    which = "&which=all" if form.value.which == "all" else ""
    return see_other(f"{REMINDERS}?sent={sent}{which}")
