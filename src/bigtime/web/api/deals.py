"""`/api/v1`: deals, brands and categories, for everybody to read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import Path, Query
from pydantic import Field, model_validator
from starlette.responses import Response

from bigtime import site
from bigtime.model import Page, Position, together
from bigtime.systems import deals
from bigtime.web.api.bodies import Amount, FieldErrors, Listed, PriceHistory, ResponseBody, example
from bigtime.web.api.cached_responses import cached_response
from bigtime.web.api.dependencies import FixedPages, Paging
from bigtime.web.api.routing import PUBLIC, V1Router, check_alone
from bigtime.web.http import json_answer
from bigtime.web.pages import AppRequest
from bigtime.wire import Steps

deals_api = V1Router(deals.SYSTEM, reads=PUBLIC)

DEAL_ID: Final = "3M8cT3vYiO0Op0N2BjBaiDdyiKk"
CREATED: Final = "2026-11-15T10:30:00Z"
FEATURED: Final[dict[str, Any]] = {
    "dealId": DEAL_ID,
    "title": "A brass lamp",
    "link": "https://shop.example/lamp",
    "price": 19.99,
    "listPrice": 29.99,
    "brand": "OAKMERE",
    "brandName": "Oakmere",
    "category": "HOME",
    "categoryName": "Home",
    "status": None,
    "picture": {
        "width": 640,
        "height": 480,
        "files": [
            {"width": 320, "url": "/pictures/0123456789abcdef0123456789abcdef/320.webp"},
            {"width": 640, "url": "/pictures/0123456789abcdef0123456789abcdef/640.webp"},
        ],
    },
}

DealId = Annotated[str, Path(alias="dealId", min_length=1)]
BrandName = Annotated[str, Path(alias="brandName", min_length=1)]
CategoryName = Annotated[str, Path(alias="categoryName", min_length=1)]
LastDealIdSeen = Annotated[deals.DealId | None, Query(alias="lastDealIdSeen")]


# Bodies


class PictureFile(ResponseBody):
    """A file of a picture; what is at its address never changes."""

    width: int = Field(description="In pixels.")
    url: str = Field(description="Where this site serves it, as WebP.")


class PictureShown(ResponseBody):
    """A picture in several widths, the smallest first."""

    model_config = example(**FEATURED["picture"])

    width: int = Field(description="Of the largest file, in pixels.")
    height: int = Field(description="Of the largest file, in pixels.")
    files: list[PictureFile] = Field(description="One for each width.")

    @model_validator(mode="before")
    @classmethod
    def list_files(cls, value: object) -> object:
        if not isinstance(value, deals.Picture):
            return value
        files = [
            {"width": width, "url": f"/pictures/{value.digest}/{width}.webp"}
            for width in value.widths
        ]
        return {"width": value.width, "height": value.height, "files": files}


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
    status: deals.DealStatus | None = Field(description="Null while it is active.")
    picture: PictureShown | None = Field(description="Null without a picture.")


class DealShown(FeaturedDealShown):
    """A discounted product somewhere on the web."""

    model_config = example(
        **{**FEATURED, "status": "active"},
        description="It shines.",
        createdAt=CREATED,
        endsAt="2026-12-24T18:00:00Z",
        priceHistory=[{"at": CREATED, "price": 19.99}],
    )

    description: str | None
    created_at: datetime
    status: deals.DealStatus
    ends_at: datetime | None
    price_history: PriceHistory


class DealsShown(ResponseBody):
    """Several deals."""

    items: list[DealShown]


class FeaturedShown(ResponseBody):
    """The deals that a page features."""

    featured_deals: list[FeaturedDealShown]


class FrontPageShown(ResponseBody):
    """The front page: featured deals and the latest."""

    featured_deals: list[FeaturedDealShown]
    latest: Listed[DealShown]


class BrandShown(ResponseBody):
    """A brand, with how many users like and watch it."""

    model_config = example(
        brand="OAKMERE",
        name="Oakmere",
        logo="https://shop.example/oakmere.png",
        description="Phones and computers.",
        likeCount=3,
        watchCount=5,
        createdAt=CREATED,
        picture=FEATURED["picture"],
    )

    brand: str
    name: str
    logo: str | None
    description: str | None
    like_count: int
    watch_count: int
    created_at: datetime | None
    picture: PictureShown | None = Field(description="The brand's logo; null without one.")


class NamesShown(ResponseBody):
    """Names as people read them, in alphabetical order."""

    model_config = example(items=["Oakmere", "Voltaic"])

    items: list[str]


class CategoryShown(ResponseBody):
    """A category, with its featured deals."""

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


def show_page(paging: Paging, found: Page[deals.Deal]) -> Listed[DealShown]:
    return Listed[DealShown].model_validate(paging.items(found))


# Pages


@deals_api.get("/front-page", response_model=FrontPageShown)
async def fetch_front_page(
    paging: FixedPages, last_deal_id_seen: LastDealIdSeen = None
) -> Response:
    """Returns the deals that the front page features, and a page of the latest deals."""

    def show(found: tuple[deals.FrontPage, Page[deals.Deal]]) -> FrontPageShown:
        front, latest = found
        fields = {"featured_deals": front.featured_deals, "latest": paging.items(latest)}
        return FrontPageShown.model_validate(fields)

    steps = deals.fetch_front_page(last_deal_id_seen, after=paging.after)
    return await cached_response(
        paging.request,
        steps,
        show,
        lambda found: (site.FRONT_PAGE, site.LATEST, *site.deal_tags(found[1])),
    )


@deals_api.get("/editors-choice", response_model=FeaturedShown)
async def fetch_editors_choice(request: AppRequest) -> Response:
    """Returns the deals that the editors have chosen."""
    steps = deals.fetch_editors_choice()
    return await cached_response(
        request, steps, FeaturedShown.model_validate, lambda _: (site.EDITORS_CHOICE,)
    )


# Deals


@deals_api.get("/deals", response_model=Listed[DealShown])
async def fetch_deals(
    request: AppRequest,
    paging: FixedPages,
    deal_ids: Annotated[
        list[Annotated[str, Field(max_length=100)]],
        Query(
            alias="dealIds",
            max_length=100,
            description="The ids of up to 100 deals; those of no deal are left out.",
        ),
    ] = [],  # noqa: B006, which FastAPI copies
    brand: Annotated[
        deals.GivenBrandKey | None, FieldErrors, Query(description="Only deals of this brand.")
    ] = None,
    category: Annotated[
        deals.GivenCategory | None, FieldErrors, Query(description="Only deals of this category.")
    ] = None,
) -> Response:
    """Lists deals, newest first, 25 to a page: all, or those of a brand or a category.

    With `dealIds` it returns those deals instead, on one page.
    """
    check_alone("dealIds", deal_ids, brand=brand, category=category, startAt=paging.after)
    check_alone("brand", brand, category=category)
    if deal_ids:
        found = await request.run(deals.fetch_deals(deal_ids))
        return json_answer(show_page(paging, Page(found)).json_bytes(), 200)
    listed = listed_deals(brand, category, paging.after)
    given = {"brand": brand, "category": category, "startAt": request.query_params.get("startAt")}
    query = urlencode({name: value for name, value in given.items() if value})
    return await cached_response(
        request,
        listed.steps,
        partial(show_page, paging),
        lambda found: (listed.tag, *site.deal_tags(found)),
        address=f"{request.scope['path']}?{query}" if query else request.scope["path"],
    )


@dataclass(frozen=True, slots=True)
class DealList:
    """A page of a list of deals, and the tag of the list."""

    tag: str
    steps: Steps[Page[deals.Deal]]


def listed_deals(brand: str | None, category: str | None, after: Position | None) -> DealList:
    if brand is not None:
        return DealList(site.brand_deals_tag(brand), read_brand_deals(brand, after=after))
    if category is not None:
        return DealList(
            site.category_deals_tag(category), read_category_deals(category, after=after)
        )
    return DealList(site.ALL_DEALS, deals.latest(deals.all_days(), after=after))


def read_category_deals(category_name: str, *, after: Position | None) -> Steps[Page[deals.Deal]]:
    """A page of a category's deals; raises an error if there is no such category."""
    _, latest = yield from deals.fetch_category(category_name, after=after)
    return latest


