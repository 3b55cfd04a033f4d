"""Campaigns: a discount on a product, found by its code.

They are returned as offers, with attributes that are computed and never stored: a campaign is valid
while it is active and today is within its dates; its product's name and prices say whether the
product is still on sale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.portal import errors, records, values
from bigtime.systems.portal.design import Campaign, Product

UNAVAILABLE: Final = "[Product Unavailable]"
CHANGEABLE: Final = frozenset(
    "description discount_percentage from_date to_date terms_conditions_link active".split()
)
ACTIVITY: Final = (True, False)
DATES: Final = {"from_date": date(2025, 6, 1), "to_date": date(2025, 8, 31)}


# Offers


@dataclass(frozen=True, slots=True)
class Offer:
    """A campaign, its product's name and prices, and whether it is valid today."""

    campaign: Campaign
    product_name: str
    original_price: Decimal | None
    discounted_price: Decimal | None
    is_valid: bool


def today(zone: tzinfo = UTC) -> bt.Steps[date]:
    """Today's date in a time zone."""
    moment = yield from bt.now()
    return moment.astimezone(zone).date()


def is_valid(campaign: Campaign, day: date) -> bool:
    return campaign.active and campaign.from_date <= day <= campaign.to_date


def rounded_discount(price: Decimal, percentage: Decimal) -> Decimal:
    """The price less a percentage, to the cent, half a cent rounded up."""
    return (price * (values.WHOLE - percentage) / values.WHOLE).quantize(values.CENT, ROUND_HALF_UP)


def discounted_price(price: Decimal, percentage: Decimal) -> Decimal:
    """The price to pay: at least a cent, if the price has dropped since the campaign was made."""
    return max(values.CENT, rounded_discount(price, percentage))


def offer_of(campaign: Campaign, product: Product | None, day: date) -> Offer:
    valid = is_valid(campaign, day)
    if product is None or not product.active:
        return Offer(campaign, UNAVAILABLE, None, None, valid)
    price = discounted_price(product.price, campaign.discount_percentage)
    return Offer(campaign, product.name, product.price, price, valid)


def offers_of(campaigns: Sequence[Campaign], day: date) -> bt.Steps[list[Offer]]:
    """The offers of campaigns; reads each product once."""
    ids = list(dict.fromkeys(campaign.product_id for campaign in campaigns))
    found = yield from bt.get_many([Product.key(id_) for id_ in ids])
    products = dict(zip(ids, found, strict=True))
    return [offer_of(campaign, products[campaign.product_id], day) for campaign in campaigns]


def offer_page(page: bt.Page[Campaign], day: date) -> bt.Steps[bt.Page[Offer]]:
    return bt.Page((yield from offers_of(page.items, day)), page.position)


# Reading


@bt.pattern("Get Campaign by Code", index="Main table")
def get_campaign(
    code: values.AskedCode, *, include_inactive: bool = False, zone: tzinfo = UTC
) -> bt.Steps[Offer]:
    """with its product, both strongly consistent; the code in any case"""
    key = Campaign.key(values.campaign_code_of(code))
    campaign = yield from bt.get(key, consistent=True, missing=errors.UnknownCampaign)
    if not (campaign.active or include_inactive):
        raise errors.UnknownCampaign
    product = yield from bt.get(Product.key(campaign.product_id), consistent=True)
    return offer_of(campaign, product, (yield from today(zone)))


@bt.pattern("List Active Campaigns", index="CampaignActiveIndex, products")
def list_campaigns(
    *,
    valid_only: bool = False,
    include_inactive: bool = False,
    limit: int = records.PAGE,
    after: bt.Position | None = None,
    newest_first: bool = True,
    zone: tzinfo = UTC,
) -> bt.Steps[bt.Page[Offer]]:
    """by start date, newest first, paged; on demand those that are valid today"""
    day = yield from today(zone)
    started = {"from_date": bt.at_most(day)} if valid_only else {}
    page = yield from records.activity_page(
        Campaign,
        "CampaignActiveIndex",
        limit,
        after,
        newest_first=newest_first,
        include_inactive=include_inactive and not valid_only,
        filter=bt.attr("to_date") >= day if valid_only else None,
        **started,
    )
    return (yield from offer_page(page, day))


