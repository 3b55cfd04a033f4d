"""What a change drops from the caches: the tags of pages that show it, and of its user's facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bigtime.model import Change, Entity
from bigtime.systems.deals.design import (
    Brand,
    BrandLike,
    Brands,
    BrandWatch,
    Category,
    CategoryLike,
    CategoryWatch,
    Deal,
    DealsCache,
    EditorsChoice,
    FrontPage,
    Message,
)
from bigtime.systems.portal.design import Campaign, Product
from bigtime.web.filling import user_tag

LATEST = "latest"
FRONT_PAGE = "front page"
EDITORS_CHOICE = "editors choice"
BRANDS = "brands"
PRICING = "pricing"


def deal_tag(deal_id: str) -> str:
    return f"deal {deal_id}"


def brand_tag(brand: str) -> str:
    """A brand's own item: its name and its counts."""
    return f"brand {brand}"


def brand_deals_tag(brand: str) -> str:
    return f"brand deals {brand}"


def category_tag(category: str) -> str:
    return f"category {category}"


def category_deals_tag(category: str) -> str:
    return f"category deals {category}"


def product_tag(product_id: str) -> str:
    return f"product {product_id}"


def campaign_tag(code: str) -> str:
    return f"campaign {code}"


def tags_of(change: Change[Any]) -> set[str]:
    """What may look different after a change."""
    return {tag for one in (change.before, change.after) if one for tag in tags_shown(one)}


def tags_shown(entity: Entity) -> Iterator[str]:
    match entity:
        case Deal():
            yield deal_tag(entity.deal_id)
            yield LATEST
            yield brand_deals_tag(entity.brand)
            yield category_deals_tag(entity.category)
        case DealsCache():
            # The front page may have been read from a copy that did not know the newest deal yet.
            yield LATEST
        case Brand():
            yield brand_tag(entity.brand)
        case Brands():
            yield BRANDS
        case Category():
            yield category_tag(entity.category)
        case FrontPage():
            yield FRONT_PAGE
        case EditorsChoice():
            yield EDITORS_CHOICE
        case Product():
            yield PRICING
            yield product_tag(entity.id)
        case Campaign():
            yield campaign_tag(entity.code)
        case Message() | BrandLike() | BrandWatch() | CategoryLike() | CategoryWatch():
            yield user_tag(entity.username)
