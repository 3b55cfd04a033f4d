"""Campaigns for an admin: listed by their dates, created, changed, archived and restored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, tzinfo
from operator import attrgetter
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator
from starlette.responses import Response

from bigtime.model import DomainError, Page, Position
from bigtime.site import CAMPAIGNS, PRICING
from bigtime.systems import portal
from bigtime.web import pages
from bigtime.web.admin import lists, records
from bigtime.web.admin.products import Lines
from bigtime.web.http import see_other, status_in_form
from bigtime.web.pages import AppRequest, page_router
from bigtime.wire import Steps

campaigns = page_router()

HERE: Final = "/admin/campaigns"
PAGE: Final = 25
NEWEST: Final = 5
MOST_PRODUCTS: Final = 100
WHICH: Final = (
    ("", "Active"),
    ("valid", "Running today"),
    ("upcoming", "Upcoming"),
    ("expired", "Expired"),
    ("all", "Active and archived"),
    ("archived", "Archived"),
)
PERCENTAGE: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{1,9})?")
OF_ONE_PRODUCT: Final = ("", "valid", "all")
FIELDS: Final[dict[type[DomainError], str]] = {
    portal.CampaignExists: "code",
    portal.DatesReversed: "to_date",
    portal.DiscountTooHigh: "discount_percentage",
    portal.UnknownProduct: "product_id",
    portal.ProductUnavailable: "product_id",
}


class Filters(BaseModel):
    """Which campaigns to list."""

    which: str = ""
    product: portal.ProductId | None = None

    @property
    def is_indexed(self) -> bool:
        """Whether the list can be read in ascending and descending order of its dates."""
        return not self.product and self.which in OF_ONE_PRODUCT

    def steps(
        self,
        after: Position | None,
        zone: tzinfo,
        *,
        limit: int = PAGE,
        newest_first: bool = True,
    ) -> Steps[Page[portal.Offer]]:
        query: dict[str, Any] = {"limit": limit, "after": after, "zone": zone}
        chosen: dict[str, Any] = {
            "valid_only": self.which == "valid",
            "include_inactive": self.which == "all",
        }
        if self.product:
            return portal.list_campaigns_by_product(self.product, **chosen, **query)
        match self.which:
            case "upcoming":
                return portal.list_upcoming_campaigns(**query)
            case "expired":
                return portal.list_expired_campaigns(**query)
            case "archived":
                return portal.list_deleted_campaigns(**query)
        return portal.list_campaigns(**chosen, **query, newest_first=newest_first)


def typed_percentage(text: object) -> object:
    """`12.5`, with or without a percent sign; stricter than Decimal's own parsing."""
    if not isinstance(text, str):
        return text
    typed = text.strip().removesuffix("%").strip()
    if not PERCENTAGE.fullmatch(typed):
        raise portal.DiscountRefused
    return typed


class CampaignFacts(pages.CheckedTogether):
    """What can be changed of a campaign."""

    description: Lines
    discount_percentage: Annotated[portal.Discount, BeforeValidator(typed_percentage)]
    from_date: portal.Day
    to_date: portal.Day
    terms_conditions_link: portal.Link

    @classmethod
    def check_together(cls, values: Mapping[str, Any]) -> Iterator[tuple[str, DomainError]]:
        from_date, to_date = values.get("from_date"), values.get("to_date")
        if from_date and to_date and to_date < from_date:
            yield "to_date", portal.DatesReversed()


class CampaignPlace(BaseModel):
    """What stands first in the form of a campaign, and cannot be changed."""

    code: portal.CampaignCode
    product_id: portal.ProductId


class NewCampaign(CampaignFacts, CampaignPlace):
    """The form of a campaign to be made."""


class Changes(CampaignFacts):
    """The form that changes one; `seen` is the mark of what it was."""

    seen: str = ""


# Lists


