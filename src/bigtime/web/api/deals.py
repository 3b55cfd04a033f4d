"""`/api/v1`: deals, brands and categories, as everybody reads them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Path, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from bigtime import site
from bigtime.model import Page, together
from bigtime.systems import deals
from bigtime.web.api.bodies import Amount, Listed, ResponseBody, example
from bigtime.web.api.cached_responses import cached_response
from bigtime.web.api.dependencies import CurrentStore, FixedPages
from bigtime.web.api.routing import PUBLIC, V1Router
from bigtime.wire import Steps

deals_api = V1Router(deals.SYSTEM, reads=PUBLIC)

DEAL_ID: Final = "3M8cT3vYiO0Op0N2BjBaiDdyiKk"
CREATED: Final = "2026-11-15T10:30:00Z"
FEATURED: Final = {
    "dealId": DEAL_ID,
    "title": "A brass lamp",
    "link": "https://shop.example/lamp",
    "price": 19.99,
    "listPrice": 29.99,
    "brand": "APPLE",
    "brandName": "Apple",
    "category": "HOME",
    "categoryName": "Home",
}

DealId = Annotated[str, Path(alias="dealId", min_length=1)]
BrandName = Annotated[str, Path(alias="brandName", min_length=1)]
CategoryName = Annotated[str, Path(alias="categoryName", min_length=1)]
LastDealIdSeen = Annotated[deals.DealId | None, Query(alias="lastDealIdSeen")]


# Bodies


class FeaturedDealShown(ResponseBody):
    """A deal as it was when an editor featured it."""

    model_config = example(**FEATURED)

    deal_id: str
    title: str
    link: str
    price: Amount
    list_price: Amount | None
    brand: str = Field(description="The brand's name as addresses have it.")
    brand_name: str
    category: str = Field(description="The category's name as addresses have it.")
    category_name: str


class DealShown(FeaturedDealShown):
    """A discounted product somewhere on the web."""

    model_config = example(**FEATURED, description="It shines.", createdAt=CREATED)

    description: str | None
    created_at: datetime


class DealsShown(ResponseBody):
    """Deals that were asked for; what is not there is left out."""

    items: list[DealShown]


class FeaturedShown(ResponseBody):
    """The deals that a page features."""

    featured_deals: list[FeaturedDealShown]


class FrontPageShown(ResponseBody):
    """What everyone sees first."""

    featured_deals: list[FeaturedDealShown]
    latest: Listed[DealShown]


class BrandShown(ResponseBody):
    """Someone whose products are on offer."""

    model_config = example(
        brand="APPLE",
        name="Apple",
        logo="https://shop.example/apple.png",
        likeCount=3,
        watchCount=5,
        createdAt=CREATED,
    )

    brand: str
    name: str
    logo: str | None
    like_count: int
    watch_count: int
    created_at: datetime | None


class NamesShown(ResponseBody):
    """Names as people see them, in the order of the alphabet."""

    model_config = example(items=["Apple", "Sony"])

    items: list[str]


class CategoryShown(ResponseBody):
    """One of the kinds of products."""

    category: str
    name: str
    featured_deals: list[FeaturedDealShown]
    like_count: int
    watch_count: int


class CategoriesShown(ResponseBody):
    """All categories."""

    items: list[CategoryShown]


class CategoryPage(ResponseBody):
    """A category, and a page of its latest deals."""

    category: CategoryShown
    latest: Listed[DealShown]


def show_deals(found: Iterable[deals.Deal]) -> DealsShown:
    return DealsShown.model_validate({"items": [*found]})


def show_categories(found: Iterable[deals.Category]) -> CategoriesShown:
    return CategoriesShown.model_validate({"items": [*found]})


# Pages


@deals_api.get("/front-page", response_model=FrontPageShown)
async def fetch_front_page(
    request: Request, paging: FixedPages, last_deal_id_seen: LastDealIdSeen = None
) -> Response:
    """Returns the deals that the front page features, and a page of the latest deals."""

    def show(found: tuple[deals.FrontPage, Page[deals.Deal]]) -> FrontPageShown:
        front, latest = found
        fields = {"featured_deals": front.featured_deals, "latest": paging.items(latest)}
        return FrontPageShown.model_validate(fields)

    steps = deals.fetch_front_page(last_deal_id_seen, after=paging.after)
    return await cached_response(
        request,
        steps,
        show,
        lambda found: (site.FRONT_PAGE, site.LATEST, *site.deal_tags(found[1])),
    )


@deals_api.get("/editors-choice", response_model=FeaturedShown)
async def fetch_editors_choice(request: Request) -> Response:
    """Returns the deals that the editors have chosen."""
    steps = deals.fetch_editors_choice()
    return await cached_response(
        request, steps, FeaturedShown.model_validate, lambda _: (site.EDITORS_CHOICE,)
    )


# Deals


@deals_api.get("/deals", response_model=DealsShown)
async def fetch_deals(
    store: CurrentStore,
    deal_ids: Annotated[
        list[Annotated[str, Field(max_length=100)]],
        Query(alias="dealIds", min_length=1, max_length=100),
    ],
) -> DealsShown:
    """Returns up to 100 deals by their ids. For a list of the latest, read `/front-page`."""
    return show_deals(await store.run(deals.fetch_deals(deal_ids)))


@deals_api.get("/deals/{dealId}", response_model=DealShown)
async def fetch_deal(request: Request, deal_id: DealId) -> Response:
    """Returns a deal."""
    steps: Steps[deals.Deal] = deals.fetch_deal(deals.deal_id_of(deal_id))
    return await cached_response(
        request, steps, DealShown.model_validate, lambda deal: (site.deal_tag(deal.deal_id),)
    )


# Brands


@deals_api.get("/brands", response_model=NamesShown)
async def fetch_all_brands(request: Request) -> Response:
    """Returns the names of all brands."""

    def show(names: list[str]) -> NamesShown:
        return NamesShown(items=names)

    return await cached_response(request, deals.fetch_all_brands(), show, lambda _: (site.BRANDS,))


@deals_api.get("/brands/{brandName:path}/deals", response_model=Listed[DealShown])
async def fetch_brand_deals(
    request: Request,
    paging: FixedPages,
    brand_name: BrandName,
    last_deal_id_seen: LastDealIdSeen = None,
) -> Response:
    """Returns the latest deals of a brand, newest first. An unknown brand is 404."""

    def read() -> Steps[Page[deals.Deal]]:
        _, latest = yield from together(
            deals.fetch_brand(brand_name),
            deals.fetch_brand_deals(brand_name, last_deal_id_seen, after=paging.after),
        )
        return latest

    def show(found: Page[deals.Deal]) -> Listed[DealShown]:
        return Listed[DealShown].model_validate(paging.items(found))

    key = deals.brand_key(brand_name)

    def tags(found: Page[deals.Deal]) -> list[str]:
        return [site.brand_deals_tag(key), *site.deal_tags(found)]

    return await cached_response(request, read(), show, tags, keep=key == brand_name)


@deals_api.get("/brands/{brandName:path}", response_model=BrandShown)
async def fetch_brand(request: Request, brand_name: BrandName) -> Response:
    """Returns a brand, with how many like and watch it."""
    key = deals.brand_key(brand_name)
    steps = deals.fetch_brand(brand_name)
    tags = (site.brand_tag(key),)
    return await cached_response(
        request, steps, BrandShown.model_validate, lambda _: tags, keep=key == brand_name
    )


# Categories


@deals_api.get("/categories", response_model=CategoriesShown)
async def fetch_all_categories(request: Request) -> Response:
    """Returns all categories with the deals that each features."""
    tags = [site.category_tag(deals.category_key(name)) for name in deals.CATEGORIES]
    return await cached_response(
        request, deals.fetch_all_categories(), show_categories, lambda _: tags
    )


@deals_api.get("/categories/{categoryName:path}", response_model=CategoryPage)
async def fetch_category(
    request: Request,
    paging: FixedPages,
    category_name: CategoryName,
    last_deal_id_seen: LastDealIdSeen = None,
) -> Response:
    """Returns a category and a page of its latest deals."""

    def show(found: tuple[deals.Category, Page[deals.Deal]]) -> CategoryPage:
        category, latest = found
        fields: dict[str, Any] = {"category": category, "latest": paging.items(latest)}
        return CategoryPage.model_validate(fields)

    key = deals.category_key(category_name)

    def tags(found: tuple[deals.Category, Page[deals.Deal]]) -> list[str]:
        return [site.category_tag(key), site.category_deals_tag(key), *site.deal_tags(found[1])]

    steps = deals.fetch_category(category_name, last_deal_id_seen, after=paging.after)
    return await cached_response(request, steps, show, tags, keep=key == category_name)
