"""`/api/v1/catalog`: the catalogue's deals, brands and trending deals, for everybody to read.

The catalogue has every deal of the site under the same id, and what editors add to it. Its deals
have a status and engagement; for the content of the site's own pages see `/api/v1/deals`.

Reads are eventually consistent and are served from the page cache. With `consistent=true`, where a
route accepts it, they are strongly consistent and bypass every cache.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, TypeVar

from fastapi import Path, Query
from pydantic import AwareDatetime, Field, WithJsonSchema
from starlette.responses import Response

from bigtime import site
from bigtime.model import NotFound, Page
from bigtime.systems import catalog
from bigtime.web.api import bodies
from bigtime.web.api.cached_responses import cached_response
from bigtime.web.api.dependencies import PagesOf25, Paging
from bigtime.web.api.routing import PUBLIC, V1Router
from bigtime.web.pages import AppRequest
from bigtime.wire import Steps

catalog_api = V1Router(catalog.SYSTEM, reads=PUBLIC)

T = TypeVar("T")

DEAL_ID: Final = "deal-12345"
CREATED: Final = "2024-01-15T10:00:00Z"
FIRST_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MOMENT: Final = datetime(9000, 1, 1, tzinfo=UTC)
HEADPHONES: Final[dict[str, Any]] = {
    "title": "Headphones",
    "description": "They keep the noise out.",
    "price": 149.99,
    "brandId": "VOLTAIC",
    "brandName": "Voltaic",
    "categoryId": "electronics",
    "categoryName": "Electronics",
}
"""The fields of the example deal."""

CreatedAt = Annotated[
    datetime, Field(validation_alias="posted_at", serialization_alias="createdAt")
]
"""When a deal was posted: `posted_at` of the entity, whose `created_at` only listed deals have."""
Moment = Annotated[AwareDatetime, bodies.WrittenMoment, Field(ge=FIRST_MOMENT, le=LAST_MOMENT)]
"""A time with its time zone."""
DealId = Annotated[str, Path(alias="dealId", min_length=1)]
BrandId = Annotated[str, Path(alias="brandId", min_length=1)]
CategoryId = Annotated[str, Path(alias="categoryId", min_length=1)]


class UnknownTrendingDeal(NotFound):
    """This deal is not among the trending ones of its category."""


# Bodies


class CatalogDealShown(bodies.ResponseBody):
    """A deal of the catalog."""

    model_config = bodies.example(
        dealId=DEAL_ID,
        **HEADPHONES,
        createdAt=CREATED,
        status="active",
        priceHistory=[{"at": CREATED, "price": 149.99}],
    )

    deal_id: str
    title: str
    description: str
    price: bodies.Amount
    brand_id: str
    brand_name: str
    category_id: str
    category_name: str
    created_at: CreatedAt
    status: catalog.DealStatus
    price_history: bodies.PriceHistory


class CategoryDealShown(bodies.ResponseBody):
    """A deal in the list of a category."""

    model_config = bodies.example(
        dealId=DEAL_ID,
        categoryId="electronics",
        createdAt=CREATED,
        title="Headphones",
        price=149.99,
        brandName="Voltaic",
    )

    deal_id: str
    category_id: str
    created_at: CreatedAt
    title: str
    price: bodies.Amount
    brand_name: str


class TrendingShown(bodies.ResponseBody):
    """A trending deal of a category, with its score."""

    model_config = bodies.example(
        categoryId="electronics",
        engagementScore=1695,
        dealId=DEAL_ID,
        title="Headphones",
        brandId="VOLTAIC",
        discountPercentage=50,
        views=1250,
        clicks=89,
    )

    category_id: str
    engagement_score: int
    deal_id: str
    title: str
    brand_id: str
    discount_percentage: bodies.Amount
    views: int
    clicks: int


class CatalogBrandShown(bodies.ResponseBody):
    """A brand of the catalog."""

    model_config = bodies.example(
        brandId="VOLTAIC", brandName="Voltaic", createdAt=CREATED, description=None, logoUrl=None
    )

    brand_id: str
    brand_name: str
    created_at: datetime
    description: str | None
    logo_url: str | None


# Deals


@catalog_api.get("/catalog/deals/{dealId:path}", response_model=CatalogDealShown)
async def get_deal_by_id(
    request: AppRequest, deal_id: DealId, consistent: bool = False
) -> Response:
    """Returns a deal."""
    steps = catalog.get_deal_by_id(deal_id, consistent=consistent)
    tags = (site.catalog_deal_tag(deal_id),)
    return await cached_response(request, steps, CatalogDealShown.model_validate, lambda _: tags)


# Lists


async def cached_list(
    paging: Paging, steps: Steps[Page[T]], shape: type[bodies.Listed[bodies.S]], *tags: str
) -> Response:
    """A page of a list, cached until one of its items or the list changes."""

    def show(page: Page[T]) -> bodies.Listed[bodies.S]:
        return shape.model_validate(paging.items(page))

    def all_tags(page: Page[T]) -> list[str]:
        return [*tags, *(tag_of(item) for item in page)]

    return await cached_response(paging.request, steps, show, all_tags)


def tag_of(item: object) -> str:
    """The tag of a deal in a list, or of the category in which it is trending."""
    match item:
        case catalog.Deal() | catalog.CategoryDeal():
            return site.catalog_deal_tag(item.deal_id)
        case catalog.TrendingDeal():
            return site.trending_tag(item.category_id)
    raise TypeError(f"{item!r} has no tag")


# Brands


@catalog_api.get(
    "/catalog/brands/{brandId:path}/deals", response_model=bodies.Listed[CatalogDealShown]
)
async def get_deals_by_brand(
    paging: PagesOf25, brand_id: BrandId, ascending: bool = False
) -> Response:
    """Lists the deals of a brand, newest first. An unknown brand is 404."""
    steps = catalog.get_deals_by_brand(brand_id, ascending=ascending, **paging.query)
    return await brand_deals(paging, brand_id, steps)


@catalog_api.get(
    "/catalog/brands/{brandId:path}/recent-deals", response_model=bodies.Listed[CatalogDealShown]
)
async def get_recent_deals_by_brand(
    paging: PagesOf25,
    brand_id: BrandId,
    since_date: Annotated[Moment, Query(alias="sinceDate")],
    ascending: bool = False,
) -> Response:
    """Lists the deals of a brand since a moment. An unknown brand is 404."""
    steps = catalog.get_recent_deals_by_brand(
        brand_id, since_date, ascending=ascending, **paging.query
    )
    return await brand_deals(paging, brand_id, steps)


async def brand_deals(paging: Paging, brand_id: str, steps: Steps[Page[catalog.Deal]]) -> Response:
    return await cached_list(
        paging,
        of_known_brand(brand_id, steps),
        bodies.Listed[CatalogDealShown],
        site.catalog_brand_tag(brand_id),
        site.catalog_brand_deals_tag(brand_id),
    )


@catalog_api.get(
    "/catalog/brands/{brandId:path}/high-discounts", response_model=bodies.Listed[TrendingShown]
)
async def get_high_discount_deals(
    paging: PagesOf25,
    brand_id: BrandId,
    min_discount: Annotated[
        Decimal,
        Query(alias="minDiscount", ge=0, le=100, max_digits=7, decimal_places=4),
        WithJsonSchema({"type": "number", "minimum": 0, "maximum": 100}),
    ],
    ascending: bool = False,
) -> Response:
    """Lists a brand's trending deals of at least that discount. An unknown brand is 404."""
    steps = catalog.get_high_discount_deals(
        brand_id, min_discount, ascending=ascending, **paging.query
    )
    return await cached_list(
        paging,
        of_known_brand(brand_id, steps),
        bodies.Listed[TrendingShown],
        site.catalog_brand_tag(brand_id),
        site.brand_trending_tag(brand_id),
    )


