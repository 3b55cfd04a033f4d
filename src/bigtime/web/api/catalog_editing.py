"""`/api/v1/catalog`: editing the catalogue.

Most of these patterns write one item, and cannot be part of a transaction. So a change is logged
after it is made: a crash in between leaves a change that is not in the log. Every change in the log
has happened.

Editors see that something is watched; only admins see by whom.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Annotated, TypeVar

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from bigtime.model import Conflict, create, now, random_bytes, transact
from bigtime.site import EditorAction, EditorChange, Visitor, new_change
from bigtime.systems import catalog
from bigtime.web.api.bodies import OPTIONAL, Items, Listed, RequestBody, ResponseBody, example
from bigtime.web.api.catalog import (
    CREATED,
    DEAL_ID,
    HEADPHONES,
    BrandId,
    CatalogBrandShown,
    CatalogDealShown,
    CategoryId,
    DealId,
    Moment,
    TrendingShown,
    of_known_brand,
    read_trending,
)
from bigtime.web.api.dependencies import Editor, PagesOf25, Staff, is_admin
from bigtime.web.api.idempotency import AnswerWrites, Idempotent
from bigtime.web.api.routing import STAFF, V1Router
from bigtime.web.pages import AppRequest
from bigtime.wire import Steps

catalog_editing = V1Router(catalog.SYSTEM, reads=STAFF)


# Bodies


class CatalogDealPut(RequestBody):
    """A whole deal without its id."""

    model_config = example(**HEADPHONES)

    title: catalog.Name
    description: catalog.Description
    price: catalog.GivenPrice
    brand_id: catalog.Id
    brand_name: catalog.Name
    category_id: catalog.Id
    category_name: catalog.Name
    posted_at: Moment | None = Field(
        default=None, alias="createdAt", description="Now, unless it is said."
    )
    status: catalog.DealStatus = catalog.DealStatus.ACTIVE


class NewCatalogDeal(CatalogDealPut):
    """A new deal."""

    model_config = example(dealId=DEAL_ID, **HEADPHONES)

    deal_id: catalog.Id


class CatalogDealChange(RequestBody):
    """The fields of a deal to change; others stay."""

    model_config = example(price=129.99)

    title: catalog.Name = OPTIONAL
    description: catalog.Description = OPTIONAL
    price: catalog.GivenPrice = OPTIONAL
    brand_name: catalog.Name = OPTIONAL
    category_name: catalog.Name = OPTIONAL


class StatusChange(RequestBody):
    """The new status of a deal; `seen` is the one that it must have now."""

    model_config = example(status="featured", seen="active")

    status: catalog.DealStatus
    seen: catalog.DealStatus | None = None


class CatalogBrandPut(RequestBody):
    """A whole brand without its id."""

    model_config = example(brandName="Voltaic")

    brand_name: catalog.Name
    description: catalog.Description | None = None
    logo_url: catalog.Link | None = None


class NewCatalogBrand(CatalogBrandPut):
    """A new brand."""

    model_config = example(brandId="VOLTAIC", brandName="Voltaic")

    brand_id: catalog.Id


class CatalogBrandChange(RequestBody):
    """The fields of a brand to change; others stay."""

    model_config = example(description="Since 1946.")

    brand_name: catalog.Name = OPTIONAL
    description: catalog.Description = OPTIONAL
    logo_url: catalog.Link = OPTIONAL


class Engagement(RequestBody):
    """Views of a deal, and clicks to its offer."""

    model_config = example(views=1, clicks=1)

    views: catalog.GivenCount = 0
    clicks: catalog.GivenCount = 0


class TrendingStart(Engagement):
    """The first figures of a trending deal."""

    model_config = example(discountPercentage=50)

    discount_percentage: catalog.GivenPercentage


WatcherId = Annotated[str | None, Field(description="For admins; null for editors.")]


class BrandWatcherShown(ResponseBody):
    """A user's watch of a brand."""

    model_config = example(brandId="VOLTAIC", userId=None, watchKey="BRAND#VOLTAIC")

    brand_id: str
    user_id: WatcherId
    watch_key: str


class CategoryWatcherShown(ResponseBody):
    """A user's watch of a category."""

    model_config = example(
        categoryId="electronics",
        userId=None,
        watchKey="CATEGORY#electronics",
        targetName="Electronics",
        createdAt=CREATED,
    )

    category_id: str
    user_id: WatcherId
    watch_key: str
    target_name: str | None
    created_at: datetime


class WatchOfTypeShown(ResponseBody):
    """A user's watch, in the list of its type."""

    model_config = example(
        watchType="brand",
        createdAt=CREATED,
        userId=None,
        watchKey="BRAND#VOLTAIC",
        targetName="Voltaic",
    )

    watch_type: catalog.WatchType
    created_at: datetime
    user_id: WatcherId
    watch_key: str
    target_name: str | None


# The list of editors' changes


Written = TypeVar("Written", catalog.Deal, catalog.Brand, catalog.TrendingDeal)


