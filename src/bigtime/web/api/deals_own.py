"""`/api/v1/me`: the caller's profile, likes, watches, saved deals and messages in `deals`.

PUT and DELETE of a like, a watch or a saved deal are idempotent: a second PUT is answered like the
first, and so is a DELETE of what does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Final

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from bigtime import site
from bigtime.systems import deals
from bigtime.web.api import bodies
from bigtime.web.api.deals import CREATED, DEAL_ID, BrandName, CategoryName, DealId
from bigtime.web.api.dependencies import LIKE_LIMITED, FixedPages, SignedIn
from bigtime.web.api.idempotency import Idempotent
from bigtime.web.api.routing import OWN, V1Router
from bigtime.web.pages import AppRequest
from bigtime.wire import Steps

deals_own = V1Router(deals.SYSTEM, reads=OWN)

MESSAGE_ID: Final = "3M8cT3vYiO0Op0N2BjBaiDdyiKl"
MOST_NAMES: Final = 100

MessageId = Annotated[str, Path(alias="messageId", min_length=1)]


# Bodies


class UserShown(bodies.ResponseBody):
    """A user's profile."""

    model_config = bodies.example(
        username="alex", name="Alex", email="alex@example.com", createdAt=CREATED
    )

    username: str
    name: str
    email: str | None
    created_at: datetime | None


class NewUser(bodies.RequestBody):
    """Your profile; the username is that of your account."""

    model_config = bodies.example(name="Alex")

    name: deals.GivenName | None = None
    email: deals.GivenEmail | None = None


class UserChange(bodies.RequestBody):
    """The fields of your profile to change; others stay."""

    model_config = bodies.example(name="Alexandra")

    name: deals.GivenName | None = bodies.OPTIONAL
    email: deals.GivenEmail | None = bodies.OPTIONAL


class InterestShown(bodies.ResponseBody):
    """Whether you like something, and whether you watch it."""

    model_config = bodies.example(liked=True, watched=False)

    liked: bool
    watched: bool


class NamedInterest(InterestShown):
    """A brand or category, and whether you like and watch it."""

    model_config = bodies.example(name="Oakmere", liked=True, watched=False)

    name: str


class InterestsShown(bodies.ResponseBody):
    """Those of the given names that you like or watch."""

    items: list[NamedInterest]


class SavedDealShown(bodies.ResponseBody):
    """A deal as it was when you saved it."""

    model_config = bodies.example(
        dealId=DEAL_ID, title="A brass lamp", price=19.99, savedAt=CREATED
    )

    deal_id: str
    title: str
    price: bodies.Amount = Field(description="The price that it had then.")
    saved_at: datetime


class SavedDealsShown(bodies.ResponseBody):
    """All deals that you have saved, the latest first."""

    items: list[SavedDealShown]


class MessageShown(bodies.ResponseBody):
    """A message to you."""

    model_config = bodies.example(
        messageId=MESSAGE_ID,
        sentAt=CREATED,
        kind="hot",
        dealId=DEAL_ID,
        subject="Hot: A brass lamp",
        unread=True,
    )

    message_id: str = Field(description="Newer messages have greater ids.")
    sent_at: datetime
    kind: deals.MessageKind
    deal_id: str
    subject: str
    unread: bool


class CountShown(bodies.ResponseBody):
    """A count."""

    model_config = bodies.example(count=3)

    count: int


class MessagesRead(bodies.RequestBody):
    """Messages to mark as read: all of them, or none."""

    model_config = bodies.example(messageIds=[MESSAGE_ID])

    message_ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=deals.PAGE)
    ]


# Users


@deals_own.post("/me/user", status_code=201, response_model=UserShown)
async def create_user(caller: SignedIn, idempotent: Idempotent, body: NewUser) -> Response:
    """Creates your profile. An account that was made on the site has one already."""
    return await idempotent.run(
        lambda: deals.create_user(caller.username, **dict(body)), UserShown.model_validate
    )


@deals_own.get("/me/user", response_model=UserShown)
async def read_user(request: AppRequest, caller: SignedIn) -> deals.User:
    """Returns your profile."""
    return await request.run(deals.read_user(caller.username))