@bt.pattern("List Campaigns by Product", index="CampaignProductIndex, products")
def list_campaigns_by_product(
    product_id: values.ProductId,
    *,
    valid_only: bool = False,
    include_inactive: bool = False,
    limit: int = records.PAGE,
    after: bt.Position | None = None,
    zone: tzinfo = UTC,
) -> bt.Steps[bt.Page[Offer]]:
    """by start date, newest first, paged"""
    day = yield from today(zone)
    started = {"from_date": bt.at_most(day)} if valid_only else {}
    own = Campaign.within(
        "CampaignProductIndex", product_id=values.checked_product_id(product_id), **started
    )
    wanted = None if include_inactive else records.IS_ACTIVE
    page = yield from bt.query(
        own,
        newest_first=True,
        limit=records.checked_size(limit),
        after=after,
        filter=records.IS_ACTIVE & (bt.attr("to_date") >= day) if valid_only else wanted,
    )
    return (yield from offer_page(page, day))


@bt.pattern("List Upcoming Campaigns", index="CampaignActiveIndex, products")
def list_upcoming_campaigns(
    *, limit: int = records.PAGE, after: bt.Position | None = None, zone: tzinfo = UTC
) -> bt.Steps[bt.Page[Offer]]:
    """active ones that start after today, the next one first, paged"""
    day = yield from today(zone)
    return (yield from offer_page((yield from upcoming_page(day, limit, after)), day))


@bt.pattern("List Expired Campaigns", index="CampaignActiveIndex, products")
def list_expired_campaigns(
    *, limit: int = records.PAGE, after: bt.Position | None = None, zone: tzinfo = UTC
) -> bt.Steps[bt.Page[Offer]]:
    """active ones that ended before today, filtered by end date; newest first, paged"""
    day = yield from today(zone)
    return (yield from offer_page((yield from expired_page(day, limit, after)), day))


@bt.pattern("List Next and Last Campaigns", index="CampaignActiveIndex, products")
def list_next_and_last_campaigns(
    *, limit: int = records.PAGE, zone: tzinfo = UTC
) -> bt.Steps[tuple[list[Offer], list[Offer]]]:
    """the first of the upcoming ones and of the expired ones; each product is read once

    Of those that have begun some still run. So twice as many are looked at, or a second look would
    nearly always be needed.
    """
    day = yield from today(zone)
    coming = yield from upcoming_page(day, limit)
    over = yield from expired_page(day, min(2 * limit, records.MOST_ON_A_PAGE))
    offers = yield from offers_of([*coming, *over.items[:limit]], day)
    return offers[: len(coming)], offers[len(coming) :]


def upcoming_page(
    day: date, limit: int, after: bt.Position | None = None
) -> bt.Steps[bt.Page[Campaign]]:
    later = bt.more_than(day)
    return records.activity_page(
        Campaign, "CampaignActiveIndex", limit, after, newest_first=False, from_date=later
    )


def expired_page(
    day: date, limit: int, after: bt.Position | None = None
) -> bt.Steps[bt.Page[Campaign]]:
    return records.activity_page(
        Campaign,
        "CampaignActiveIndex",
        limit,
        after,
        newest_first=True,
        filter=bt.attr("to_date") < day,
        from_date=bt.less_than(day),
    )


@bt.pattern("List Campaigns by Creation", index="ActiveIndex, products")
def list_campaigns_by_creation(
    *,
    include_inactive: bool = False,
    limit: int = records.PAGE,
    after: bt.Position | None = None,
    zone: tzinfo = UTC,
) -> bt.Steps[bt.Page[Offer]]:
    """newest first, paged"""
    page = yield from records.activity_page(
        Campaign, "ActiveIndex", limit, after, newest_first=True, include_inactive=include_inactive
    )
    return (yield from offer_page(page, (yield from today(zone))))


@bt.pattern("List Soft Deleted Campaigns", index="CampaignActiveIndex, products")
def list_deleted_campaigns(
    *, limit: int = records.PAGE, after: bt.Position | None = None, zone: tzinfo = UTC
) -> bt.Steps[bt.Page[Offer]]:
    """what can be restored; by start date, newest first, paged"""
    deleted = Campaign.within("CampaignActiveIndex", active=False)
    page = yield from bt.query(
        deleted, newest_first=True, limit=records.checked_size(limit), after=after
    )
    return (yield from offer_page(page, (yield from today(zone))))


@bt.pattern("Count Campaigns", index="CampaignActiveIndex")
def count_campaigns() -> bt.Steps[records.Counts]:
    """active and soft deleted ones; only numbers are read"""
    counted = (bt.count(Campaign.within("CampaignActiveIndex", active=kind)) for kind in ACTIVITY)
    return records.Counts(*(yield from bt.together(*counted)))


