"""`/api/v1/me/catalog`: the caller's profile, watches and activities in the catalogue."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final

from fastapi import Path, Query
from pydantic import Field, PlainSerializer, WithJsonSchema
from starlette.responses import Response

from bigtime.model import get, now
from bigtime.systems import catalog
from bigtime.web.api import bodies
from bigtime.web.api.catalog import CREATED, BrandId, CategoryId, Moment
from bigtime.web.api.dependencies import LIKE_LIMITED, PagesOf25, SignedIn
from bigtime.web.api.idempotency import Idempotent
from bigtime.web.api.routing import OWN, V1Router
from bigtime.web.pages import AppRequest
from bigtime.wire import Steps

catalog_own = V1Router(catalog.SYSTEM, reads=OWN)

MOST_DETAIL: Final = 1_000
DetailName = Annotated[str, Field(min_length=1, max_length=100)]
DetailNumber = Annotated[
    Decimal,
    Field(max_digits=20, decimal_places=6),
    WithJsonSchema({"type": "number", "minimum": -(10**13), "maximum": 10**13}),
]
Detail = bool | Annotated[str, Field(max_length=MOST_DETAIL)] | DetailNumber


# Bodies


class CatalogUserShown(bodies.ResponseBody):
    """A user of the catalog."""

    model_config = bodies.example(
        userId="alex",
        username="alex",
        email="alex@example.com",
        displayName="Alex",
        createdAt=CREATED,
        lastLogin=None,
    )

    user_id: str
    username: str
    email: str
    display_name: str
    created_at: datetime
    last_login: datetime | None


class CatalogUserPut(bodies.RequestBody):
    """Your whole profile in the catalog; id and username are those of your account."""

    model_config = bodies.example(email="alex@example.com", displayName="Alex")

    email: catalog.Email
    display_name: catalog.Name


class CatalogUserChange(bodies.RequestBody):
    """The fields of your profile to change; others stay."""

    model_config = bodies.example(displayName="Alexandra")

    email: catalog.Email = bodies.OPTIONAL
    display_name: catalog.Name = bodies.OPTIONAL
    last_login: Moment = bodies.OPTIONAL


class WatchShown(bodies.ResponseBody):
    """A watch of yours: you are notified of new deals."""

    model_config = bodies.example(
        watchKey="BRAND#VOLTAIC",
        watchType="brand",
        createdAt=CREATED,
        targetId="VOLTAIC",
        targetName="Voltaic",
        brandId="VOLTAIC",
        categoryId=None,
    )

    watch_key: str
    watch_type: catalog.WatchType
    created_at: datetime
    target_id: str | None
    target_name: str | None
    brand_id: str | None
    category_id: str | None


def plain_numbers(value: object) -> object:
    """Converts decimals to JSON numbers."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {name: plain_numbers(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_numbers(item) for item in value]
    return value


class ActivityShown(bodies.ResponseBody):
    """Something you did, or were notified of."""

    model_config = bodies.example(
        timestamp=CREATED,
        activityId="activity-view-deal-12345",
        activityType="deal_view",
        details={"deal_id": "deal-12345", "duration_seconds": 45},
    )

    timestamp: datetime
    activity_id: str
    activity_type: str
    details: Annotated[dict[str, Any] | None, PlainSerializer(plain_numbers, when_used="json")]


class NewActivity(bodies.RequestBody):
    """Something you did."""

    model_config = bodies.example(
        activityId="activity-view-deal-12345",
        activityType="deal_view",
        details={"deal_id": "deal-12345", "duration_seconds": 45},
    )

    activity_id: catalog.ActivityId
    activity_type: catalog.Name
    timestamp: Moment | None = Field(default=None, description="Now, unless it is said.")
    details: Annotated[dict[DetailName, Detail], Field(max_length=50)] | None = None


# Users


@catalog_own.post("/me/catalog/user", status_code=201, response_model=CatalogUserShown)
async def create_user(caller: SignedIn, idempotent: Idempotent, body: CatalogUserPut) -> Response:
    """Creates your profile in the catalogue."""

    def write() -> Steps[catalog.User]:
        user = new_user(caller.username, created_at=(yield from now()), **dict(body))
        return (yield from catalog.create_user(user))

    return await idempotent.run(write, CatalogUserShown.model_validate)


@catalog_own.get("/me/catalog/user", response_model=CatalogUserShown)
async def get_user_by_id(
    request: AppRequest, caller: SignedIn, consistent: bool = False
) -> catalog.User:
    """Returns your profile in the catalogue."""
    return await request.run(catalog.get_user_by_id(caller.username, consistent=consistent))


@catalog_own.put("/me/catalog/user", response_model=CatalogUserShown)
async def put_user(request: AppRequest, caller: SignedIn, body: CatalogUserPut) -> catalog.User:
    """Creates or replaces your profile in the catalogue; its creation time stays."""

    def write() -> Steps[catalog.User]:
        before: dict[str, Any] = {"created_at": (yield from now())}
        with suppress(catalog.UnknownUser):
            there = yield from catalog.get_user_by_id(caller.username, consistent=True)
            before = {"created_at": there.created_at, "last_login": there.last_login}
        return (yield from catalog.put_user(new_user(caller.username, **before, **dict(body))))

    return await request.run(write())