@catalog_api.get("/catalog/brands/{brandId:path}", response_model=CatalogBrandShown)
async def get_brand_by_id(
    request: AppRequest, brand_id: BrandId, consistent: bool = False
) -> Response:
    """Returns a brand."""
    steps = catalog.get_brand_by_id(brand_id, consistent=consistent)
    tags = (site.catalog_brand_tag(brand_id),)
    return await cached_response(request, steps, CatalogBrandShown.model_validate, lambda _: tags)


def of_known_brand(brand_id: str, steps: Steps[Page[T]]) -> Steps[Page[T]]:
    """A page of a brand's list; if it is empty, the brand must exist."""
    page = yield from steps
    if not page:
        yield from catalog.get_brand_by_id(brand_id)
    return page


# Categories


@catalog_api.get(
    "/catalog/categories/{categoryId:path}/deals", response_model=bodies.Listed[CategoryDealShown]
)
async def get_deals_by_category(
    paging: PagesOf25, category_id: CategoryId, ascending: bool = False
) -> Response:
    """Lists the deals of a category, newest first. A category is whatever its deals name."""
    steps = catalog.get_deals_by_category(category_id, ascending=ascending, **paging.query)
    tag = site.catalog_category_deals_tag(category_id)
    return await cached_list(paging, steps, bodies.Listed[CategoryDealShown], tag)


@catalog_api.get(
    "/catalog/categories/{categoryId:path}/trending", response_model=bodies.Listed[TrendingShown]
)
async def get_trending_by_category(
    paging: PagesOf25, category_id: CategoryId, ascending: bool = False, consistent: bool = False
) -> Response:
    """Lists the trending deals of a category, highest score first."""
    steps = catalog.get_trending_by_category(
        category_id, ascending=ascending, consistent=consistent, **paging.query
    )
    return await trending_list(paging, category_id, steps)


@catalog_api.get(
    "/catalog/categories/{categoryId:path}/highly-engaged",
    response_model=bodies.Listed[TrendingShown],
)
async def get_highly_engaged_deals(
    paging: PagesOf25,
    category_id: CategoryId,
    min_score: Annotated[int, Query(alias="minScore", ge=0, lt=10**10)],
    ascending: bool = False,
) -> Response:
    """Lists the trending deals of a category from a score on."""
    steps = catalog.get_highly_engaged_deals(
        category_id, min_score, ascending=ascending, **paging.query
    )
    return await trending_list(paging, category_id, steps)


async def trending_list(
    paging: Paging, category_id: str, steps: Steps[Page[catalog.TrendingDeal]]
) -> Response:
    tag = site.trending_tag(category_id)
    return await cached_list(paging, steps, bodies.Listed[TrendingShown], tag)


@catalog_api.get(
    "/catalog/categories/{categoryId:path}/trending/{dealId}", response_model=TrendingShown
)
async def find_trending(request: AppRequest, category_id: CategoryId, deal_id: DealId) -> Response:
    """Returns a trending deal of a category."""
    steps = read_trending(category_id, deal_id)
    tags = (site.trending_tag(category_id),)
    return await cached_response(request, steps, TrendingShown.model_validate, lambda _: tags)


def read_trending(category_id: str, deal_id: str) -> Steps[catalog.TrendingDeal]:
    try:
        return (yield from catalog.find_trending(category_id, deal_id))
    except catalog.NotTrending:
        raise UnknownTrendingDeal from None
