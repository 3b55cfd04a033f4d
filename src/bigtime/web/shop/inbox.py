"""The inbox: what somebody was told, and reading it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, BeforeValidator

from bigtime.model import Malformed
from bigtime.site import Visitor
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
from bigtime.web.http import local_path, see_other
from bigtime.web.pages import SubmittedForm, context_of, read_form
from bigtime.wire import Steps

router = APIRouter(include_in_schema=False)


def split(text: Any) -> Any:
    return text.split() if isinstance(text, str) else text


class One(BaseModel):
    """Where somebody marked a message."""

    back: str = ""


class Several(BaseModel):
    """The messages of a page, as it was when they were marked."""

    message_ids: Annotated[list[str], BeforeValidator(split)]
    back: str = ""


@router.get("/inbox")
async def show_inbox(
    request: Request, after: str | None = None, show: Literal["all", "unread"] = "all"
) -> Response:
    """Messages, newest first: all, or those that are unread."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    view = view_unread_messages if show == "unread" else view_messages
    found = await context.store.run(view(visitor.username, after=context.cursors.read(after)))
    return await context.form_page(
        request,
        "shopper/inbox.html",
        messages=found.items,
        unread=[one for one in found if one.unread],
        after=context.cursors.write(found.position),
        show=show,
        back=here(request),
    )


@router.get("/inbox/read")
async def leave_marking() -> Response:
    """To the inbox, for whoever enters the address again that its form is sent to."""
    return see_other("/inbox")


@router.get("/inbox/{message_id}")
async def show_message(request: Request, message_id: str) -> Response:
    """One message and the deal that it tells of."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    message, deals = await context.store.run(message_and_deal(visitor, message_id))
    return await context.form_page(
        request, "shopper/message.html", message=message, deals=deals, back=here(request)
    )


def message_and_deal(visitor: Visitor, message_id: str) -> Steps[tuple[Any, Any]]:
    message = yield from fetch_message(visitor.username, message_id_of(message_id))
    deals = yield from fetch_deals([message.deal_id])
    return message, deals


@router.post("/inbox/{message_id}/read")
async def mark_one(request: Request, message_id: str) -> Response:
    """Marks a message as read."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, One)
    await context.store.run(mark_message_as_read(visitor.username, message_id_of(message_id)))
    return to_list(form)


@router.post("/inbox/read")
async def mark_several(request: Request) -> Response:
    """Marks the messages of a page as read; those that came since stay unread."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    form = await read_form(request, context, Several)
    if form.value is None:
        raise Malformed("Say which messages are read.")
    ids: list[MessageId] = [message_id_of(message_id) for message_id in form.value.message_ids]
    await context.store.run(mark_messages_as_read(visitor.username, ids))
    return to_list(form)


def to_list(form: SubmittedForm[Any]) -> Response:
    return see_other(local_path(form.typed.get("back"), default="/inbox"))


def here(request: Request) -> str:
    return f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