def columns_of(*, is_indexed: bool) -> tuple[lists.Column[portal.Offer], ...]:
    """The columns; only some lists can be sorted by the first day both ways."""
    return (
        lists.Column("code", "Code", attrgetter("campaign.code")),
        lists.Column("product", "Product", attrgetter("product_name")),
        lists.Column(
            "discount", "Discount", attrgetter("campaign.discount_percentage"), is_number=True
        ),
        lists.Column("price", "Price", attrgetter("discounted_price"), is_number=True),
        lists.Column("from", "From", attrgetter("campaign.from_date"), by_index=is_indexed),
        lists.Column("until", "Until", attrgetter("campaign.to_date")),
        lists.Column("runs", "Today", attrgetter("is_valid")),
        lists.Column("kept", "Archived?", lambda offer: not offer.campaign.active),
        lists.Column(
            "description", "Description", attrgetter("campaign.description"), is_shown=False
        ),
        lists.Column(
            "terms", "Terms", attrgetter("campaign.terms_conditions_link"), is_shown=False
        ),
        lists.Column("id", "Id", attrgetter("campaign.id"), is_shown=False),
    )


INDEXED: Final = columns_of(is_indexed=True)
NOT_INDEXED: Final = columns_of(is_indexed=False)
AS_LISTED: Final[lists.Column[portal.Offer]] = lists.Column(
    "listed", "", attrgetter("campaign.from_date"), by_index=True, is_shown=False
)
"""The order of a list that is read in one order only, which is none of its columns'."""


@campaigns.get(HERE)
async def show_campaigns(request: AppRequest, admin: records.Admin) -> Response:
    """Campaigns by when they run, or of one product."""
    form = read_filters(request)
    is_indexed = form.value is None or form.value.is_indexed
    listing = lists.listing_of(
        request,
        INDEXED if is_indexed else (*NOT_INDEXED, AS_LISTED),
        sort="-from" if is_indexed else AS_LISTED.name,
        filters=Filters.model_fields,
    )
    found: Page[portal.Offer] = Page([])
    if form.value is not None:
        steps = form.value.steps(
            request.page_start,
            request.context.plan_shop.zone,
            newest_first=listing.newest_first(default=True),
        )
        found = await request.run(steps)
    return await lists.answer_listing(
        request,
        "admin/campaigns.html",
        listing,
        found,
        form=form,
        which=WHICH,
        products=await product_choices(request),
        counts=await count_campaigns(request.context),
        today=today_in(request.context),
    )


def today_in(context: pages.AppContext) -> date:
    """Today's date in the time zone of campaigns."""
    return context.store.clock().astimezone(context.plan_shop.zone).date()


def read_filters(request: AppRequest) -> pages.SubmittedForm[Filters]:
    form = pages.check_form(Filters, dict(request.query_params))
    records.check_choice(form, "which", WHICH)
    check_of_one(form)
    return form


async def count_campaigns(context: pages.AppContext) -> portal.Counts:
    """Cached until a campaign changes."""
    return await context.remember("campaign counts", (CAMPAIGNS,), portal.count_campaigns)


@campaigns.get(f"{HERE}.csv")
async def download_campaigns(request: AppRequest, admin: records.Admin) -> Response:
    """All campaigns that the filters let through."""
    filters = read_filters(request).require("These filters do not go together.")
    zone = request.context.plan_shop.zone
    return await lists.answer_csv(
        request.context,
        "campaigns",
        INDEXED,
        lambda after: filters.steps(after, zone, limit=lists.AT_ONCE),
    )


def check_of_one(form: pages.SubmittedForm[Filters]) -> None:
    """Raises an error for a choice that does not exist for the campaigns of one product."""
    which = form.typed.get("which", "")
    if form.typed.get("product") and which in dict(WHICH) and which not in OF_ONE_PRODUCT:
        records.refuse_choice(
            form, "which", "Of one product, choose active ones, running ones, or all."
        )


