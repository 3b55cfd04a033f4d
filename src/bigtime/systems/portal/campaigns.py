"""Campaigns: a discount on a product, found by the code that people are told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, tzinfo
from decimal import Decimal
from typing import Any, Final

from bigtime.model import (
    Conflict,
    Page,
    Position,
    Write,
    at_most,
    attr,
    check,
    get,
    less_than,
    more_than,
    now,
    pattern,
    query,
    random_bytes,
)
from bigtime.systems.portal.design import Campaign, Product
from bigtime.systems.portal.errors import (
    CampaignDeleted,
    CampaignExists,
    DatesReversed,
    DiscountTooHigh,
    ProductUnavailable,
    UnknownCampaign,
    UnknownProduct,
)
from bigtime.systems.portal.history import (
    TRIES,
    Change,
    Changing,
    Overtaken,
    but,
    check_seen,
    create_record,
    edit_change,
)
from bigtime.systems.portal.offers import (
    Offer,
    offer_of,
    offer_page,
    offers_of,
    rounded_discount,
    today,
)
from bigtime.systems.portal.paging import (
    IS_ACTIVE,
    MOST_ON_A_PAGE,
    PAGE,
    activity_page,
    checked_size,
)
from bigtime.systems.portal.values import (
    CENT,
    Actor,
    AskedCode,
    CampaignCode,
    Day,
    Description,
    Discount,
    Link,
    ProductId,
    asked_campaign_code,
    checked_product_id,
    made_id,
)
from bigtime.wire import Steps

CHANGEABLE: Final = frozenset(
    {
        "description",
        "discount_percentage",
        "from_date",
        "to_date",
        "terms_conditions_link",
        "active",
    }
)
DATES: Final = {"from_date": date(2025, 6, 1), "to_date": date(2025, 8, 31)}


# Reading


@pattern("Get Campaign by Code", index="Main table")
def get_campaign(
    code: AskedCode, *, include_inactive: bool = False, zone: tzinfo = UTC
) -> Steps[Offer]:
    """with its product, both strongly consistent; the code in any case"""
    key = Campaign.key(asked_campaign_code(code))
    campaign = yield from get(key, consistent=True, missing=UnknownCampaign)
    if not (campaign.active or include_inactive):
        raise UnknownCampaign
    product = yield from get(Product.key(campaign.product_id), consistent=True)
    return offer_of(campaign, product, (yield from today(zone)))


@pattern("List Active Campaigns", index="CampaignActiveIndex, products")
def list_campaigns(
    *,
    valid_only: bool = False,
    include_inactive: bool = False,
    limit: int = PAGE,
    after: Position | None = None,
    newest_first: bool = True,
    zone: tzinfo = UTC,
) -> Steps[Page[Offer]]:
    """by start date, newest first, paged; on demand those that are valid today"""
    day = yield from today(zone)
    started = {"from_date": at_most(day)} if valid_only else {}
    page = yield from activity_page(
        Campaign,
        "CampaignActiveIndex",
        include_inactive=include_inactive and not valid_only,
        limit=limit,
        after=after,
        newest_first=newest_first,
        filter=attr("to_date") >= day if valid_only else None,
        **started,
    )
    return (yield from offer_page(page, day))


@pattern("List Campaigns by Product", index="CampaignProductIndex, products")
def list_campaigns_by_product(
    product_id: ProductId,
    *,
    valid_only: bool = False,
    include_inactive: bool = False,
    limit: int = PAGE,
    after: Position | None = None,
    zone: tzinfo = UTC,
) -> Steps[Page[Offer]]:
    """by start date, newest first, paged"""
    day = yield from today(zone)
    started = {"from_date": at_most(day)} if valid_only else {}
    own = Campaign.within(
        "CampaignProductIndex", product_id=checked_product_id(product_id), **started
    )
    wanted = None if include_inactive else IS_ACTIVE
    page = yield from query(
        own,
        newest_first=True,
        limit=checked_size(limit),
        after=after,
        filter=IS_ACTIVE & (attr("to_date") >= day) if valid_only else wanted,
    )
    return (yield from offer_page(page, day))


@pattern("List Upcoming Campaigns", index="CampaignActiveIndex, products")
def list_upcoming_campaigns(
    *, limit: int = PAGE, after: Position | None = None, zone: tzinfo = UTC
) -> Steps[Page[Offer]]:
    """active ones that start after today, the next one first, paged"""
    day = yield from today(zone)
    return (yield from offer_page((yield from upcoming_page(day, limit, after)), day))


@pattern("List Expired Campaigns", index="CampaignActiveIndex, products")
def list_expired_campaigns(
    *, limit: int = PAGE, after: Position | None = None, zone: tzinfo = UTC
) -> Steps[Page[Offer]]:
    """active ones that ended before today, filtered by end date; newest first, paged"""
    day = yield from today(zone)
    return (yield from offer_page((yield from expired_page(day, limit, after)), day))


@pattern("List Next and Last Campaigns", index="CampaignActiveIndex, products")
def list_next_and_last_campaigns(
    *, limit: int = PAGE, zone: tzinfo = UTC
) -> Steps[tuple[list[Offer], list[Offer]]]:
    """the first of the upcoming ones and of the expired ones; each product is read once

    Of those that have begun some still run. So twice as many are looked at, or a second look would
    nearly always be needed.
    """
    day = yield from today(zone)
    coming = yield from upcoming_page(day, limit)
    over = yield from expired_page(day, min(2 * limit, MOST_ON_A_PAGE))
    offers = yield from offers_of([*coming, *over.items[:limit]], day)
    return offers[: len(coming)], offers[len(coming) :]


def upcoming_page(day: date, limit: int, after: Position | None = None) -> Steps[Page[Campaign]]:
    return activity_page(
        Campaign,
        "CampaignActiveIndex",
        from_date=more_than(day),
        limit=limit,
        after=after,
        newest_first=False,
    )


def expired_page(day: date, limit: int, after: Position | None = None) -> Steps[Page[Campaign]]:
    return activity_page(
        Campaign,
        "CampaignActiveIndex",
        from_date=less_than(day),
        filter=attr("to_date") < day,
        limit=limit,
        after=after,
        newest_first=True,
    )


@pattern("List Campaigns by Creation", index="ActiveIndex, products")
def list_campaigns_by_creation(
    *,
    include_inactive: bool = False,
    limit: int = PAGE,
    after: Position | None = None,
    zone: tzinfo = UTC,
) -> Steps[Page[Offer]]:
    """newest first, paged"""
    page = yield from activity_page(
        Campaign,
        "ActiveIndex",
        include_inactive=include_inactive,
        limit=limit,
        after=after,
        newest_first=True,
    )
    return (yield from offer_page(page, (yield from today(zone))))


@pattern("List Soft Deleted Campaigns", index="CampaignActiveIndex, products")
def list_deleted_campaigns(
    *, limit: int = PAGE, after: Position | None = None, zone: tzinfo = UTC
) -> Steps[Page[Offer]]:
    """what can be restored; by start date, newest first, paged"""
    deleted = Campaign.within("CampaignActiveIndex", active=False)
    page = yield from query(deleted, newest_first=True, limit=checked_size(limit), after=after)
    return (yield from offer_page(page, (yield from today(zone))))


# Writing


@pattern("Create Campaign", index="Main table", takes="N/A", sample=DATES)
def create_campaign(
    code: CampaignCode,
    description: Description,
    discount_percentage: Discount,
    product_id: ProductId,
    terms_conditions_link: Link,
    from_date: Day,
    to_date: Day,
    *,
    by: Actor,
) -> Steps[Campaign]:
    """admin; a new code, and a product that is active in the same transaction"""
    moment = yield from now()
    campaign = Campaign(
        code=code,
        description=description,
        discount_percentage=discount_percentage,
        product_id=product_id,
        terms_conditions_link=terms_conditions_link,
        from_date=from_date,
        to_date=to_date,
        id=made_id("camp", (yield from random_bytes(16))),
        date_created=moment,
        date_last_updated=moment,
        last_updated_by=by,
    )
    check_dates(campaign)
    for _ in range(TRIES):
        affordable = yield from affordable_product(campaign)
        try:
            return (yield from create_record(campaign, taken=CampaignExists, checks=(affordable,)))
        except Overtaken:
            continue
    raise Conflict


@pattern("Update Campaign", index="Main table", sample={"changes": {"discount_percentage": "15"}})
def update_campaign(
    code: AskedCode, changes: Mapping[str, Any], *, by: Actor, seen: str | None = None
) -> Steps[Campaign]:
    """admin; not its code or its product, and dates are judged as the pair that they become

    `seen` is the mark of the record that it is changed from: if it is another by now, nothing is
    changed.
    """
    return (yield from edit_campaign(code, changes, by, seen))


@pattern("Soft Delete Campaign", index="Main table")
def soft_delete_campaign(code: AskedCode, *, by: Actor) -> Steps[Campaign]:
    """admin; orders keep their snapshot"""
    return (yield from edit_campaign(code, {"active": False}, by))


@pattern("Restore Campaign", index="Main table")
def restore_campaign(code: AskedCode, *, by: Actor) -> Steps[Campaign]:
    """admin; as it was"""
    return (yield from edit_campaign(code, {"active": True}, by))


def edit_campaign(
    code: str, changes: Mapping[str, Any], by: str, seen: str | None = None
) -> Steps[Campaign]:
    def decide(campaign: Campaign) -> Steps[Change | None]:
        check_seen(campaign, seen)
        change = edit_change(campaign, changes, CHANGEABLE, CampaignDeleted)
        if change is None:
            return None
        after = but(campaign, change.fields)
        check_dates(after)
        if "discount_percentage" not in change.fields:
            return change
        checks = yield from still_affordable(after)
        return Change(change.fields, change.action, checks=checks)

    key = Campaign.key(asked_campaign_code(code))
    return Changing(key, by, UnknownCampaign).run(decide)


# Rules


def check_dates(campaign: Campaign) -> None:
    if campaign.from_date > campaign.to_date:
        raise DatesReversed


def check_discount(price: Decimal, percentage: Decimal) -> None:
    if rounded_discount(price, percentage) < CENT:
        raise DiscountTooHigh


def affordable_product(campaign: Campaign) -> Steps[Write[Any]]:
    """That its product is there, active, and costs something in spite of the discount."""
    key = Product.key(campaign.product_id)
    product = yield from get(key, consistent=True, missing=UnknownProduct)
    if not product.active:
        raise ProductUnavailable
    check_discount(product.price, campaign.discount_percentage)
    return check(
        key,
        if_exists=UnknownProduct,
        when=IS_ACTIVE & (attr("price") == product.price),
        otherwise=Overtaken,
    )


def still_affordable(campaign: Campaign) -> Steps[tuple[Write[Any], ...]]:
    """The same of a campaign that is there; its product may be gone, for what it was."""
    key = Product.key(campaign.product_id)
    product = yield from get(key, consistent=True)
    if product is None:
        return ()
    check_discount(product.price, campaign.discount_percentage)
    return (check(key, when=attr("price") == product.price, otherwise=Overtaken),)