@deals_own.patch("/me/user", response_model=UserShown)
async def update_user(request: AppRequest, caller: SignedIn, body: UserChange) -> deals.User:
    """Changes your name or e-mail address."""
    return await request.run(deals.update_user(caller.username, **body.given_fields()))


# Likes and watches


async def set_interest(request: AppRequest, write: Steps[None]) -> None:
    """Sets or removes a like or watch; succeeds if nothing needs to change."""
    with suppress(deals.AlreadyLiked, deals.NotLiked, deals.AlreadyWatched, deals.NotWatched):
        await request.run(write)


@deals_own.put("/me/brands/{brandName:path}/like", status_code=204, **LIKE_LIMITED)
async def like_brand(request: AppRequest, caller: SignedIn, brand_name: BrandName) -> None:
    """Likes a brand."""
    await set_interest(request, deals.like_brand(brand_name, caller.username))


@deals_own.put("/me/categories/{categoryName:path}/like", status_code=204, **LIKE_LIMITED)
async def like_category(request: AppRequest, caller: SignedIn, category_name: CategoryName) -> None:
    """Likes a category."""
    await set_interest(request, deals.like_category(category_name, caller.username))


@deals_own.delete("/me/brands/{brandName:path}/like", status_code=204, **LIKE_LIMITED)
async def unlike_brand(request: AppRequest, caller: SignedIn, brand_name: BrandName) -> None:
    """Takes back the like of a brand."""
    await set_interest(request, deals.unlike_brand(brand_name, caller.username))


@deals_own.delete("/me/categories/{categoryName:path}/like", status_code=204, **LIKE_LIMITED)
async def unlike_category(
    request: AppRequest, caller: SignedIn, category_name: CategoryName
) -> None:
    """Takes back the like of a category."""
    await set_interest(request, deals.unlike_category(category_name, caller.username))


@deals_own.put("/me/brands/{brandName:path}/watch", status_code=204, **LIKE_LIMITED)
async def watch_brand(request: AppRequest, caller: SignedIn, brand_name: BrandName) -> None:
    """Watches a brand: you are notified of its new deals."""
    await set_interest(request, site.watch_brand(brand_name, caller.username))


@deals_own.put("/me/categories/{categoryName:path}/watch", status_code=204, **LIKE_LIMITED)
async def watch_category(
    request: AppRequest, caller: SignedIn, category_name: CategoryName
) -> None:
    """Watches a category: you are notified of its new deals."""
    await set_interest(request, site.watch_category(category_name, caller.username))


@deals_own.delete("/me/brands/{brandName:path}/watch", status_code=204, **LIKE_LIMITED)
async def unwatch_brand(request: AppRequest, caller: SignedIn, brand_name: BrandName) -> None:
    """No longer watches a brand."""
    await set_interest(request, site.unwatch_brand(brand_name, caller.username))


@deals_own.delete("/me/categories/{categoryName:path}/watch", status_code=204, **LIKE_LIMITED)
async def unwatch_category(
    request: AppRequest, caller: SignedIn, category_name: CategoryName
) -> None:
    """No longer watches a category."""
    await set_interest(request, site.unwatch_category(category_name, caller.username))


@deals_own.get("/me/brands", response_model=InterestsShown)
async def fetch_brand_interests(
    request: AppRequest,
    caller: SignedIn,
    brand_names: Annotated[
        list[deals.GivenBrandKey],
        bodies.FieldErrors,
        Query(alias="brandNames", min_length=1, max_length=MOST_NAMES),
    ],
) -> InterestsShown:
    """Returns which of these brands you like or watch."""
    found = await request.run(deals.fetch_brand_interests(brand_names, caller.username))
    return show_interests(found)


@deals_own.get("/me/categories", response_model=InterestsShown)
async def fetch_category_interests(
    request: AppRequest,
    caller: SignedIn,
    category_names: Annotated[
        list[deals.GivenCategory],
        bodies.FieldErrors,
        Query(alias="categoryNames", min_length=1, max_length=MOST_NAMES),
    ],
) -> InterestsShown:
    """Returns which of these categories you like or watch."""
    found = await request.run(deals.fetch_category_interests(category_names, caller.username))
    return show_interests(found)


