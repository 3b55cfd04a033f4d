"""Campaigns for an admin: listed by when they run, made, changed, archived and restored."""

from __future__ import annotations

import re
from datetime import tzinfo
from typing import Annotated, Any, Final

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import DomainError, Page, Position
from bigtime.systems import portal
from bigtime.web.admin.admin import Admin, check_choice, refuse_choice
from bigtime.web.admin.history import entry_rows
from bigtime.web.admin.products import Lines
from bigtime.web.http import see_other, status_in_form, status_of
from bigtime.web.pages import (
    SubmittedForm,
    check_form,
    context_of,
    empty_form,
    ordering_of,
    read_fields,
    read_form,
)
from bigtime.wire import Steps

campaigns = APIRouter(include_in_schema=False)

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

    def listing(self, after: Position | None, zone: tzinfo) -> Steps[Page[portal.Offer]]:
        asked: dict[str, Any] = {"limit": PAGE, "after": after, "zone": zone}
        chosen: dict[str, Any] = {
            "valid_only": self.which == "valid",
            "include_inactive": self.which == "all",
        }
        if self.product:
            return portal.list_campaigns_by_product(self.product, **chosen, **asked)
        match self.which:
            case "upcoming":
                return portal.list_upcoming_campaigns(**asked)
            case "expired":
                return portal.list_expired_campaigns(**asked)
            case "archived":
                return portal.list_deleted_campaigns(**asked)
        return portal.list_campaigns(**chosen, **asked)


def typed_percentage(text: Any) -> Any:
    """`12.5`, also with its sign; what a program would read as a number is not always one."""
    if not isinstance(text, str):
        return text
    typed = text.strip().removesuffix("%").strip()
    if not PERCENTAGE.fullmatch(typed):
        raise portal.DiscountRefused
    return typed


class CampaignFacts(BaseModel):
    """What can be changed of a campaign."""

    description: Lines
    discount_percentage: Annotated[portal.Discount, BeforeValidator(typed_percentage)]
    terms_conditions_link: portal.Link
    from_date: portal.Day
    to_date: portal.Day


class NewCampaign(CampaignFacts):
    """The form of a campaign to be made."""

    code: portal.CampaignCode
    product_id: portal.ProductId


class Changes(CampaignFacts):
    """The form that changes one; `seen` is the mark of what it was."""

    seen: str = ""


# Lists


@campaigns.get(HERE)
async def show_campaigns(request: Request, admin: Admin, after: str | None = None) -> Response:
    """Campaigns by when they run, or of one product."""
    context = context_of(request)
    form = check_form(Filters, dict(request.query_params))
    check_choice(form, "which", WHICH)
    check_of_one(form)
    found: Page[portal.Offer] = Page([])
    if form.value is not None:
        zone = ordering_of(context).zone
        found = await context.store.run(form.value.listing(context.cursors.read(after), zone))
    page = context.templates.page(
        "admin/campaigns.html",
        status=422 if form.wrong else 200,
        form=form,
        which=WHICH,
        products=await product_choices(request),
        offers=found.items,
        after=context.cursors.write(found.position),
    )
    return await context.answer(request, page)


def check_of_one(form: SubmittedForm[Filters]) -> None:
    """Not every choice is there for the campaigns of one product."""
    which = form.typed.get("which", "")
    if form.typed.get("product") and which in dict(WHICH) and which not in OF_ONE_PRODUCT:
        refuse_choice(form, "which", "Of one product, choose active ones, running ones, or all.")


async def product_choices(request: Request) -> list[tuple[str, str]]:
    """Products to choose from; what is archived comes last, and is marked so."""
    found = await context_of(request).store.run(portal.list_product_names(limit=MOST_PRODUCTS))
    return [(one.id, one.name if one.active else f"{one.name} (archived)") for one in found]


# Making one


@campaigns.get(f"{HERE}/new")
async def show_new(request: Request, admin: Admin, product: str = "") -> Response:
    return await new_page(request, empty_form(product_id=product))


@campaigns.post(f"{HERE}/new")
async def create(request: Request, admin: Admin) -> Response:
    context = context_of(request)
    form = await read_form(request, context, NewCampaign)
    if form.value is None:
        return await new_page(request, form, status=422)
    try:
        steps = portal.create_campaign(**form.value.model_dump(), by=admin.login)
        made = await context.store.run(steps)
    except tuple(FIELDS) as error:
        form.refuse(error, FIELDS[type(error)])
        return await new_page(request, form, status=status_in_form(error))
    return see_other(f"{HERE}/{made.code}?done=made")


async def new_page(request: Request, form: SubmittedForm[Any], *, status: int = 200) -> Response:
    return await context_of(request).form_page(
        request,
        "admin/new_campaign.html",
        form=form,
        products=await product_choices(request),
        status=status,
    )


# One of them


@campaigns.get(f"{HERE}/{{code}}")
async def show_campaign(request: Request, admin: Admin, code: str, done: str = "") -> Response:
    return await campaign_page(request, code, done=done)


@campaigns.post(f"{HERE}/{{code}}")
async def change(request: Request, admin: Admin, code: str) -> Response:
    """Changes a campaign, if it is still what the admin has seen."""
    context = context_of(request)
    form = await read_form(request, context, Changes)
    if form.value is None:
        return await campaign_page(request, code, form=form, status=422)
    changes = form.value.model_dump(exclude={"seen"})
    try:
        steps = portal.update_campaign(code, changes, by=admin.login, seen=form.value.seen)
        changed = await context.store.run(steps)
    except (
        portal.DatesReversed,
        portal.DiscountTooHigh,
        portal.RecordMoved,
        portal.CampaignDeleted,
    ) as error:
        form.refuse(error, FIELDS.get(type(error)))
        return await campaign_page(request, code, form=form, status=status_of(error))
    return done_with(request, changed, "changed")


@campaigns.post(f"{HERE}/{{code}}/archive")
async def archive(request: Request, admin: Admin, code: str) -> Response:
    context = context_of(request)
    await read_fields(request, context)
    changed = await context.store.run(portal.soft_delete_campaign(code, by=admin.login))
    return done_with(request, changed, "archived")


@campaigns.post(f"{HERE}/{{code}}/restore")
async def restore(request: Request, admin: Admin, code: str) -> Response:
    context = context_of(request)
    await read_fields(request, context)
    changed = await context.store.run(portal.restore_campaign(code, by=admin.login))
    return done_with(request, changed, "restored")


def done_with(request: Request, campaign: portal.Campaign, done: str) -> Response:
    return see_other(f"{HERE}/{campaign.code}?done={done}")


def whole_campaign(code: str, zone: tzinfo) -> Steps[dict[str, Any]]:
    """A campaign with its prices, and its newest history."""
    offer = yield from portal.get_campaign(code, include_inactive=True, zone=zone)
    log = yield from portal.audit_log(portal.Audited.CAMPAIGNS, offer.campaign.id, limit=NEWEST)
    return {"offer": offer, "campaign": offer.campaign, "entries": entry_rows(log)}


async def campaign_page(
    request: Request,
    code: str,
    *,
    form: SubmittedForm[Any] | None = None,
    status: int = 200,
    done: str = "",
) -> Response:
    context = context_of(request)
    whole = await context.store.run(whole_campaign(code, ordering_of(context).zone))
    campaign: portal.Campaign = whole["campaign"]
    return await context.form_page(
        request,
        "admin/campaign.html",
        status=status,
        **whole,
        form=form or empty_form(**as_typed(campaign)),
        seen=portal.mark_of(campaign),
        hint=portal.code_hint(campaign.code),
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
