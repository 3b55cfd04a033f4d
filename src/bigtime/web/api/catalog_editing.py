"""What editors write in the catalogue.

Most of its patterns write one item, and join no transaction. So a change is noted after it is made:
a crash in between leaves it made, and not in the list of changes. Nothing is in the list that has
not happened.

Who watches is not told here: editors see that somebody does.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from bigtime.model import Conflict, Pattern, create, now, random_bytes, transact
from bigtime.site import EditorAction, EditorChange, Visitor, new_change
from bigtime.systems import catalog
from bigtime.web.api.catalog_brand_shapes import (
    CatalogBrandChange,
    CatalogBrandPut,
    CatalogBrandShown,
    NewCatalogBrand,
)
from bigtime.web.api.catalog_deal_shapes import (
    CatalogDealChange,
    CatalogDealPut,
    CatalogDealShown,
    Engagement,
    NewCatalogDeal,
    StatusChange,
    TrendingShown,
    TrendingStart,
)
from bigtime.web.api.catalog_reading import trending_deal
from bigtime.web.api.catalog_user_shapes import (
    BrandWatcherShown,
    CategoryWatcherShown,
    WatchOfTypeShown,
)
from bigtime.web.api.endpoint import CREATED, Endpoint, May, Noting, Running
from bigtime.web.api.showing import one, page_of
from bigtime.wire import Steps

# Noting


def note(caller: Visitor, action: EditorAction, what: str, path: str) -> Steps[None]:
    yield from create((yield from change_of(caller, action, what, path)))


def change_of(caller: Visitor, action: EditorAction, what: str, path: str) -> Steps[EditorChange]:
    link = f"/api/v1/catalog/{path}"
    return (yield from new_change(caller.username, action, f"{what} (catalogue)", link))


def note_deal(caller: Visitor, action: EditorAction, deal: catalog.Deal) -> Steps[catalog.Deal]:
    yield from note(caller, action, deal.title, f"deals/{deal.deal_id}")
    return deal


def note_brand(caller: Visitor, action: EditorAction, brand: catalog.Brand) -> Steps[catalog.Brand]:
    yield from note(caller, action, brand.brand_name, f"brands/{brand.brand_id}")
    return brand


# Deals


def new_deal(
    caller: Visitor, posted_at: datetime | None = None, **told: Any
) -> Steps[catalog.Deal]:
    deal = catalog.Deal(posted_at=posted_at or (yield from now()), **told)
    made = yield from catalog.create_deal(deal)
    return (yield from note_deal(caller, EditorAction.CREATED_DEAL, made))


def written_deal(
    caller: Visitor, deal_id: str, posted_at: datetime | None = None, **told: Any
) -> Steps[catalog.Deal]:
    """When a deal was posted stays, unless it is said."""
    if posted_at is None:
        with suppress(catalog.UnknownDeal):
            posted_at = (yield from catalog.get_deal_by_id(deal_id)).posted_at
    deal = catalog.Deal(deal_id=deal_id, posted_at=posted_at or (yield from now()), **told)
    made = yield from catalog.put_deal(deal)
    return (yield from note_deal(caller, EditorAction.CHANGED_DEAL, made))


def changing_deal(pattern: Pattern[..., catalog.Deal]) -> Running:
    def run(caller: Visitor, deal_id: str, **told: Any) -> Steps[catalog.Deal]:
        deal = yield from pattern(deal_id, **told)
        return (yield from note_deal(caller, EditorAction.CHANGED_DEAL, deal))

    return run


# Brands


def new_brand(caller: Visitor, **told: Any) -> Steps[catalog.Brand]:
    made = yield from catalog.create_brand(catalog.Brand(created_at=(yield from now()), **told))
    return (yield from note_brand(caller, EditorAction.CREATED_BRAND, made))


def written_brand(caller: Visitor, brand_id: str, **told: Any) -> Steps[catalog.Brand]:
    """When a brand was made stays."""
    created_at = yield from now()
    with suppress(catalog.UnknownBrand):
        created_at = (yield from catalog.get_brand_by_id(brand_id, consistent=True)).created_at
    made = yield from catalog.put_brand(
        catalog.Brand(brand_id=brand_id, created_at=created_at, **told)
    )
    return (yield from note_brand(caller, EditorAction.CHANGED_BRAND, made))


def changed_brand(caller: Visitor, brand_id: str, **told: Any) -> Steps[catalog.Brand]:
    brand = yield from catalog.update_brand(brand_id, **told)
    return (yield from note_brand(caller, EditorAction.CHANGED_BRAND, brand))


# Trending deals


def started(caller: Visitor, deal_id: str, **told: Any) -> Steps[catalog.TrendingDeal]:
    place = yield from catalog.start_trending(deal_id, **told)
    yield from note_place(caller, place, "trending")
    return place


def engaged(
    caller: Visitor,
    category_id: str,
    deal_id: str,
    *,
    views: int = 0,
    clicks: int = 0,
    noting: Noting | None = None,
) -> Steps[catalog.TrendingDeal]:
    """To record it twice is to count it twice: it is noted as it is done."""
    for _ in range(catalog.TRIES):
        seen = yield from trending_deal(category_id, deal_id)
        after = catalog.ranked(seen, views=seen.views + views, clicks=seen.clicks + clicks)
        change = yield from change_of_place(caller, after, "engagement")
        noted = noting(after) if noting else ()
        token = None if noting else (yield from random_bytes(16)).hex()
        with suppress(catalog.EngagementMoved, Conflict):
            yield from transact(*catalog.moving(seen, after), create(change), *noted, token=token)
            return after
    raise catalog.EngagementMoved


def stopped(caller: Visitor, category_id: str, deal_id: str) -> Steps[None]:
    place = yield from trending_deal(category_id, deal_id)
    yield from catalog.stop_trending(category_id, deal_id)
    yield from note_place(caller, place, "no longer trending")


def note_place(caller: Visitor, place: catalog.TrendingDeal, words: str) -> Steps[None]:
    yield from create((yield from change_of_place(caller, place, words)))


def change_of_place(
    caller: Visitor, place: catalog.TrendingDeal, words: str
) -> Steps[EditorChange]:
    what = f"{place.title}: {words}"
    action = EditorAction.CHANGED_DEAL
    return (yield from change_of(caller, action, what, f"deals/{place.deal_id}"))


EDITING: Final = (
    Endpoint(
        "POST",
        "/catalog/deals",
        catalog.create_deal,
        May.EDITOR,
        one(CatalogDealShown),
        runs=new_deal,
        body=NewCatalogDeal,
        status=CREATED,
        once=True,
    ),
    Endpoint(
        "PUT",
        "/catalog/deals/{dealId:path}/status",
        catalog.change_deal_status,
        May.EDITOR,
        one(CatalogDealShown),
        runs=changing_deal(catalog.change_deal_status),
        body=StatusChange,
    ),
    Endpoint(
        "POST",
        "/catalog/deals/{dealId:path}/expiry",
        catalog.expire_deal,
        May.EDITOR,
        one(CatalogDealShown),
        runs=changing_deal(catalog.expire_deal),
    ),
    Endpoint(
        "POST",
        "/catalog/deals/{dealId:path}/trending",
        catalog.start_trending,
        May.EDITOR,
        one(TrendingShown),
        runs=started,
        body=TrendingStart,
        status=CREATED,
        once=True,
    ),
    Endpoint(
        "PUT",
        "/catalog/deals/{dealId:path}",
        catalog.put_deal,
        May.EDITOR,
        one(CatalogDealShown),
        runs=written_deal,
        body=CatalogDealPut,
    ),
    Endpoint(
        "PATCH",
        "/catalog/deals/{dealId:path}",
        catalog.update_deal,
        May.EDITOR,
        one(CatalogDealShown),
        runs=changing_deal(catalog.update_deal),
        body=CatalogDealChange,
    ),
    Endpoint(
        "POST",
        "/catalog/brands",
        catalog.create_brand,
        May.EDITOR,
        one(CatalogBrandShown),
        runs=new_brand,
        body=NewCatalogBrand,
        status=CREATED,
        once=True,
    ),
    Endpoint(
        "PUT",
        "/catalog/brands/{brandId:path}",
        catalog.put_brand,
        May.EDITOR,
        one(CatalogBrandShown),
        runs=written_brand,
        body=CatalogBrandPut,
    ),
    Endpoint(
        "PATCH",
        "/catalog/brands/{brandId:path}",
        catalog.update_brand,
        May.EDITOR,
        one(CatalogBrandShown),
        runs=changed_brand,
        body=CatalogBrandChange,
    ),
    Endpoint(
        "POST",
        "/catalog/categories/{categoryId:path}/trending/{dealId}/engagement",
        catalog.record_engagement,
        May.EDITOR,
        one(TrendingShown),
        runs=engaged,
        body=Engagement,
        once=True,
    ),
    Endpoint(
        "DELETE",
        "/catalog/categories/{categoryId:path}/trending/{dealId}",
        catalog.stop_trending,
        May.EDITOR,
        runs=stopped,
    ),
    Endpoint(
        "GET",
        "/catalog/brands/{brandId:path}/watchers",
        catalog.get_brand_watchers,
        May.EDITOR,
        page_of(BrandWatcherShown),
        note="That somebody watches, not who.",
    ),
    Endpoint(
        "GET",
        "/catalog/categories/{categoryId:path}/watchers",
        catalog.get_category_watchers,
        May.EDITOR,
        page_of(CategoryWatcherShown),
        note="That somebody watches, not who.",
    ),
    Endpoint(
        "GET",
        "/catalog/watches",
        catalog.get_watches_by_type,
        May.EDITOR,
        page_of(WatchOfTypeShown),
        asks=("watch_type", "ascending"),
        note="That somebody watches, not who.",
    ),
)
