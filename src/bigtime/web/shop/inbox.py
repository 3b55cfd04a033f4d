"""The inbox: what somebody was told, and reading it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Malformed
from bigtime.site import Visitor, user_tag
from bigtime.systems.deals import (
    MessageId,
    fetch_deals,
    fetch_message,
    mark_message_as_read,
    mark_messages_as_read,
    message_id_of,
    view_messages,
    view_unread_messages,
)
from bigtime.web.http import local_path
from bigtime.web.pages import Filled, going_on, read_form, site_of
from bigtime.wire import Steps

inbox = APIRouter(include_in_schema=False)


def split(text: Any) -> Any:
    return text.split() if isinstance(text, str) else text


class One(BaseModel):
    """Where somebody marked a message."""

    back: str = ""


class Several(BaseModel):
    """The messages of a page, as it was when they were marked."""

    message_ids: Annotated[list[str], BeforeValidator(split)]
    back: str = ""


@inbox.get("/inbox")
async def show_inbox(
    request: Request, after: str | None = None, show: Literal["all", "unread"] = "all"
) -> Response:
    """Messages, newest first: all, or those that are unread."""
    site = site_of(request)
    visitor = await site.signed_in(request)
    view = view_unread_messages if show == "unread" else view_messages
    found = await site.store.run(view(visitor.username, after=site.cursors.read(after)))
    return await site.form_page(
        request,
        "shopper/inbox.html",
        messages=found.items,
        unread=[one for one in found if one.unread],
        after=site.cursors.write(found.position),
        show=show,
        back=here(request),
    )


@inbox.get("/inbox/read")
async def leave_marking() -> Response:
    """To the inbox, for whoever enters the address again that its form is sent to."""
    return going_on("/inbox")


@inbox.get("/inbox/{message_id}")
async def show_message(request: Request, message_id: str) -> Response:
    """One message and the deal that it tells of."""
    site = site_of(request)
    visitor = await site.signed_in(request)
    message, deals = await site.store.run(message_and_deal(visitor, message_id))
    return await site.form_page(
        request, "shopper/message.html", message=message, deals=deals, back=here(request)
    )


def message_and_deal(visitor: Visitor, message_id: str) -> Steps[tuple[Any, Any]]:
    message = yield from fetch_message(visitor.username, message_id_of(message_id))
    deals = yield from fetch_deals([message.deal_id])
    return message, deals


@inbox.post("/inbox/{message_id}/read")
async def mark_one(request: Request, message_id: str) -> Response:
    """Marks a message as read."""
    site = site_of(request)
    visitor = await site.signed_in(request)
    form = await read_form(request, site, One)
    await site.store.run(mark_message_as_read(visitor.username, message_id_of(message_id)))
    return marked(request, visitor, form)


@inbox.post("/inbox/read")
async def mark_several(request: Request) -> Response:
    """Marks the messages of a page as read; those that came since stay unread."""
    site = site_of(request)
    visitor = await site.signed_in(request)
    form = await read_form(request, site, Several)
    if form.value is None:
        raise Malformed("Say which messages are read.")
    ids: list[MessageId] = [message_id_of(one) for one in form.value.message_ids]
    await site.store.run(mark_messages_as_read(visitor.username, ids))
    return marked(request, visitor, form)


def marked(request: Request, visitor: Visitor, form: Filled[Any]) -> Response:
    site_of(request).drop((user_tag(visitor.username),))
    return going_on(local_path(form.typed.get("back"), default="/inbox"))


def here(request: Request) -> str:
    return f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
