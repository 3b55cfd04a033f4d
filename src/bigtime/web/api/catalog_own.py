"""What is the caller's own in the catalogue: who they are, what they watch, what they did."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from bigtime.model import Page, Position, Steps, get, now
from bigtime.systems.catalog.activities import (
    PAGE,
    get_user_activities,
    get_user_activities_after,
    get_user_notifications,
    record_activity,
)
from bigtime.systems.catalog.design import User, UserActivity, UserWatch
from bigtime.systems.catalog.errors import AlreadyWatching, NotWatching, UnknownUser
from bigtime.systems.catalog.users import create_user, get_user_by_id, put_user, update_user
from bigtime.systems.catalog.watches import (
    brand_in_category_key,
    brand_key,
    category_key,
    get_user_watches,
    unwatch,
    watch_brand,
    watch_brand_in_category,
    watch_category,
)
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

# Users


def new_user(user_id: str, **told: Any) -> Steps[User]:
    moment = yield from now()
    return (
        yield from create_user(User(user_id=user_id, username=user_id, created_at=moment, **told))
    )


def written_user(user_id: str, **told: Any) -> Steps[User]:
    """Since when somebody is here stays, and so does when they were last."""
    before: dict[str, Any] = {"created_at": (yield from now())}
    with suppress(UnknownUser):
        there = yield from get_user_by_id(user_id, consistent=True)
        before = {"created_at": there.created_at, "last_login": there.last_login}
    return (yield from put_user(User(user_id=user_id, username=user_id, **before, **told)))


# Watches


def watching_brand(user_id: str, brand_id: str) -> Steps[UserWatch]:
    return (yield from watched(watch_brand(user_id, brand_id), user_id, brand_key(brand_id)))


def watching_category(
    user_id: str, category_id: str, *, category_name: GivenName | None = None
) -> Steps[UserWatch]:
    steps = watch_category(user_id, category_id, category_name=category_name)
    return (yield from watched(steps, user_id, category_key(category_id)))


def watching_brand_in_category(user_id: str, brand_id: str, category_id: str) -> Steps[UserWatch]:
    steps = watch_brand_in_category(user_id, brand_id, category_id)
    key = brand_in_category_key(brand_id, category_id)
    return (yield from watched(steps, user_id, key))


def watched(watch: Steps[UserWatch], user_id: str, watch_key: str) -> Steps[UserWatch]:
    """The watch that is made, or that is there already."""
    try:
        return (yield from watch)
    except AlreadyWatching:
        key = UserWatch.key(user_id, watch_key)
        return (yield from get(key, missing=NotWatching, consistent=True))


def unwatched(user_id: str, watch_key: str) -> Steps[None]:
    with suppress(NotWatching):
        yield from unwatch(user_id, watch_key)


# Activities


def activities_since(
    user_id: str,
    since_timestamp: Moment,
    *,
    ascending: bool = True,
    limit: int = PAGE,
    after: Position | None = None,
) -> Steps[Page[UserActivity]]:
    return (
        yield from get_user_activities_after(
            user_id, since_timestamp, ascending=ascending, limit=limit, after=after
        )
    )


def new_activity(
    user_id: str, timestamp: datetime | None = None, **told: Any
) -> Steps[UserActivity]:
    moment = timestamp or (yield from now())
    return (yield from record_activity(UserActivity(user_id=user_id, timestamp=moment, **told)))


OF_CALLER: Final = (
    Endpoint(
        "POST",
        "/me/catalog/user",
        create_user,
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
        get_user_by_id,
        May.SIGNED_IN,
        one(CatalogUserShown),
        asks=("consistent",),
    ),
    Endpoint(
        "PUT",
        "/me/catalog/user",
        put_user,
        May.SIGNED_IN,
        one(CatalogUserShown),
        runs=written_user,
        body=CatalogUserPut,
    ),
    Endpoint(
        "PATCH",
        "/me/catalog/user",
        update_user,
        May.SIGNED_IN,
        one(CatalogUserShown),
        body=CatalogUserChange,
    ),
    Endpoint(
        "GET",
        "/me/catalog/watches",
        get_user_watches,
        May.SIGNED_IN,
        page_of(WatchShown),
        asks=("consistent",),
    ),
    Endpoint(
        "PUT",
        "/me/catalog/watches/brands/{brandId}",
        watch_brand,
        May.SIGNED_IN,
        one(WatchShown),
        runs=watching_brand,
        limit="like",
    ),
    Endpoint(
        "PUT",
        "/me/catalog/watches/categories/{categoryId}",
        watch_category,
        May.SIGNED_IN,
        one(WatchShown),
        runs=watching_category,
        asks=("category_name",),
        limit="like",
    ),
    Endpoint(
        "PUT",
        "/me/catalog/watches/brands/{brandId}/categories/{categoryId}",
        watch_brand_in_category,
        May.SIGNED_IN,
        one(WatchShown),
        runs=watching_brand_in_category,
        limit="like",
    ),
    Endpoint(
        "DELETE",
        "/me/catalog/watches/{watchKey:path}",
        unwatch,
        May.SIGNED_IN,
        runs=unwatched,
        limit="like",
        note="The key has `#` in it, which is written `%23` in an address.",
    ),
    Endpoint(
        "POST",
        "/me/catalog/activities",
        record_activity,
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
        get_user_activities,
        May.SIGNED_IN,
        page_of(ActivityShown),
        asks=("ascending", "consistent"),
    ),
    Endpoint(
        "GET",
        "/me/catalog/activities/since",
        get_user_activities_after,
        May.SIGNED_IN,
        page_of(ActivityShown),
        runs=activities_since,
        asks=("since_timestamp", "ascending"),
    ),
    Endpoint(
        "GET",
        "/me/catalog/notifications",
        get_user_notifications,
        May.SIGNED_IN,
        page_of(ActivityShown),
    ),
)