async def product_choices(request: AppRequest) -> list[tuple[str, str]]:
    """Products to choose from; archived ones come last, and are marked."""
    found = await request.context.remember(
        "product names", (PRICING,), lambda: portal.list_product_names(limit=MOST_PRODUCTS)
    )
    return [(row.id, row.name if row.active else f"{row.name} (archived)") for row in found]


# New campaigns


@campaigns.get(f"{HERE}/new")
async def show_new(request: AppRequest, admin: records.Admin, product: str = "") -> Response:
    return await new_page(request, pages.empty_form(product_id=product))


@campaigns.post(f"{HERE}/new")
async def create(request: AppRequest, admin: records.Admin) -> Response:
    form = await request.read_form(NewCampaign)
    if form.value is None:
        return await new_page(request, form)
    try:
        steps = portal.create_campaign(**form.value.model_dump(), by=admin.login)
        campaign = await request.run(steps)
    except tuple(FIELDS) as error:
        form.refuse(error, FIELDS[type(error)], status=status_in_form(error))
        return await new_page(request, form)
    return see_other(f"{HERE}/{campaign.code}?done=made")


async def new_page(request: AppRequest, form: pages.AnyForm) -> Response:
    return await request.form_page(
        "admin/new_campaign.html",
        form=form,
        products=await product_choices(request),
    )


# A campaign

records.add_archiving(
    campaigns,
    f"{HERE}/{{code}}",
    portal.soft_delete_campaign,
    portal.restore_campaign,
    attrgetter("code"),
)


@campaigns.get(f"{HERE}/{{code}}")
async def show_campaign(
    request: AppRequest, admin: records.Admin, code: str, done: str = ""
) -> Response:
    return await campaign_page(request, code, done=done)


@campaigns.post(f"{HERE}/{{code}}")
async def change(request: AppRequest, admin: records.Admin, code: str) -> Response:
    """Changes a campaign, if it is still what the admin has seen."""
    form = await request.read_form(Changes)
    if form.value is None:
        return await campaign_page(request, code, form=form)
    changes = form.value.model_dump(exclude={"seen"})
    try:
        steps = portal.update_campaign(code, changes, by=admin.login, seen=form.value.seen)
        changed = await request.run(steps)
    except (
        portal.DatesReversed,
        portal.DiscountTooHigh,
        portal.RecordMoved,
        portal.CampaignDeleted,
    ) as error:
        return await campaign_page(request, code, form=form.refuse(error, FIELDS.get(type(error))))
    return see_other(f"{HERE}/{changed.code}?done=changed")


def whole_campaign(code: str, zone: tzinfo) -> Steps[tuple[portal.Offer, list[records.EntryRow]]]:
    """A campaign with its prices, and its newest history."""
    offer = yield from portal.get_campaign(code, include_inactive=True, zone=zone)
    log = yield from portal.audit_log(portal.Audited.CAMPAIGNS, offer.campaign.id, limit=NEWEST)
    return offer, records.entry_rows(log)


async def campaign_page(
    request: AppRequest, code: str, *, form: pages.AnyForm | None = None, done: str = ""
) -> Response:
    steps = whole_campaign(code, request.context.plan_shop.zone)
    offer, entries = await request.run(steps)
    campaign = offer.campaign
    return await request.form_page(
        "admin/campaign.html",
        offer=offer,
        campaign=campaign,
        entries=entries,
        form=form or pages.empty_form(**as_typed(campaign)),
        seen=portal.mark_of(campaign),
        hint=portal.code_hint(campaign.code),
        today=today_in(request.context),
        done=done,
    )


def as_typed(campaign: portal.Campaign) -> dict[str, str]:
    return {
        "description": campaign.description,
        "discount_percentage": f"{campaign.discount_percentage.normalize():f}",
        "terms_conditions_link": campaign.terms_conditions_link,
        "from_date": campaign.from_date.isoformat(),
        "to_date": campaign.to_date.isoformat(),
    }
