"""Notification settings: what a user gets by mail besides the inbox, and unsubscribing.

The link works without signing in. It is signed, so the form behind it needs no token of its own; a
mail program sends it with neither cookie nor token (RFC 8058).
"""

from __future__ import annotations

from typing import Final

from fastapi import Response
from pydantic import BaseModel

from bigtime import site
from bigtime.site import MailKind, Visitor
from bigtime.web import pages
from bigtime.web.http import see_other
from bigtime.web.pages import AnyForm, AppRequest, page_router

LABELS: Final = {
    MailKind.WATCHED: "new deals from what you watch",
    MailKind.HOT: "hot deals",
    MailKind.ORDERS: "order updates",
    MailKind.DIGEST: "the daily digest",
}

router = page_router()


class Mails(BaseModel):
    """The form with a checkbox for each kind of mail."""

    watched: bool = False
    hot: bool = False
    orders: bool = False
    digest: bool = False

    @property
    def kinds(self) -> frozenset[MailKind]:
        return frozenset(kind for kind in MailKind if getattr(self, kind))


@router.get("/me/notifications")
async def show_notifications(request: AppRequest, saved: bool = False) -> Response:
    visitor = await request.signed_in()
    settings = await request.run(site.fetch_settings(visitor.username))
    typed = {kind: "yes" for kind in MailKind if getattr(settings, kind)}
    return await settings_page(request, visitor, pages.empty_form(**typed), saved=saved)


@router.post("/me/notifications")
async def save_notifications(request: AppRequest) -> Response:
    visitor, form = await request.read_visitor_form(Mails)
    if form.value is None:
        return await settings_page(request, visitor, form)
    steps = site.save_settings(visitor.username, visitor.login, form.value.kinds)
    await request.run(steps)
    return see_other("/me/notifications?saved=true")


async def settings_page(
    request: AppRequest, visitor: Visitor, form: AnyForm, *, saved: bool = False
) -> Response:
    return await request.form_page(
        "shopper/notifications.html",
        visitor=visitor,
        form=form,
        saved=saved,
        hour=site.DIGEST_HOUR,
    )


@router.get("/unsubscribe/{token}")
async def show_unsubscribe(request: AppRequest, token: str) -> Response:
    """Asks; programs open the links in mails too, so to open it ends nothing."""
    _, kind = request.context.mail_links.read(token)
    return await unsubscribe_page(request, token, kind, done=False)


@router.post("/unsubscribe/{token}")
async def unsubscribe(request: AppRequest, token: str) -> Response:
    """Ends the mails of a kind. The form has no token: only the mail has the link."""
    request.count_write(request.network)
    username, kind = request.context.mail_links.read(token)
    await request.run(site.end_mails(username, kind))
    return await unsubscribe_page(request, token, kind, done=True)


async def unsubscribe_page(
    request: AppRequest, token: str, kind: MailKind, *, done: bool
) -> Response:
    return await request.page("shopper/unsubscribe.html", link=token, label=LABELS[kind], done=done)
