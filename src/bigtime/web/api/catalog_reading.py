"""What everybody reads of the catalogue: deals, brands, and what is trending."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field, WithJsonSchema

from bigtime.model import NotFound, Page, Position
from bigtime.systems import catalog
from bigtime.web.api.catalog_brand_shapes import CatalogBrandShown
from bigtime.web.api.catalog_deal_shapes import CatalogDealShown, CategoryDealShown, TrendingShown
from bigtime.web.api.catalog_shapes import Moment
from bigtime.web.api.endpoint import Endpoint, May
from bigtime.web.api.showing import one, page_of
from bigtime.wire import Steps

Score = Annotated[int, Field(ge=0, lt=10**10)]
Discount = Annotated[
    Decimal,
    Field(ge=0, le=100, max_digits=7, decimal_places=4),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 100}),
]


def recent_deals(
    brand_id: str,
    since_date: Moment,
    *,
    ascending: bool = False,
    limit: int = catalog.PAGE,
    after: Position | None = None,
) -> Steps[Page[catalog.Deal]]:
    return (
        yield from catalog.get_recent_deals_by_brand(
            brand_id, since_date, ascending=ascending, limit=limit, after=after
        )
    )


def engaged_deals(
    category_id: str,
    min_score: Score,
    *,
    ascending: bool = False,
    limit: int = catalog.PAGE,
    after: Position | None = None,
) -> Steps[Page[catalog.TrendingDeal]]:
    return (
        yield from catalog.get_highly_engaged_deals(
            category_id, min_score, ascending=ascending, limit=limit, after=after
        )
    )


def discounted_deals(
    brand_id: str,
    min_discount: Discount,
    *,
    ascending: bool = False,
    limit: int = catalog.PAGE,
    after: Position | None = None,
) -> Steps[Page[catalog.TrendingDeal]]:
    return (
        yield from catalog.get_high_discount_deals(
            brand_id, min_discount, ascending=ascending, limit=limit, after=after
        )
    )


class UnknownTrendingDeal(NotFound):
    """This deal is not among the trending ones of its category."""


def trending_deal(category_id: str, deal_id: str) -> Steps[catalog.TrendingDeal]:
    """What is not there is unknown."""
    try:
        return (yield from catalog.find_trending(category_id, deal_id))
    except catalog.NotTrending:
        raise UnknownTrendingDeal from None


READING: Final = (
    Endpoint(
        "GET",
        "/catalog/deals/{dealId:path}",
        catalog.get_deal_by_id,
        May.EVERYBODY,
        one(CatalogDealShown),
        asks=("consistent",),
    ),
    Endpoint(
        "GET",
        "/catalog/brands/{brandId:path}/deals",
        catalog.get_deals_by_brand,
        May.EVERYBODY,
        page_of(CatalogDealShown),
        asks=("ascending",),
    ),
    Endpoint(
        "GET",
        "/catalog/brands/{brandId:path}/recent-deals",
        catalog.get_recent_deals_by_brand,
        May.EVERYBODY,
        page_of(CatalogDealShown),
        runs=recent_deals,
        asks=("since_date", "ascending"),
    ),
    Endpoint(
        "GET",
        "/catalog/brands/{brandId:path}/high-discounts",
        catalog.get_high_discount_deals,
        May.EVERYBODY,
        page_of(TrendingShown),
        runs=discounted_deals,
        asks=("min_discount", "ascending"),
    ),
    Endpoint(
        "GET",
        "/catalog/brands/{brandId:path}",
        catalog.get_brand_by_id,
        May.EVERYBODY,
        one(CatalogBrandShown),
        asks=("consistent",),
    ),
    Endpoint(
        "GET",
        "/catalog/categories/{categoryId:path}/deals",
        catalog.get_deals_by_category,
        May.EVERYBODY,
        page_of(CategoryDealShown),
        asks=("ascending",),
    ),
    Endpoint(
        "GET",
        "/catalog/categories/{categoryId:path}/trending",
        catalog.get_trending_by_category,
        May.EVERYBODY,
        page_of(TrendingShown),
        asks=("ascending", "consistent"),
    ),
    Endpoint(
        "GET",
        "/catalog/categories/{categoryId:path}/highly-engaged",
        catalog.get_highly_engaged_deals,
        May.EVERYBODY,
        page_of(TrendingShown),
        runs=engaged_deals,
        asks=("min_score", "ascending"),
    ),
    Endpoint(
        "GET",
        "/catalog/categories/{categoryId:path}/trending/{dealId}",
        catalog.find_trending,
        May.EVERYBODY,
        one(TrendingShown),
        runs=trending_deal,
    ),
)
