"""`/api/v1/me`: who the caller is in `deals`, what they like and watch, and their messages.

A PUT of a like says how it should be: to like what one likes already is answered like the first
time, and so is a DELETE of a like that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Final

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from bigtime.model import Pattern
from bigtime.site import Visitor
from bigtime.systems import deals
from bigtime.web.api.access import LIKE_LIMITED, CurrentContext, CurrentStore, SignedIn
from bigtime.web.api.bodies import OPTIONAL, FieldErrors, RequestBody, ResponseBody, example
from bigtime.web.api.deals import CREATED, DEAL_ID, BrandName, CategoryName
from bigtime.web.api.errors import OWN
from bigtime.web.api.json_route import V1Router
from bigtime.web.api.once import Idempotent
from bigtime.web.api.paging import FixedPages, Items, Listed
from bigtime.web.pages import AppContext
from bigtime.wire import Steps

deals_own = V1Router(deals.SYSTEM, reads=OWN)

MESSAGE_ID: Final = "3M8cT3vYiO0Op0N2BjBaiDdyiKl"
MOST_NAMES: Final = 100

MessageId = Annotated[str, Path(alias="messageId", min_length=1)]


# Bodies


class UserShown(ResponseBody):
    """Somebody who likes, watches and gets messages."""

    model_config = example(
        username="alex", name="Alex", email="alex@example.com", createdAt=CREATED
    )

    username: str
    name: str
    email: str | None
    created_at: datetime | None


class NewUser(RequestBody):
    """Who the caller is to be; their username is that of their account."""

    model_config = example(name="Alex")

    name: deals.GivenName | None = None
    email: deals.GivenEmail | None = None


class UserChange(RequestBody):
    """What is to change of the caller; the rest stays."""

    model_config = example(name="Alexandra")

    name: deals.GivenName | None = OPTIONAL
    email: deals.GivenEmail | None = OPTIONAL


class InterestShown(ResponseBody):
    """Whether the caller likes something, and whether they watch it."""

    model_config = example(liked=True, watched=False)

    liked: bool
    watched: bool


class NamedInterest(InterestShown):
    """The same, of something by its name."""

    model_config = example(name="Apple", liked=True, watched=False)

    name: str


class InterestsShown(ResponseBody):
    """Of those that were asked for, the ones that the caller likes or watches."""

    items: list[NamedInterest]


class MessageShown(ResponseBody):
    """News for the caller."""

    model_config = example(
        messageId=MESSAGE_ID,
        kind="hot",
        dealId=DEAL_ID,
        subject="Hot: A brass lamp",
        unread=True,
    )

    message_id: str = Field(description="Newer messages have greater ids.")
    kind: deals.MessageKind
    deal_id: str
    subject: str
    unread: bool


class CountShown(ResponseBody):
    """How many there are."""

    model_config = example(count=3)

    count: int


class MessagesRead(RequestBody):
    """Messages that were read; all of them are marked, or none."""

    model_config = example(messageIds=[MESSAGE_ID])

    message_ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=deals.PAGE)
    ]


# Users


@deals_own.post("/me/user", status_code=201, response_model=UserShown)
async def create_user(caller: SignedIn, idempotent: Idempotent, body: NewUser) -> Response:
    """Creates your profile. Whoever has signed up on the site has one already."""
    return await idempotent.run(
        lambda: deals.create_user(caller.username, **dict(body)), UserShown.model_validate
    )


@deals_own.get("/me/user", response_model=UserShown)
async def read_user(store: CurrentStore, caller: SignedIn) -> deals.User:
    """Returns your profile."""
    return await store.run(deals.read_user(caller.username))


@deals_own.patch("/me/user", response_model=UserShown)
async def update_user(store: CurrentStore, caller: SignedIn, body: UserChange) -> deals.User:
    """Changes your name or e-mail address."""
    return await store.run(deals.update_user(caller.username, **body.given()))


# Likes and watches


async def set_brand_interest(
    context: AppContext, caller: Visitor, brand_name: str, write: Pattern[..., None]
) -> None:
    await context.store.run(set_interest(write(brand_name, caller.username)))


async def set_category_interest(
    context: AppContext, caller: Visitor, category_name: str, write: Pattern[..., None]
) -> None:
    await context.store.run(set_interest(write(category_name, caller.username)))


def set_interest(write: Steps[None]) -> Steps[None]:
    """Likes or watches something, or no longer; what is so already stays so."""
    with suppress(deals.AlreadyLiked, deals.NotLiked, deals.AlreadyWatched, deals.NotWatched):
        yield from write


@deals_own.put("/me/brands/{brandName:path}/like", status_code=204, **LIKE_LIMITED)
async def like_brand(context: CurrentContext, caller: SignedIn, brand_name: BrandName) -> None:
    """Likes a brand."""
    await set_brand_interest(context, caller, brand_name, deals.like_brand)


@deals_own.put("/me/categories/{categoryName:path}/like", status_code=204, **LIKE_LIMITED)
async def like_category(
    context: CurrentContext, caller: SignedIn, category_name: CategoryName
) -> None:
    """Likes a category."""
    await set_category_interest(context, caller, category_name, deals.like_category)


@deals_own.delete("/me/brands/{brandName:path}/like", status_code=204, **LIKE_LIMITED)
async def unlike_brand(context: CurrentContext, caller: SignedIn, brand_name: BrandName) -> None:
    """Takes back the like of a brand."""
    await set_brand_interest(context, caller, brand_name, deals.unlike_brand)


@deals_own.delete("/me/categories/{categoryName:path}/like", status_code=204, **LIKE_LIMITED)
async def unlike_category(
    context: CurrentContext, caller: SignedIn, category_name: CategoryName
) -> None:
    """Takes back the like of a category."""
    await set_category_interest(context, caller, category_name, deals.unlike_category)


@deals_own.put("/me/brands/{brandName:path}/watch", status_code=204, **LIKE_LIMITED)
async def watch_brand(context: CurrentContext, caller: SignedIn, brand_name: BrandName) -> None:
    """Watches a brand: you are notified of its new deals."""
    await set_brand_interest(context, caller, brand_name, deals.watch_brand)


@deals_own.put("/me/categories/{categoryName:path}/watch", status_code=204, **LIKE_LIMITED)
async def watch_category(
    context: CurrentContext, caller: SignedIn, category_name: CategoryName
) -> None:
    """Watches a category: you are notified of its new deals."""
    await set_category_interest(context, caller, category_name, deals.watch_category)


@deals_own.delete("/me/brands/{brandName:path}/watch", status_code=204, **LIKE_LIMITED)
async def unwatch_brand(context: CurrentContext, caller: SignedIn, brand_name: BrandName) -> None:
    """No longer watches a brand."""
    await set_brand_interest(context, caller, brand_name, deals.unwatch_brand)


@deals_own.delete("/me/categories/{categoryName:path}/watch", status_code=204, **LIKE_LIMITED)
async def unwatch_category(
    context: CurrentContext, caller: SignedIn, category_name: CategoryName
) -> None:
    """No longer watches a category."""
    await set_category_interest(context, caller, category_name, deals.unwatch_category)


@deals_own.get("/me/brands", response_model=InterestsShown)
async def fetch_brand_interests(
    store: CurrentStore,
    caller: SignedIn,
    brand_names: Annotated[
        list[deals.GivenBrandKey],
        FieldErrors,
        Query(alias="brandNames", min_length=1, max_length=MOST_NAMES),
    ],
) -> InterestsShown:
    """Returns which of these brands you like or watch."""
    found = await store.run(deals.fetch_brand_interests(brand_names, caller.username))
    return show_interests(found)


@deals_own.get("/me/categories", response_model=InterestsShown)
async def fetch_category_interests(
    store: CurrentStore,
    caller: SignedIn,
    category_names: Annotated[
        list[deals.GivenCategory],
        FieldErrors,
        Query(alias="categoryNames", min_length=1, max_length=MOST_NAMES),
    ],
) -> InterestsShown:
    """Returns which of these categories you like or watch."""
    found = await store.run(deals.fetch_category_interests(category_names, caller.username))
    return show_interests(found)


def show_interests(found: Mapping[str, deals.Interest]) -> InterestsShown:
    items = [
        NamedInterest(name=name, liked=interest.liked, watched=interest.watched)
        for name, interest in found.items()
    ]
    return InterestsShown(items=items)


@deals_own.get("/me/brands/{brandName:path}", response_model=InterestShown)
async def fetch_brand_interest(
    store: CurrentStore, caller: SignedIn, brand_name: BrandName
) -> deals.Interest:
    """Returns whether you like a brand, and whether you watch it."""
    return await store.run(deals.fetch_brand_interest(brand_name, caller.username))


@deals_own.get("/me/categories/{categoryName:path}", response_model=InterestShown)
async def fetch_category_interest(
    store: CurrentStore, caller: SignedIn, category_name: CategoryName
) -> deals.Interest:
    """Returns whether you like a category, and whether you watch it."""
    return await store.run(deals.fetch_category_interest(category_name, caller.username))


# Messages


@deals_own.get("/me/messages", response_model=Listed[MessageShown])
async def view_messages(
    store: CurrentStore, caller: SignedIn, paging: FixedPages
) -> Items[deals.Message]:
    """Lists your messages, newest first."""
    return paging.items(await store.run(deals.view_messages(caller.username, after=paging.after)))


@deals_own.get("/me/messages/unread", response_model=Listed[MessageShown])
async def view_unread_messages(
    store: CurrentStore, caller: SignedIn, paging: FixedPages
) -> Items[deals.Message]:
    """Lists the messages that you have not read, newest first."""
    steps = deals.view_unread_messages(caller.username, after=paging.after)
    return paging.items(await store.run(steps))


@deals_own.get("/me/messages/unread/count", response_model=CountShown)
async def count_unread_messages(store: CurrentStore, caller: SignedIn) -> CountShown:
    """Returns how many messages you have not read."""
    return CountShown(count=await store.run(deals.count_unread_messages(caller.username)))


@deals_own.post("/me/messages/read", status_code=204)
async def mark_messages_as_read(
    context: CurrentContext, caller: SignedIn, body: MessagesRead
) -> None:
    """Marks up to 25 messages as read: all of them, or none."""
    message_ids = [deals.message_id_of(message_id) for message_id in body.message_ids]
    await context.store.run(deals.mark_messages_as_read(caller.username, message_ids))


@deals_own.get("/me/messages/{messageId}", response_model=MessageShown)
async def fetch_message(
    store: CurrentStore, caller: SignedIn, message_id: MessageId
) -> deals.Message:
    """Returns one of your messages."""
    found = deals.message_id_of(message_id)
    return await store.run(deals.fetch_message(caller.username, found))


@deals_own.put("/me/messages/{messageId}/read", response_model=MessageShown)
async def mark_message_as_read(
    context: CurrentContext, caller: SignedIn, message_id: MessageId
) -> deals.Message:
    """Marks one of your messages as read."""
    found = deals.message_id_of(message_id)
    return await context.store.run(deals.mark_message_as_read(caller.username, found))
