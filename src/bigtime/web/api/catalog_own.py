"""What is the caller's own in the catalogue: who they are, what they watch, what they did."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from bigtime.model import Page, Position, get, now
from bigtime.systems import catalog
from bigtime.web.api.catalog_shapes import GivenName, Moment
from bigtime.web.api.catalog_user_shapes import (
    ActivityShown,
    CatalogUserChange,
    CatalogUserPut,
    CatalogUserShown,
    NewActivity,
    WatchShown,
)
from bigtime.web.api.endpoint import CREATED, Endpoint, May
from bigtime.web.api.showing import one, page_of
from bigtime.wire import Steps

# Users


def new_user(user_id: str, **told: Any) -> Steps[catalog.User]:
    moment = yield from now()
    return (
        yield from catalog.create_user(
            catalog.User(user_id=user_id, username=user_id, created_at=moment, **told)
        )
    )


def written_user(user_id: str, **told: Any) -> Steps[catalog.User]:
    """Since when somebody is here stays, and so does when they were last."""
    before: dict[str, Any] = {"created_at": (yield from now())}
    with suppress(catalog.UnknownUser):
        there = yield from catalog.get_user_by_id(user_id, consistent=True)
        before = {"created_at": there.created_at, "last_login": there.last_login}
    return (
        yield from catalog.put_user(
            catalog.User(user_id=user_id, username=user_id, **before, **told)
        )
    )


# Watches


def watching_brand(user_id: str, brand_id: str) -> Steps[catalog.UserWatch]:
    return (
        yield from watched(
            catalog.watch_brand(user_id, brand_id), user_id, catalog.brand_key(brand_id)
        )
    )


def watching_category(
    user_id: str, category_id: str, *, category_name: GivenName | None = None
) -> Steps[catalog.UserWatch]:
    steps = catalog.watch_category(user_id, category_id, category_name=category_name)
    return (yield from watched(steps, user_id, catalog.category_key(category_id)))


def watching_brand_in_category(
    user_id: str, brand_id: str, category_id: str
) -> Steps[catalog.UserWatch]:
    steps = catalog.watch_brand_in_category(user_id, brand_id, category_id)
    key = catalog.brand_in_category_key(brand_id, category_id)
    return (yield from watched(steps, user_id, key))


def watched(
    watch: Steps[catalog.UserWatch], user_id: str, watch_key: str
) -> Steps[catalog.UserWatch]:
    """The watch that is made, or that is there already."""
    try:
        return (yield from watch)
    except catalog.AlreadyWatching:
        key = catalog.UserWatch.key(user_id, watch_key)
        return (yield from get(key, missing=catalog.NotWatching, consistent=True))


def unwatched(user_id: str, watch_key: str) -> Steps[None]:
    with suppress(catalog.NotWatching):
        yield from catalog.unwatch(user_id, watch_key)


# Activities


def activities_since(
    user_id: str,
    since_timestamp: Moment,
    *,
    ascending: bool = True,
    limit: int = catalog.PAGE,
    after: Position | None = None,
) -> Steps[Page[catalog.UserActivity]]:
    return (
        yield from catalog.get_user_activities_after(
            user_id, since_timestamp, ascending=ascending, limit=limit, after=after
        )
    )


def new_activity(
    user_id: str, timestamp: datetime | None = None, **told: Any
) -> Steps[catalog.UserActivity]:
    moment = timestamp or (yield from now())
    return (
        yield from catalog.record_activity(
            catalog.UserActivity(user_id=user_id, timestamp=moment, **told)
        )
    )


OF_CALLER: Final = (
    Endpoint(
        "POST",
        "/me/catalog/user",
        catalog.create_user,
        May.SIGNED_IN,
        one(CatalogUserShown),
        runs=new_user,
        body=CatalogUserPut,
        status=CREATED,
        once=True,
    ),
    Endpoint(
        "GET",
        "/me/catalog/user",
        catalog.get_user_by_id,
        May.SIGNED_IN,
        one(CatalogUserShown),
        asks=("consistent",),
    ),
    Endpoint(
        "PUT",
        "/me/catalog/user",
        catalog.put_user,
        May.SIGNED_IN,
        one(CatalogUserShown),
        runs=written_user,
        body=CatalogUserPut,
    ),
    Endpoint(
        "PATCH",
        "/me/catalog/user",
        catalog.update_user,
        May.SIGNED_IN,
        one(CatalogUserShown),
        body=CatalogUserChange,
    ),
    Endpoint(
        "GET",
        "/me/catalog/watches",
        catalog.get_user_watches,
        May.SIGNED_IN,
        page_of(WatchShown),
        asks=("consistent",),
    ),
    Endpoint(
        "PUT",
        "/me/catalog/watches/brands/{brandId}",
        catalog.watch_brand,
        May.SIGNED_IN,
        one(WatchShown),
        runs=watching_brand,
        limit="like",
    ),
    Endpoint(
        "PUT",
        "/me/catalog/watches/categories/{categoryId}",
        catalog.watch_category,
        May.SIGNED_IN,
        one(WatchShown),
        runs=watching_category,
        asks=("category_name",),
        limit="like",
    ),
    Endpoint(
        "PUT",
        "/me/catalog/watches/brands/{brandId}/categories/{categoryId}",
        catalog.watch_brand_in_category,
        May.SIGNED_IN,
        one(WatchShown),
        runs=watching_brand_in_category,
        limit="like",
    ),
    Endpoint(
        "DELETE",
        "/me/catalog/watches/{watchKey:path}",
        catalog.unwatch,
        May.SIGNED_IN,
        runs=unwatched,
        limit="like",
        note="The key has `#` in it, which is written `%23` in an address.",
    ),
    Endpoint(
        "POST",
        "/me/catalog/activities",
        catalog.record_activity,
        May.SIGNED_IN,
        one(ActivityShown),
        runs=new_activity,
        body=NewActivity,
        status=CREATED,
        once=True,
    ),
    Endpoint(
        "GET",
        "/me/catalog/activities",
        catalog.get_user_activities,
        May.SIGNED_IN,
        page_of(ActivityShown),
        asks=("ascending", "consistent"),
    ),
    Endpoint(
        "GET",
        "/me/catalog/activities/since",
        catalog.get_user_activities_after,
        May.SIGNED_IN,
        page_of(ActivityShown),
        runs=activities_since,
        asks=("since_timestamp", "ascending"),
    ),
    Endpoint(
        "GET",
        "/me/catalog/notifications",
        catalog.get_user_notifications,
        May.SIGNED_IN,
        page_of(ActivityShown),
    ),
)
