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
from bigtime.web.pages import going_on, read_form, site_of

HERE: Final = "/admin/reminders"
MOST: Final = 50

reminders = APIRouter(include_in_schema=False)


def split(text: Any) -> Any:
    return text.split() if isinstance(text, str) else text


class Reminding(BaseModel):
    """Whom to remind: one, or all of a page."""

    tenant_ids: Annotated[list[str], Field(max_length=MOST), BeforeValidator(split)]


@reminders.get(HERE)
async def show_reminders(
    request: Request, admin: Admin, after: str | None = None, sent: int | None = None
) -> Response:
    """Unvalidated tenants of the last day, newest first."""
    site = site_of(request)
    listed, position = await site.store.run(view_tenants_to_remind(after=site.cursors.read(after)))
    return await site.form_page(
        request,
        "admin/reminders.html",
        listed=listed,
        waiting=[one.tenant.id for one in listed if one.reminder is None],
        after=site.cursors.write(position),
        is_first=after is None,
        sent=sent,
    )


@reminders.post(HERE)
async def send_reminders(request: Request, admin: Admin) -> Response:
    """Reminds those who were not reminded today."""
    site = site_of(request)
    form = await read_form(request, site, Reminding)
    if form.value is None:
        raise Malformed("Say whom to remind; at most 50 at once.")
    steps = remind_tenants(form.value.tenant_ids, by=admin.login, base_url=site.settings.base_url)
    return going_on(f"{HERE}?sent={await site.store.run(steps)}")
