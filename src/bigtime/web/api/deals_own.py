"""What is the caller's own in `deals`: who they are, what they like and watch, their messages.

To like what one likes already, or to unlike what one does not, is answered like the first time:
a PUT says how it should be, and it is so.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Final

from pydantic import Field

from bigtime.model import Pattern
from bigtime.systems import deals
from bigtime.web.api.deals_shapes import (
    CountShown,
    GivenBrand,
    GivenCategory,
    InterestShown,
    InterestsShown,
    MessageShown,
    MessagesRead,
    NewUser,
    UserChange,
    UserShown,
)
from bigtime.web.api.endpoint import CREATED, Endpoint, May, Running
from bigtime.web.api.showing import made_by, one, page_of
from bigtime.wire import Steps

LIKE: Final = "like"
"""The limit on how often somebody may like and watch."""
MOST_NAMES: Final = 100


# Liking and watching


def of_brand(deed: Pattern[..., None]) -> Running:
    def run(brand_name: str, username: str) -> Steps[None]:
        with suppress(deals.AlreadyLiked, deals.NotLiked, deals.AlreadyWatched, deals.NotWatched):
            yield from deed(brand_name, username)

    return run


def of_category(deed: Pattern[..., None]) -> Running:
    def run(category_name: str, username: str) -> Steps[None]:
        with suppress(deals.AlreadyLiked, deals.NotLiked, deals.AlreadyWatched, deals.NotWatched):
            yield from deed(category_name, username)

    return run


def brand_deed(method: Any, path: str, deed: Pattern[..., None]) -> Endpoint:
    return Endpoint(
        method,
        f"/me/brands/{{brandName:path}}/{path}",
        deed,
        May.SIGNED_IN,
        runs=of_brand(deed),
        limit=LIKE,
    )


def category_deed(method: Any, path: str, deed: Pattern[..., None]) -> Endpoint:
    return Endpoint(
        method,
        f"/me/categories/{{categoryName:path}}/{path}",
        deed,
        May.SIGNED_IN,
        runs=of_category(deed),
        limit=LIKE,
    )


def interests_in_brands(
    brand_names: Annotated[list[GivenBrand], Field(min_length=1, max_length=MOST_NAMES)],
    username: str,
) -> Steps[dict[str, deals.Interest]]:
    return (yield from deals.fetch_brand_interests(brand_names, username))


def interests_in_categories(
    category_names: Annotated[list[GivenCategory], Field(min_length=1, max_length=MOST_NAMES)],
    username: str,
) -> Steps[dict[str, deals.Interest]]:
    return (yield from deals.fetch_category_interests(category_names, username))


# Messages


def marked(username: str, message_ids: list[str]) -> Steps[None]:
    yield from deals.mark_messages_as_read(
        username, [deals.message_id_of(one) for one in message_ids]
    )


def how_many(count: int) -> CountShown:
    return CountShown(count=count)


OF_CALLER: Final = (
    Endpoint(
        "POST",
        "/me/user",
        deals.create_user,
        May.SIGNED_IN,
        one(UserShown),
        body=NewUser,
        status=CREATED,
        once=True,
        note="Whoever has signed up on the site has one already.",
    ),
    Endpoint("GET", "/me/user", deals.read_user, May.SIGNED_IN, one(UserShown)),
    Endpoint(
        "PATCH", "/me/user", deals.update_user, May.SIGNED_IN, one(UserShown), body=UserChange
    ),
    brand_deed("PUT", "like", deals.like_brand),
    brand_deed("DELETE", "like", deals.unlike_brand),
    brand_deed("PUT", "watch", deals.watch_brand),
    brand_deed("DELETE", "watch", deals.unwatch_brand),
    category_deed("PUT", "like", deals.like_category),
    category_deed("DELETE", "like", deals.unlike_category),
    category_deed("PUT", "watch", deals.watch_category),
    category_deed("DELETE", "watch", deals.unwatch_category),
    Endpoint(
        "GET",
        "/me/brands",
        deals.fetch_brand_interests,
        May.SIGNED_IN,
        made_by(InterestsShown, InterestsShown.of),
        runs=interests_in_brands,
        asks=("brand_names",),
    ),
    Endpoint(
        "GET",
        "/me/categories",
        deals.fetch_category_interests,
        May.SIGNED_IN,
        made_by(InterestsShown, InterestsShown.of),
        runs=interests_in_categories,
        asks=("category_names",),
    ),
    Endpoint(
        "GET",
        "/me/brands/{brandName:path}",
        deals.fetch_brand_interest,
        May.SIGNED_IN,
        one(InterestShown),
    ),
    Endpoint(
        "GET",
        "/me/categories/{categoryName:path}",
        deals.fetch_category_interest,
        May.SIGNED_IN,
        one(InterestShown),
    ),
    Endpoint("GET", "/me/messages", deals.view_messages, May.SIGNED_IN, page_of(MessageShown)),
    Endpoint(
        "GET",
        "/me/messages/unread",
        deals.view_unread_messages,
        May.SIGNED_IN,
        page_of(MessageShown),
    ),
    Endpoint(
        "GET",
        "/me/messages/unread/count",
        deals.count_unread_messages,
        May.SIGNED_IN,
        made_by(CountShown, how_many),
    ),
    Endpoint(
        "POST",
        "/me/messages/read",
        deals.mark_messages_as_read,
        May.SIGNED_IN,
        runs=marked,
        body=MessagesRead,
    ),
    Endpoint(
        "GET", "/me/messages/{messageId}", deals.fetch_message, May.SIGNED_IN, one(MessageShown)
    ),
    Endpoint(
        "PUT",
        "/me/messages/{messageId}/read",
        deals.mark_message_as_read,
        May.SIGNED_IN,
        one(MessageShown),
    ),
)