def show_interests(found: Mapping[str, deals.Interest]) -> InterestsShown:
    items = [
        NamedInterest(name=name, liked=interest.liked, watched=interest.watched)
        for name, interest in found.items()
    ]
    return InterestsShown(items=items)


@deals_own.get("/me/brands/{brandName:path}", response_model=InterestShown)
async def fetch_brand_interest(
    request: AppRequest, caller: SignedIn, brand_name: BrandName
) -> deals.Interest:
    """Returns whether you like a brand, and whether you watch it."""
    return await request.run(deals.fetch_brand_interest(brand_name, caller.username))


@deals_own.get("/me/categories/{categoryName:path}", response_model=InterestShown)
async def fetch_category_interest(
    request: AppRequest, caller: SignedIn, category_name: CategoryName
) -> deals.Interest:
    """Returns whether you like a category, and whether you watch it."""
    return await request.run(deals.fetch_category_interest(category_name, caller.username))


# Saved deals


@deals_own.get("/me/saved-deals", response_model=SavedDealsShown)
async def fetch_saved_deals(request: AppRequest, caller: SignedIn) -> SavedDealsShown:
    """Lists the deals that you have saved, with the prices that they had then."""
    found = await request.run(deals.fetch_saved_deals(caller.username))
    items = [SavedDealShown(deal_id=key, **dict(saved)) for key, saved in found.items()]
    return SavedDealsShown(items=items)


@deals_own.put("/me/saved-deals/{dealId}", status_code=204, **LIKE_LIMITED)
async def save_deal(request: AppRequest, caller: SignedIn, deal_id: DealId) -> None:
    """Saves a deal at its present price. You can save 100."""
    await request.run(deals.save_deal(deals.deal_id_of(deal_id), caller.username))


@deals_own.delete("/me/saved-deals/{dealId}", status_code=204, **LIKE_LIMITED)
async def unsave_deal(request: AppRequest, caller: SignedIn, deal_id: DealId) -> None:
    """Removes a deal from your saved deals."""
    await request.run(deals.unsave_deal(deals.deal_id_of(deal_id), caller.username))


# Messages


@deals_own.get("/me/messages", response_model=bodies.Listed[MessageShown])
async def view_messages(caller: SignedIn, paging: FixedPages) -> bodies.Items[deals.Message]:
    """Lists your messages, newest first."""
    return await paging.run(deals.view_messages(caller.username, after=paging.after))


@deals_own.get("/me/messages/unread", response_model=bodies.Listed[MessageShown])
async def view_unread_messages(caller: SignedIn, paging: FixedPages) -> bodies.Items[deals.Message]:
    """Lists the messages that you have not read, newest first."""
    return await paging.run(deals.view_unread_messages(caller.username, after=paging.after))


@deals_own.get("/me/messages/unread/count", response_model=CountShown)
async def count_unread_messages(request: AppRequest, caller: SignedIn) -> CountShown:
    """Returns how many messages you have not read."""
    return CountShown(count=await request.run(deals.count_unread_messages(caller.username)))


@deals_own.post("/me/messages/read", status_code=204)
async def mark_messages_as_read(request: AppRequest, caller: SignedIn, body: MessagesRead) -> None:
    """Marks up to 25 messages as read: all of them, or none."""
    message_ids = [deals.message_id_of(message_id) for message_id in body.message_ids]
    await request.run(deals.mark_messages_as_read(caller.username, message_ids))


@deals_own.get("/me/messages/{messageId}", response_model=MessageShown)
async def fetch_message(
    request: AppRequest, caller: SignedIn, message_id: MessageId
) -> deals.Message:
    """Returns one of your messages."""
    found = deals.message_id_of(message_id)
    return await request.run(deals.fetch_message(caller.username, found))


@deals_own.put("/me/messages/{messageId}/read", response_model=MessageShown)
async def mark_message_as_read(
    request: AppRequest, caller: SignedIn, message_id: MessageId
) -> deals.Message:
    """Marks one of your messages as read."""
    found = deals.message_id_of(message_id)
    return await request.run(deals.mark_message_as_read(caller.username, found))
