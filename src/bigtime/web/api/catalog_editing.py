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

from bigtime.model import Conflict, Pattern, Steps, create, now, random_bytes, transact
from bigtime.systems.catalog.brands import create_brand, get_brand_by_id, put_brand, update_brand
from bigtime.systems.catalog.deals import (
    change_deal_status,
    create_deal,
    expire_deal,
    get_deal_by_id,
    put_deal,
    update_deal,
)
from bigtime.systems.catalog.design import Brand, Deal, TrendingDeal
from bigtime.systems.catalog.errors import EngagementMoved, UnknownBrand, UnknownDeal
from bigtime.systems.catalog.trending import (
    TRIES,
    moving,
    ranked,
    record_engagement,
    start_trending,
    stop_trending,
)
from bigtime.systems.catalog.watches import (
    get_brand_watchers,
    get_category_watchers,
    get_watches_by_type,
)
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
from bigtime.web.design import EditorAction, EditorChange
from bigtime.web.editor.changes import new_change
from bigtime.web.visitor import Visitor

# Noting


def note(caller: Visitor, action: EditorAction, what: str, path: str) -> Steps[None]:
    yield from create((yield from change_of(caller, action, what, path)))


def change_of(caller: Visitor, action: EditorAction, what: str, path: str) -> Steps[EditorChange]:
    link = f"/api/v1/catalog/{path}"
    return (yield from new_change(caller.username, action, f"{what} (catalogue)", link))


def note_deal(caller: Visitor, action: EditorAction, deal: Deal) -> Steps[Deal]:
    yield from note(caller, action, deal.title, f"deals/{deal.deal_id}")
    return deal


def note_brand(caller: Visitor, action: EditorAction, brand: Brand) -> Steps[Brand]:
    yield from note(caller, action, brand.brand_name, f"brands/{brand.brand_id}")
    return brand


# Deals


def new_deal(caller: Visitor, posted_at: datetime | None = None, **told: Any) -> Steps[Deal]:
    deal = Deal(posted_at=posted_at or (yield from now()), **told)
    made = yield from create_deal(deal)
    return (yield from note_deal(caller, EditorAction.CREATED_DEAL, made))


def written_deal(
    caller: Visitor, deal_id: str, posted_at: datetime | None = None, **told: Any
) -> Steps[Deal]:
    """When a deal was posted stays, unless it is said."""
    if posted_at is None:
        with suppress(UnknownDeal):
            posted_at = (yield from get_deal_by_id(deal_id)).posted_at
    deal = Deal(deal_id=deal_id, posted_at=posted_at or (yield from now()), **told)
    made = yield from put_deal(deal)
    return (yield from note_deal(caller, EditorAction.CHANGED_DEAL, made))


def changing_deal(pattern: Pattern[..., Deal]) -> Running:
    def run(caller: Visitor, deal_id: str, **told: Any) -> Steps[Deal]:
        deal = yield from pattern(deal_id, **told)
        return (yield from note_deal(caller, EditorAction.CHANGED_DEAL, deal))

    return run


# Brands


def new_brand(caller: Visitor, **told: Any) -> Steps[Brand]:
    made = yield from create_brand(Brand(created_at=(yield from now()), **told))
    return (yield from note_brand(caller, EditorAction.CREATED_BRAND, made))


def written_brand(caller: Visitor, brand_id: str, **told: Any) -> Steps[Brand]:
    """When a brand was made stays."""
    created_at = yield from now()
    with suppress(UnknownBrand):
        created_at = (yield from get_brand_by_id(brand_id, consistent=True)).created_at
    made = yield from put_brand(Brand(brand_id=brand_id, created_at=created_at, **told))
    return (yield from note_brand(caller, EditorAction.CHANGED_BRAND, made))


def changed_brand(caller: Visitor, brand_id: str, **told: Any) -> Steps[Brand]:
    brand = yield from update_brand(brand_id, **told)
    return (yield from note_brand(caller, EditorAction.CHANGED_BRAND, brand))


# Trending deals