def change_of(
    caller: Visitor, record: Written, action: EditorAction, words: str = ""
) -> Steps[EditorChange]:
    """The log entry of a change; `words` say what was done to a trending deal."""
    if isinstance(record, catalog.Brand):
        what, path = record.brand_name, f"brands/{record.brand_id}"
    else:
        what, path = f"{record.title}{words}", f"deals/{record.deal_id}"
    link = f"/api/v1/catalog/{path}"
    return (yield from new_change(caller.username, action, f"{what} (catalogue)", link))


def note(
    caller: Visitor, write: Steps[Written], action: EditorAction, words: str = ""
) -> Steps[Written]:
    """Writes a record, and logs the change."""
    record = yield from write
    yield from create((yield from change_of(caller, record, action, words)))
    return record


# Deals


@catalog_editing.post("/catalog/deals", status_code=201, response_model=CatalogDealShown)
async def create_deal(caller: Editor, idempotent: Idempotent, body: NewCatalogDeal) -> Response:
    """Creates a deal. Editors only."""

    def write() -> Steps[catalog.Deal]:
        posted_at = body.posted_at or (yield from now())
        deal = catalog.Deal(**{**dict(body), "posted_at": posted_at})
        return (yield from catalog.create_deal(deal))

    return await idempotent.run(
        lambda: note(caller, write(), EditorAction.CREATED_DEAL),
        CatalogDealShown.model_validate,
    )


@catalog_editing.put("/catalog/deals/{dealId:path}/status", response_model=CatalogDealShown)
async def change_deal_status(
    request: AppRequest, caller: Editor, deal_id: DealId, body: StatusChange
) -> catalog.Deal:
    """Changes the status of a deal. Editors only."""
    return await request.run(
        note(caller, catalog.change_deal_status(deal_id, **dict(body)), EditorAction.CHANGED_DEAL)
    )


@catalog_editing.post("/catalog/deals/{dealId:path}/expiry", response_model=CatalogDealShown)
async def expire_deal(request: AppRequest, caller: Editor, deal_id: DealId) -> catalog.Deal:
    """Expires a deal. Editors only."""
    return await request.run(note(caller, catalog.expire_deal(deal_id), EditorAction.CHANGED_DEAL))


@catalog_editing.post(
    "/catalog/deals/{dealId:path}/trending", status_code=201, response_model=TrendingShown
)
async def start_trending(
    caller: Editor, idempotent: Idempotent, deal_id: DealId, body: TrendingStart
) -> Response:
    """Adds a deal to the trending deals of its category. Editors only."""

    def start() -> Steps[catalog.TrendingDeal]:
        steps = catalog.start_trending(deal_id, **dict(body))
        return note(caller, steps, EditorAction.CHANGED_DEAL, ": trending")

    return await idempotent.run(start, TrendingShown.model_validate)


@catalog_editing.put("/catalog/deals/{dealId:path}", response_model=CatalogDealShown)
async def put_deal(
    request: AppRequest, caller: Editor, deal_id: DealId, body: CatalogDealPut
) -> catalog.Deal:
    """Creates or replaces a deal; the time of its posting stays, unless given. Editors only."""

    def write() -> Steps[catalog.Deal]:
        posted_at = body.posted_at
        if posted_at is None:
            with suppress(catalog.UnknownDeal):
                posted_at = (yield from catalog.get_deal_by_id(deal_id)).posted_at
        fields = {**dict(body), "posted_at": posted_at or (yield from now())}
        return (yield from catalog.put_deal(catalog.Deal(deal_id=deal_id, **fields)))

    return await request.run(note(caller, write(), EditorAction.CHANGED_DEAL))


@catalog_editing.patch("/catalog/deals/{dealId:path}", response_model=CatalogDealShown)
async def update_deal(
    request: AppRequest, caller: Editor, deal_id: DealId, body: CatalogDealChange
) -> catalog.Deal:
    """Changes some fields of a deal. Editors only."""
    return await request.run(
        note(caller, catalog.update_deal(deal_id, **body.given_fields()), EditorAction.CHANGED_DEAL)
    )


# Brands


@catalog_editing.post("/catalog/brands", status_code=201, response_model=CatalogBrandShown)
async def create_brand(caller: Editor, idempotent: Idempotent, body: NewCatalogBrand) -> Response:
    """Creates a brand. Editors only."""

    def write() -> Steps[catalog.Brand]:
        brand = catalog.Brand(created_at=(yield from now()), **dict(body))
        return (yield from catalog.create_brand(brand))

    return await idempotent.run(
        lambda: note(caller, write(), EditorAction.CREATED_BRAND),
        CatalogBrandShown.model_validate,
    )


@catalog_editing.put("/catalog/brands/{brandId:path}", response_model=CatalogBrandShown)
async def put_brand(
    request: AppRequest, caller: Editor, brand_id: BrandId, body: CatalogBrandPut
) -> catalog.Brand:
    """Creates or replaces a brand; its creation time stays. Editors only."""

    def write() -> Steps[catalog.Brand]:
        created_at = yield from now()
        with suppress(catalog.UnknownBrand):
            created_at = (yield from catalog.get_brand_by_id(brand_id, consistent=True)).created_at
        brand = catalog.Brand(brand_id=brand_id, created_at=created_at, **dict(body))
        return (yield from catalog.put_brand(brand))

    return await request.run(note(caller, write(), EditorAction.CHANGED_BRAND))


