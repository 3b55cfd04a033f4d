"""What everybody reads of `deals`: pages, deals, brands, categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from bigtime.model import Page, Position, together
from bigtime.site import (
    BRANDS,
    EDITORS_CHOICE,
    FRONT_PAGE,
    LATEST,
    brand_deals_tag,
    brand_tag,
    category_deals_tag,
    category_tag,
    deal_tag,
    deal_tags,
)
from bigtime.systems import deals
from bigtime.web.api.deals_shapes import (
    BrandShown,
    CategoriesShown,
    CategoryPage,
    CategoryShown,
    DealShown,
    DealsShown,
    FeaturedShown,
    FrontPageShown,
    NamesShown,
)
from bigtime.web.api.endpoint import Endpoint, May
from bigtime.web.api.paging import listed
from bigtime.web.api.showing import Showing, made_by, one, page_of
from bigtime.web.pages import Site
from bigtime.wire import Steps

MOST_ASKED: Final = 100
AskedIds = Annotated[
    list[Annotated[str, Field(max_length=100)]], Field(min_length=1, max_length=MOST_ASKED)
]


def deals_of_ids(deal_ids: AskedIds) -> Steps[list[deals.Deal]]:
    ids: list[Any] = list(deal_ids)
    return (yield from deals.fetch_deals(ids))


def deals_of_brand(
    brand_name: str, last_deal_id_seen: deals.DealId | None = None, *, after: Position | None = None
) -> Steps[Page[deals.Deal]]:
    """A brand that is not there is unknown; one that has no deals has an empty page."""
    _, latest = yield from together(
        deals.fetch_brand(brand_name),
        deals.fetch_brand_deals(brand_name, last_deal_id_seen, after=after),
    )
    return latest


def shown_front_page(site: Site, found: tuple[deals.FrontPage, Page[deals.Deal]]) -> FrontPageShown:
    front, latest = found
    return FrontPageShown(
        featured_deals=FeaturedShown.model_validate(front).featured_deals,
        latest=listed(site, latest, DealShown.model_validate),
    )


def shown_category(site: Site, found: tuple[deals.Category, Page[deals.Deal]]) -> CategoryPage:
    category, latest = found
    return CategoryPage(
        category=CategoryShown.model_validate(category),
        latest=listed(site, latest, DealShown.model_validate),
    )


def all_deals(found: list[deals.Deal]) -> DealsShown:
    return DealsShown(items=[DealShown.model_validate(one) for one in found])


def all_categories(found: list[deals.Category]) -> CategoriesShown:
    return CategoriesShown(items=[CategoryShown.model_validate(one) for one in found])


def brand_deals_tags(found: Any, arguments: Mapping[str, Any]) -> list[str]:
    return [brand_deals_tag(deals.brand_key(arguments["brand_name"])), *deal_tags(found)]


def category_tags(found: Any, arguments: Mapping[str, Any]) -> list[str]:
    key = deals.category_key(arguments["category_name"])
    return [category_tag(key), category_deals_tag(key), *deal_tags(found[1])]


READING: Final = (
    Endpoint(
        "GET",
        "/front-page",
        deals.fetch_front_page,
        May.EVERYBODY,
        Showing(FrontPageShown, shown_front_page),
        asks=("last_deal_id_seen",),
        keeps=lambda found, _: (FRONT_PAGE, LATEST, *deal_tags(found[1])),
    ),
    Endpoint(
        "GET",
        "/editors-choice",
        deals.fetch_editors_choice,
        May.EVERYBODY,
        one(FeaturedShown),
        keeps=lambda found, _: (EDITORS_CHOICE,),
    ),
    Endpoint(
        "GET",
        "/deals",
        deals.fetch_deals,
        May.EVERYBODY,
        made_by(DealsShown, all_deals),
        runs=deals_of_ids,
        asks=("deal_ids",),
    ),
    Endpoint(
        "GET",
        "/deals/{dealId}",
        deals.fetch_deal,
        May.EVERYBODY,
        one(DealShown),
        keeps=lambda deal, _: (deal_tag(deal.deal_id),),
    ),
    Endpoint(
        "GET",
        "/brands",
        deals.fetch_all_brands,
        May.EVERYBODY,
        made_by(NamesShown, lambda names: NamesShown(items=names)),
        keeps=lambda found, _: (BRANDS,),
    ),
    Endpoint(
        "GET",
        "/brands/{brandName:path}/deals",
        deals.fetch_brand_deals,
        May.EVERYBODY,
        page_of(DealShown),
        runs=deals_of_brand,
        asks=("last_deal_id_seen",),
        keeps=brand_deals_tags,
        spelled={"brand_name": deals.brand_key},
    ),
    Endpoint(
        "GET",
        "/brands/{brandName:path}",
        deals.fetch_brand,
        May.EVERYBODY,
        one(BrandShown),
        keeps=lambda brand, _: (brand_tag(brand.brand),),
        spelled={"brand_name": deals.brand_key},
    ),
    Endpoint(
        "GET",
        "/categories",
        deals.fetch_all_categories,
        May.EVERYBODY,
        made_by(CategoriesShown, all_categories),
        keeps=lambda found, _: [
            category_tag(deals.category_key(name)) for name in deals.CATEGORIES
        ],
    ),
    Endpoint(
        "GET",
        "/categories/{categoryName:path}",
        deals.fetch_category,
        May.EVERYBODY,
        Showing(CategoryPage, shown_category),
        asks=("last_deal_id_seen",),
        keeps=category_tags,
        spelled={"category_name": deals.category_key},
    ),
)