def read_brand_deals(
    brand_name: str, last_deal_id_seen: deals.DealId | None = None, *, after: Position | None
) -> Steps[Page[deals.Deal]]:
    """A page of a brand's deals; raises an error if there is no such brand."""
    _, latest = yield from together(
        deals.fetch_brand(brand_name),
        deals.fetch_brand_deals(brand_name, last_deal_id_seen, after=after),
    )
    return latest


@deals_api.get("/deals/{dealId}", response_model=DealShown)
async def fetch_deal(request: AppRequest, deal_id: DealId) -> Response:
    """Returns a deal."""
    steps: Steps[deals.Deal] = deals.fetch_deal(deals.deal_id_of(deal_id))
    return await cached_response(
        request, steps, DealShown.model_validate, lambda deal: (site.deal_tag(deal.deal_id),)
    )


# Brands


@deals_api.get("/brands", response_model=NamesShown)
async def fetch_all_brands(request: AppRequest) -> Response:
    """Returns the names of all brands."""

    def show(names: list[str]) -> NamesShown:
        return NamesShown(items=names)

    return await cached_response(request, deals.fetch_all_brands(), show, lambda _: (site.BRANDS,))


@deals_api.get("/brands/{brandName:path}/deals", response_model=Listed[DealShown])
async def fetch_brand_deals(
    paging: FixedPages, brand_name: BrandName, last_deal_id_seen: LastDealIdSeen = None
) -> Response:
    """Returns the latest deals of a brand, newest first. An unknown brand is 404."""
    key, show = deals.brand_key(brand_name), partial(show_page, paging)

    def tags(found: Page[deals.Deal]) -> list[str]:
        return [site.brand_deals_tag(key), *site.deal_tags(found)]

    steps = read_brand_deals(brand_name, last_deal_id_seen, after=paging.after)
    return await cached_response(paging.request, steps, show, tags, keep=key == brand_name)


@deals_api.get("/brands/{brandName:path}", response_model=BrandShown)
async def fetch_brand(request: AppRequest, brand_name: BrandName) -> Response:
    """Returns a brand, with how many like and watch it."""
    key = deals.brand_key(brand_name)
    steps = deals.fetch_brand(brand_name)
    tags = (site.brand_tag(key),)
    return await cached_response(
        request, steps, BrandShown.model_validate, lambda _: tags, keep=key == brand_name
    )


# Categories


@deals_api.get("/categories", response_model=CategoriesShown)
async def fetch_all_categories(request: AppRequest) -> Response:
    """Returns all categories with the deals that each features."""
    tags = [site.category_tag(deals.category_key(name)) for name in deals.CATEGORIES]
    return await cached_response(
        request, deals.fetch_all_categories(), show_categories, lambda _: tags
    )


@deals_api.get("/categories/{categoryName:path}", response_model=CategoryPage)
async def fetch_category(
    paging: FixedPages, category_name: CategoryName, last_deal_id_seen: LastDealIdSeen = None
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
    return await cached_response(paging.request, steps, show, tags, keep=key == category_name)
