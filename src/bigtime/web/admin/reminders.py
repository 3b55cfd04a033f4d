"""The page of tenants who have not confirmed their address, with a button to remind them."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Malformed
from bigtime.site import remind_tenants, view_tenants_to_remind
from bigtime.web.admin.admin import Admin
from bigtime.web.http import see_other
from bigtime.web.pages import context_of, read_form

REMINDERS: Final = "/admin/reminders"
MOST_REMINDED: Final = 50

reminders = APIRouter(include_in_schema=False)


def split_words(text: Any) -> Any:
    return text.split() if isinstance(text, str) else text


class ReminderForm(BaseModel):
    """Whom to remind: one, or all of a page."""

    tenant_ids: Annotated[list[str], Field(max_length=MOST_REMINDED), BeforeValidator(split_words)]


@reminders.get(REMINDERS)
async def show_reminders(
    request: Request, admin: Admin, after: str | None = None, sent: int | None = None
) -> Response:
    """Unvalidated tenants of the last day, newest first."""
    context = context_of(request)
    listed, position = await context.store.run(
        view_tenants_to_remind(after=context.cursors.read(after))
    )
    return await context.form_page(
        request,
        "admin/reminders.html",
        listed=listed,
        waiting=[one.tenant.id for one in listed if one.reminder is None],
        after=context.cursors.write(position),
        is_first=after is None,
        sent=sent,
    )


@reminders.post(REMINDERS)
async def send_reminders(request: Request, admin: Admin) -> Response:
    """Reminds those who were not reminded today."""
    context = context_of(request)
    form = await read_form(request, context, ReminderForm)
    if form.value is None:
        raise Malformed("Say whom to remind; at most 50 at once.")
    steps = remind_tenants(
        form.value.tenant_ids, by=admin.login, base_url=context.settings.base_url
    )
    return see_other(f"{REMINDERS}?sent={await context.store.run(steps)}")
