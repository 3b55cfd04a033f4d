"""Deals as the catalogue has them: deals, brands and users of `deals` are those of `catalog` too.

The two systems are two designs of one domain, and do not know each other. This reaction carries
over what the one has to the other, under the same ids: a deal's, a brand's name as keys have it,
a username.

1. A change only says what to look at. What is carried over is what there is now. So a stream that
   tells everything again, or tells it late, changes nothing, not even for a moment.
2. The catalogue has things of its own: whether a deal is still on, what a brand says of itself,
   when a user was last here. These stay.
3. A deal that is gone is not on any more. The copy of a brand or a user goes with it. A user of
   whom no e-mail address is known is no user of the catalogue, which wants one.

Watches are not carried over. Whoever watches something is told of its deals by a message, and the
catalogue would tell them a second time.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any

from bigtime.model import Change, delete, get, reaction
from bigtime.systems import catalog
from bigtime.systems.deals import BIG_TIME_DEALS, Brand, Deal, User
from bigtime.wire import Steps


@reaction(BIG_TIME_DEALS, of=[Deal, Brand, User])
def project_deals(change: Change[Any]) -> Steps[None]:
    """Writes a deal, a brand or a user as the catalogue has it."""
    if change.of(Deal):
        yield from project_deal(change)
    elif change.of(Brand) and is_news(change, catalog_brand):
        yield from project_brand(change)
    elif change.of(User):
        yield from project_user(change)


def is_news(change: Change[Any], carried: Any) -> bool:
    """Whether what is carried over has changed; a brand changes with every like."""
    if change.before is None or change.after is None:
        return True
    return bool(carried(change.before, change.at) != carried(change.after, change.at))


# Deals


def project_deal(change: Change[Deal]) -> Steps[None]:
    deal = yield from get(change.key, consistent=True)
    if deal is None:
        with suppress(catalog.UnknownDeal):
            yield from catalog.expire_deal(change.key.fields["deal_id"])
        return
    copy = catalog_deal(deal)
    try:
        yield from catalog.update_deal(
            copy.deal_id,
            title=copy.title,
            description=copy.description,
            price=copy.price,
            brand_name=copy.brand_name,
            category_name=copy.category_name,
        )
    except catalog.UnknownDeal:
        yield from catalog.create_deal(copy)


def catalog_deal(deal: Deal) -> catalog.Deal:
    """The same deal, as new in the catalogue."""
    return catalog.Deal(
        deal_id=deal.deal_id,
        title=deal.title,
        description=deal.description or deal.title,
        price=deal.price,
        brand_id=deal.brand,
        brand_name=deal.brand_name,
        category_id=deal.category,
        category_name=deal.category_name,
        posted_at=deal.created_at,
        status=catalog.DealStatus.ACTIVE,
    )


# Brands


def project_brand(change: Change[Brand]) -> Steps[None]:
    brand = yield from get(change.key, consistent=True)
    if brand is None:
        yield from delete(catalog.Brand.key(change.key.fields["brand"]))
        return
    copy = catalog_brand(brand, change.at)
    try:
        yield from catalog.update_brand(
            copy.brand_id, brand_name=copy.brand_name, logo_url=copy.logo_url
        )
    except catalog.UnknownBrand:
        yield from catalog.create_brand(copy)


def catalog_brand(brand: Brand, at: datetime) -> catalog.Brand:
    return catalog.Brand(
        brand_id=brand.brand,
        brand_name=brand.name,
        created_at=brand.created_at or at,
        logo_url=brand.logo,
    )


# Users


def project_user(change: Change[User]) -> Steps[None]:
    user = yield from get(change.key, consistent=True)
    if user is None or user.email is None:
        yield from delete(catalog.User.key(change.key.fields["username"]))
        return
    copy = catalog_user(user, user.email, change.at)
    try:
        yield from catalog.update_user(
            copy.user_id,
            username=copy.username,
            email=copy.email,
            display_name=copy.display_name,
        )
    except catalog.UnknownUser:
        yield from catalog.create_user(copy)


def catalog_user(user: User, email: str, at: datetime) -> catalog.User:
    return catalog.User(
        user_id=user.username,
        username=user.username,
        email=email,
        display_name=user.name,
        created_at=user.created_at or at,
    )
