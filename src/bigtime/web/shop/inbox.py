"""The inbox: a user's messages, and marking them as read."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Response
from pydantic import BeforeValidator

from bigtime.systems import deals
from bigtime.web.http import local_path, see_other
from bigtime.web.pages import HEAD, AnyForm, AppRequest, Back, address_of, page_router, split_words

router = page_router()


class MessagesForm(Back):
    """The messages of a page, as it was when they were marked."""

    message_ids: Annotated[list[str], BeforeValidator(split_words)]


@router.get("/inbox")
async def show_inbox(request: AppRequest, show: Literal["all", "unread"] = "all") -> Response:
    """Messages, newest first: all, or the unread ones."""
    visitor = await request.signed_in()
    view = deals.view_unread_messages if show == "unread" else deals.view_messages
    found = await request.run(view(visitor.username, after=request.page_start))
    return await request.form_page(
        "shopper/inbox.html",
        messages=found.items,
        unread=[message for message in found if message.unread],
        after=request.write_cursor(found.position),
        show=show,
        back=address_of(request.scope),
    )


@router.get("/inbox/read")
async def leave_marking() -> Response:
    """To the inbox, when the path of its form is reloaded."""
    return see_other("/inbox")


@router.get("/inbox/{message_id}")
async def show_message(request: AppRequest, message_id: str) -> Response:
    """A message and its deal; to open it is to read it."""
    visitor = await request.signed_in()
    steps = deals.fetch_message(visitor.username, deals.message_id_of(message_id))
    message = await request.run(steps)
    if message.unread and HEAD not in request.scope:
        read = deals.mark_message_as_read(visitor.username, message.message_id)
        message = await request.run(read)
    found = await request.run(deals.fetch_deals([message.deal_id]))
    return await request.page("shopper/message.html", message=message, deals=found)


@router.post("/inbox/{message_id}/read")
async def mark_message(request: AppRequest, message_id: str) -> Response:
    """Marks a message as read."""
    visitor, form = await request.read_visitor_form(Back)
    steps = deals.mark_message_as_read(visitor.username, deals.message_id_of(message_id))
    await request.run(steps)
    return to_list(form)


@router.post("/inbox/read")
async def mark_messages(request: AppRequest) -> Response:
    """Marks the messages of a page as read; those that came since stay unread."""
    visitor, form = await request.read_visitor_form(MessagesForm)
    ids = [*map(deals.message_id_of, form.require("Say which messages are read.").message_ids)]
    await request.run(deals.mark_messages_as_read(visitor.username, ids))
    return to_list(form)


def to_list(form: AnyForm) -> Response:
    return see_other(local_path(form.typed.get("back"), default="/inbox"))