# Writing


@bt.pattern("Create Campaign", index="Main table", takes="N/A", sample=DATES)
def create_campaign(
    code: values.CampaignCode,
    description: values.Description,
    discount_percentage: values.Discount,
    product_id: values.ProductId,
    terms_conditions_link: values.Link,
    from_date: values.Day,
    to_date: values.Day,
    *,
    by: values.Actor,
) -> bt.Steps[Campaign]:
    """admin; a new code, and a product that is active in the same transaction"""
    moment = yield from bt.now()
    campaign = Campaign(
        code=code,
        description=description,
        discount_percentage=discount_percentage,
        product_id=product_id,
        terms_conditions_link=terms_conditions_link,
        from_date=from_date,
        to_date=to_date,
        id=values.random_id("camp", (yield from bt.random_bytes(16))),
        date_created=moment,
        date_last_updated=moment,
        last_updated_by=by,
    )
    check_dates(campaign)
    for _ in range(records.TRIES):
        affordable = yield from affordable_product(campaign)
        try:
            return (
                yield from records.create_record(
                    campaign, taken=errors.CampaignExists, checks=(affordable,)
                )
            )
        except records.Overtaken:
            continue
    raise bt.Conflict


@bt.pattern(
    "Update Campaign", index="Main table", sample={"changes": {"discount_percentage": "15"}}
)
def update_campaign(
    code: values.AskedCode, changes: Mapping[str, Any], *, by: values.Actor, seen: str | None = None
) -> bt.Steps[Campaign]:
    """admin; not its code or its product, and dates are judged as the pair that they become

    `seen` is the mark of the record that it is changed from: if it is another by now, nothing is
    changed.
    """
    return (yield from edit_campaign(code, changes, by, seen))


@bt.pattern("Soft Delete Campaign", index="Main table")
def soft_delete_campaign(code: values.AskedCode, *, by: values.Actor) -> bt.Steps[Campaign]:
    """admin; orders keep their snapshot"""
    return (yield from edit_campaign(code, {"active": False}, by))


@bt.pattern("Restore Campaign", index="Main table")
def restore_campaign(code: values.AskedCode, *, by: values.Actor) -> bt.Steps[Campaign]:
    """admin; as it was"""
    return (yield from edit_campaign(code, {"active": True}, by))


def edit_campaign(
    code: str, changes: Mapping[str, object], by: str, seen: str | None = None
) -> bt.Steps[Campaign]:
    def decide(campaign: Campaign) -> bt.Steps[records.Change | None]:
        records.check_seen(campaign, seen)
        change = records.edit_change(campaign, changes, CHANGEABLE, errors.CampaignDeleted)
        if change is None:
            return None
        after = records.with_fields(campaign, change.fields)
        check_dates(after)
        if "discount_percentage" not in change.fields:
            return change
        checks = yield from still_affordable(after)
        return records.Change(change.fields, change.action, checks=checks)

    key = Campaign.key(values.campaign_code_of(code))
    return records.RecordChange(key, by, errors.UnknownCampaign).run(decide)


# Rules


def check_dates(campaign: Campaign) -> None:
    if campaign.from_date > campaign.to_date:
        raise errors.DatesReversed


def check_discount(price: Decimal, percentage: Decimal) -> None:
    if rounded_discount(price, percentage) < values.CENT:
        raise errors.DiscountTooHigh


def affordable_product(campaign: Campaign) -> bt.Steps[bt.Write[Any]]:
    """Checks that the product exists, is active, and costs at least a cent with the discount."""
    key = Product.key(campaign.product_id)
    product = yield from bt.get(key, consistent=True, missing=errors.UnknownProduct)
    if not product.active:
        raise errors.ProductUnavailable
    check_discount(product.price, campaign.discount_percentage)
    return bt.check(
        key,
        if_exists=errors.UnknownProduct,
        when=records.IS_ACTIVE & (bt.attr("price") == product.price),
        otherwise=records.Overtaken,
    )


def still_affordable(campaign: Campaign) -> bt.Steps[tuple[bt.Write[Any], ...]]:
    """The same for an existing campaign, whose product may be gone."""
    key = Product.key(campaign.product_id)
    product = yield from bt.get(key, consistent=True)
    if product is None:
        return ()
    check_discount(product.price, campaign.discount_percentage)
    return (bt.check(key, when=bt.attr("price") == product.price, otherwise=records.Overtaken),)