@catalog_editing.patch("/catalog/brands/{brandId:path}", response_model=CatalogBrandShown)
async def update_brand(
    request: AppRequest, caller: Editor, brand_id: BrandId, body: CatalogBrandChange
) -> catalog.Brand:
    """Changes some fields of a brand. Editors only."""
    return await request.run(
        note(
            caller,
            catalog.update_brand(brand_id, **body.given_fields()),
            EditorAction.CHANGED_BRAND,
        )
    )


# Trending deals


@catalog_editing.post(
    "/catalog/categories/{categoryId:path}/trending/{dealId}/engagement",
    response_model=TrendingShown,
)
async def record_engagement(
    caller: Editor,
    idempotent: Idempotent,
    category_id: CategoryId,
    deal_id: DealId,
    body: Engagement,
) -> Response:
    """Adds to the views and clicks of a trending deal. Editors only."""

    def record(answer_writes: AnswerWrites | None) -> Steps[catalog.TrendingDeal]:
        """Repeating it would count twice, so the response is recorded in the same transaction."""
        for _ in range(catalog.TRIES):
            seen = yield from read_trending(category_id, deal_id)
            after = catalog.with_engagement(
                seen, views=seen.views + body.views, clicks=seen.clicks + body.clicks
            )
            change = yield from change_of(caller, after, EditorAction.CHANGED_DEAL, ": engagement")
            noted = answer_writes(after) if answer_writes else ()
            token = None if answer_writes else (yield from random_bytes(16)).hex()
            writes = (*catalog.rank_writes(seen, after), create(change), *noted)
            with suppress(catalog.EngagementMoved, Conflict):
                yield from transact(*writes, token=token)
                return after
        raise catalog.EngagementMoved

    return await idempotent.run_recorded(record, TrendingShown.model_validate, status=200)


@catalog_editing.delete("/catalog/categories/{categoryId:path}/trending/{dealId}", status_code=204)
async def stop_trending(
    request: AppRequest, caller: Editor, category_id: CategoryId, deal_id: DealId
) -> None:
    """Removes a deal from the trending deals of its category. Editors only."""

    def stop() -> Steps[None]:
        place = yield from read_trending(category_id, deal_id)
        yield from catalog.stop_trending(category_id, deal_id)
        words = ": no longer trending"
        yield from create((yield from change_of(caller, place, EditorAction.CHANGED_DEAL, words)))

    await request.run(stop())


# Watchers


@catalog_editing.get(
    "/catalog/brands/{brandId:path}/watchers", response_model=Listed[BrandWatcherShown]
)
async def get_brand_watchers(
    caller: Staff, paging: PagesOf25, brand_id: BrandId
) -> Items[BrandWatcherShown]:
    """Lists the watches of a brand, for admins with their users. Editors and admins only."""
    steps = of_known_brand(brand_id, catalog.get_brand_watchers(brand_id, **paging.query))
    return await paging.run_and_show(steps, watcher_for(caller, BrandWatcherShown))


@catalog_editing.get(
    "/catalog/categories/{categoryId:path}/watchers", response_model=Listed[CategoryWatcherShown]
)
async def get_category_watchers(
    caller: Staff, paging: PagesOf25, category_id: CategoryId
) -> Items[CategoryWatcherShown]:
    """Lists the watches of a category, for admins with their users. Editors and admins only."""
    steps = catalog.get_category_watchers(category_id, **paging.query)
    return await paging.run_and_show(steps, watcher_for(caller, CategoryWatcherShown))


@catalog_editing.get("/catalog/watches", response_model=Listed[WatchOfTypeShown])
async def get_watches_by_type(
    caller: Staff,
    paging: PagesOf25,
    watch_type: Annotated[catalog.WatchType, Query(alias="watchType")],
    ascending: bool = False,
) -> Items[WatchOfTypeShown]:
    """Lists the watches of a type, for admins with their users. Editors and admins only."""
    steps = catalog.get_watches_by_type(watch_type, ascending=ascending, **paging.query)
    return await paging.run_and_show(steps, watcher_for(caller, WatchOfTypeShown))


WatcherShown = TypeVar("WatcherShown", BrandWatcherShown, CategoryWatcherShown, WatchOfTypeShown)


def watcher_for(
    caller: Visitor, shape: type[WatcherShown]
) -> Callable[[catalog.BrandWatcher | catalog.CategoryWatcher | catalog.WatchOfType], WatcherShown]:
    """A watch with the fields that the caller may see."""

    def show(
        watch: catalog.BrandWatcher | catalog.CategoryWatcher | catalog.WatchOfType,
    ) -> WatcherShown:
        shown = shape.model_validate(watch)
        return shown if is_admin(caller) else shown.model_copy(update={"user_id": None})

    return show
