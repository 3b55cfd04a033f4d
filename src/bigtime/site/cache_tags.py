"""What a change drops from the caches: the tags of pages that show it, and of its user's facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bigtime.model import Change, Entity
from bigtime.systems import cart, catalog, deals, portal

LATEST = "latest"


FRONT_PAGE = "front page"


EDITORS_CHOICE = "editors choice"


BRANDS = "brands"


PRICING = "pricing"


CAMPAIGNS = "campaigns"


# The front page may have been read from a copy of deals that did not know the newest yet.
ALWAYS: Mapping[type[Entity], str] = {
    deals.Brands: BRANDS,
    deals.DealsCache: LATEST,
    deals.EditorsChoice: EDITORS_CHOICE,
    deals.FrontPage: FRONT_PAGE,
}
"""The tag of what there is one of."""


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


def trending_tag(category: str) -> str:
    """The places of a category's deals among the trending ones."""
    return f"trending {category}"


def product_tag(product_id: str) -> str:
    return f"product {product_id}"


def campaign_tag(code: str) -> str:
    return f"campaign {code}"


def tags_of(change: Change[Any]) -> set[str]:
    """What may look different after a change."""
    return {tag for one in (change.before, change.after) if one for tag in tags_shown(one)}


def tags_shown(entity: Entity) -> Iterator[str]:
    match entity:
        case deals.Deal():
            yield deal_tag(entity.deal_id)
            yield LATEST
            yield brand_deals_tag(entity.brand)
            yield category_deals_tag(entity.category)
        case deals.Brand():
            yield brand_tag(entity.brand)
        case deals.Category():
            yield category_tag(entity.category)
        case deals.Brands() | deals.DealsCache() | deals.EditorsChoice() | deals.FrontPage():
            yield ALWAYS[type(entity)]
        case catalog.TrendingDeal():
            yield trending_tag(entity.category_id)
        case portal.Product():
            yield PRICING
            yield product_tag(entity.id)
        case portal.Campaign():
            yield CAMPAIGNS
            yield campaign_tag(entity.code)
        case (
            deals.Message()
            | deals.BrandLike()
            | deals.BrandWatch()
            | deals.CategoryLike()
            | deals.CategoryWatch()
        ):
            yield user_tag(entity.username)
        case cart.CartLine():
            yield user_tag(entity.account_id)


def user_tag(username: str) -> str:
    """What is dropped when something of a user changes."""
    return f"user {username}"