def started(caller: Visitor, deal_id: str, **told: Any) -> Steps[TrendingDeal]:
    place = yield from start_trending(deal_id, **told)
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
) -> Steps[TrendingDeal]:
    """To record it twice is to count it twice: it is noted as it is done."""
    for _ in range(TRIES):
        seen = yield from trending_deal(category_id, deal_id)
        after = ranked(seen, views=seen.views + views, clicks=seen.clicks + clicks)
        change = yield from change_of_place(caller, after, "engagement")
        noted = noting(after) if noting else ()
        token = None if noting else (yield from random_bytes(16)).hex()
        with suppress(EngagementMoved, Conflict):
            yield from transact(*moving(seen, after), create(change), *noted, token=token)
            return after
    raise EngagementMoved


def stopped(caller: Visitor, category_id: str, deal_id: str) -> Steps[None]:
    place = yield from trending_deal(category_id, deal_id)
    yield from stop_trending(category_id, deal_id)
    yield from note_place(caller, place, "no longer trending")


def note_place(caller: Visitor, place: TrendingDeal, words: str) -> Steps[None]:
    yield from create((yield from change_of_place(caller, place, words)))


def change_of_place(caller: Visitor, place: TrendingDeal, words: str) -> Steps[EditorChange]:
    what = f"{place.title}: {words}"
    action = EditorAction.CHANGED_DEAL
    return (yield from change_of(caller, action, what, f"deals/{place.deal_id}"))


EDITING: Final = (
    Endpoint(
        "POST",
        "/catalog/deals",
        create_deal,
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
        change_deal_status,
        May.EDITOR,
        one(CatalogDealShown),
        runs=changing_deal(change_deal_status),
        body=StatusChange,
    ),
    Endpoint(
        "POST",
        "/catalog/deals/{dealId:path}/expiry",
        expire_deal,
        May.EDITOR,
        one(CatalogDealShown),
        runs=changing_deal(expire_deal),
    ),
    Endpoint(
        "POST",
        "/catalog/deals/{dealId:path}/trending",
        start_trending,
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
        put_deal,
        May.EDITOR,
        one(CatalogDealShown),
        runs=written_deal,
        body=CatalogDealPut,
    ),
    Endpoint(
        "PATCH",
        "/catalog/deals/{dealId:path}",
        update_deal,
        May.EDITOR,
        one(CatalogDealShown),
        runs=changing_deal(update_deal),
        body=CatalogDealChange,
    ),
    Endpoint(
        "POST",
        "/catalog/brands",
        create_brand,
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
        put_brand,
        May.EDITOR,
        one(CatalogBrandShown),
        runs=written_brand,
        body=CatalogBrandPut,
    ),
    Endpoint(
        "PATCH",
        "/catalog/brands/{brandId:path}",
        update_brand,
        May.EDITOR,
        one(CatalogBrandShown),
        runs=changed_brand,
        body=CatalogBrandChange,
    ),
    Endpoint(
        "POST",
        "/catalog/categories/{categoryId:path}/trending/{dealId}/engagement",
        record_engagement,
        May.EDITOR,
        one(TrendingShown),
        runs=engaged,
        body=Engagement,
        once=True,
    ),
    Endpoint(
        "DELETE",
        "/catalog/categories/{categoryId:path}/trending/{dealId}",
        stop_trending,
        May.EDITOR,
        runs=stopped,
    ),
    Endpoint(
        "GET",
        "/catalog/brands/{brandId:path}/watchers",
        get_brand_watchers,
        May.EDITOR,
        page_of(BrandWatcherShown),
        note="That somebody watches, not who.",
    ),
    Endpoint(
        "GET",
        "/catalog/categories/{categoryId:path}/watchers",
        get_category_watchers,
        May.EDITOR,
        page_of(CategoryWatcherShown),
        note="That somebody watches, not who.",
    ),
    Endpoint(
        "GET",
        "/catalog/watches",
        get_watches_by_type,
        May.EDITOR,
        page_of(WatchOfTypeShown),
        asks=("watch_type", "ascending"),
        note="That somebody watches, not who.",
    ),
)