@catalog_own.patch("/me/catalog/user", response_model=CatalogUserShown)
async def update_user(
    request: AppRequest, caller: SignedIn, body: CatalogUserChange
) -> catalog.User:
    """Changes some fields of your profile in the catalogue."""
    return await request.run(catalog.update_user(caller.username, **body.given_fields()))


def new_user(username: str, **fields: Any) -> catalog.User:
    return catalog.User(user_id=username, username=username, **fields)


# Watches


@catalog_own.get("/me/catalog/watches", response_model=bodies.Listed[WatchShown])
async def get_user_watches(
    caller: SignedIn, paging: PagesOf25, consistent: bool = False
) -> bodies.Items[catalog.UserWatch]:
    """Lists what you watch."""
    steps = catalog.get_user_watches(caller.username, consistent=consistent, **paging.query)
    return await paging.run(steps)


@catalog_own.put("/me/catalog/watches/brands/{brandId}", response_model=WatchShown, **LIKE_LIMITED)
async def watch_brand(
    request: AppRequest, caller: SignedIn, brand_id: BrandId
) -> catalog.UserWatch:
    """Watches a brand."""
    steps = catalog.watch_brand(caller.username, brand_id)
    return await request.run(watch(steps, caller.username, catalog.brand_key(brand_id)))


@catalog_own.put(
    "/me/catalog/watches/categories/{categoryId}", response_model=WatchShown, **LIKE_LIMITED
)
async def watch_category(
    request: AppRequest,
    caller: SignedIn,
    category_id: CategoryId,
    category_name: Annotated[
        catalog.Name | None, bodies.FieldErrors, Query(alias="categoryName")
    ] = None,
) -> catalog.UserWatch:
    """Watches a category; the watch stores its name."""
    steps = catalog.watch_category(caller.username, category_id, category_name=category_name)
    return await request.run(watch(steps, caller.username, catalog.category_key(category_id)))


@catalog_own.put(
    "/me/catalog/watches/brands/{brandId}/categories/{categoryId}",
    response_model=WatchShown,
    **LIKE_LIMITED,
)
async def watch_brand_in_category(
    request: AppRequest, caller: SignedIn, brand_id: BrandId, category_id: CategoryId
) -> catalog.UserWatch:
    """Watches the deals of a brand in a category."""
    steps = catalog.watch_brand_in_category(caller.username, brand_id, category_id)
    key = catalog.brand_in_category_key(brand_id, category_id)
    return await request.run(watch(steps, caller.username, key))


def watch(
    steps: Steps[catalog.UserWatch], username: str, watch_key: str
) -> Steps[catalog.UserWatch]:
    """The watch that the steps create, or the existing one."""
    try:
        return (yield from steps)
    except catalog.AlreadyWatching:
        key = catalog.UserWatch.key(username, watch_key)
        return (yield from get(key, missing=catalog.NotWatching, consistent=True))


@catalog_own.delete("/me/catalog/watches/{watchKey:path}", status_code=204, **LIKE_LIMITED)
async def unwatch(
    request: AppRequest,
    caller: SignedIn,
    watch_key: Annotated[str, Path(alias="watchKey", min_length=1)],
) -> None:
    """Deletes a watch. Write the `#` in its key as `%23`."""
    with suppress(catalog.NotWatching):
        await request.run(catalog.unwatch(caller.username, watch_key))


# Activities


@catalog_own.post("/me/catalog/activities", status_code=201, response_model=ActivityShown)
async def record_activity(caller: SignedIn, idempotent: Idempotent, body: NewActivity) -> Response:
    """Records an activity of yours."""

    def record() -> Steps[catalog.UserActivity]:
        fields = {**dict(body), "timestamp": body.timestamp or (yield from now())}
        activity = catalog.UserActivity(user_id=caller.username, **fields)
        return (yield from catalog.record_activity(activity))

    return await idempotent.run(record, ActivityShown.model_validate)


@catalog_own.get("/me/catalog/activities", response_model=bodies.Listed[ActivityShown])
async def get_user_activities(
    caller: SignedIn, paging: PagesOf25, ascending: bool = False, consistent: bool = False
) -> bodies.Items[catalog.UserActivity]:
    """Lists your activities, newest first."""
    steps = catalog.get_user_activities(
        caller.username, ascending=ascending, consistent=consistent, **paging.query
    )
    return await paging.run(steps)


@catalog_own.get("/me/catalog/activities/since", response_model=bodies.Listed[ActivityShown])
async def get_user_activities_after(
    caller: SignedIn,
    paging: PagesOf25,
    since_timestamp: Annotated[Moment, Query(alias="sinceTimestamp")],
    ascending: bool = True,
) -> bodies.Items[catalog.UserActivity]:
    """Lists your activities since a moment."""
    steps = catalog.get_user_activities_after(
        caller.username, since_timestamp, ascending=ascending, **paging.query
    )
    return await paging.run(steps)


@catalog_own.get("/me/catalog/notifications", response_model=bodies.Listed[ActivityShown])
async def get_user_notifications(
    caller: SignedIn, paging: PagesOf25
) -> bodies.Items[catalog.UserActivity]:
    """Lists your notifications."""
    return await paging.run(catalog.get_user_notifications(caller.username, **paging.query))
