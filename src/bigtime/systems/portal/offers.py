"""Offers: campaigns with what is computed when they are shown.

None of it is stored. A campaign is valid while it is active and today lies in its dates; whether
its product is still to be had is another question, which its name and prices answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from bigtime.model import Page, get_many, now
from bigtime.systems.portal.design import Campaign, Product
from bigtime.systems.portal.values import CENT, WHOLE
from bigtime.wire import Steps

UNAVAILABLE: Final = "[Product Unavailable]"


@dataclass(frozen=True, slots=True)
class Offer:
    """A campaign, its product's name and prices, and whether it holds today."""

    campaign: Campaign
    product_name: str
    original_price: Decimal | None
    discounted_price: Decimal | None
    is_valid: bool


def today(zone: tzinfo = UTC) -> Steps[date]:
    """The day that it is in a zone."""
    moment = yield from now()
    return moment.astimezone(zone).date()


def is_valid(campaign: Campaign, day: date) -> bool:
    return campaign.active and campaign.from_date <= day <= campaign.to_date


def rounded_discount(price: Decimal, percentage: Decimal) -> Decimal:
    """The price less so many percent, to the cent, half a cent up."""
    return (price * (WHOLE - percentage) / WHOLE).quantize(CENT, ROUND_HALF_UP)


def discounted_price(price: Decimal, percentage: Decimal) -> Decimal:
    """What is paid; a cent at least, should the price have dropped since the campaign was made."""
    return max(CENT, rounded_discount(price, percentage))


def offer_of(campaign: Campaign, product: Product | None, day: date) -> Offer:
    valid = is_valid(campaign, day)
    if product is None or not product.active:
        return Offer(campaign, UNAVAILABLE, None, None, valid)
    price = discounted_price(product.price, campaign.discount_percentage)
    return Offer(campaign, product.name, product.price, price, valid)


def offers_of(campaigns: Sequence[Campaign], day: date) -> Steps[list[Offer]]:
    """The offers of campaigns; each product is read once."""
    ids = list(dict.fromkeys(campaign.product_id for campaign in campaigns))
    found = yield from get_many([Product.key(id_) for id_ in ids])
    products = dict(zip(ids, found, strict=True))
    return [offer_of(campaign, products[campaign.product_id], day) for campaign in campaigns]


def offer_page(page: Page[Campaign], day: date) -> Steps[Page[Offer]]:
    return Page((yield from offers_of(page.items, day)), page.position)
