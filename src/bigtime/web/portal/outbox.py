"""The outbox: letters that were written and, in development, stay here to be looked at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import Mail, mail_text, view_outbox
from bigtime.web.http import NoSuchPage
from bigtime.web.pages import AppContext, context_of

LINK: Final = re.compile(r"(https?://\S+)")

outbox = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ShownMail:
    """A letter with its text in parts: every second one is a link."""

    mail: Mail
    parts: list[str]


@outbox.get("/outbox")
async def show_outbox(request: Request, after: str | None = None) -> Response:
    """Every letter, newest first. They hold codes, so there is no such page in production."""
    context = context_of(request)
    if context.settings.mode != "development":
        raise NoSuchPage()
    found = await context.store.run(view_outbox(after=context.cursors.read(after)))
    page = context.templates.page(
        "portal/outbox.html",
        letters=[show_mail(context, one) for one in found],
        after=context.cursors.write(found.position),
        sent=bool(context.settings.smtp),
    )
    return await context.answer(request, page)


def show_mail(context: AppContext, mail: Mail) -> ShownMail:
    return ShownMail(mail, text_parts(mail_text(mail, context.pepper), context.settings.base_url))


def text_parts(text: str, base_url: str) -> list[str]:
    """Links to this site lead to the page on this host, wherever it is called from."""
    parts = LINK.split(text)
    here = f"{base_url}/"
    return [part.replace(here, "/", 1) if part.startswith(here) else part for part in parts]
