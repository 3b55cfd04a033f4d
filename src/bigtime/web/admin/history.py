"""The history of a record: who changed what, when, from and to."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems import portal
from bigtime.web.admin.admin import Admin
from bigtime.web.admin.entries import shown_entries
from bigtime.web.http import NoSuchPage
from bigtime.web.pages import context_of

PAGE = 25

history = APIRouter(include_in_schema=False)


@history.get("/admin/history/{table}/{record_id}")
async def show_history(
    request: Request, admin: Admin, table: str, record_id: str, after: str | None = None
) -> Response:
    """Everything that was done to a record, newest first."""
    context = context_of(request)
    audited = audited_named(table)
    steps = portal.audit_log(audited, record_id, limit=PAGE, after=context.cursors.read(after))
    found = await context.store.run(steps)
    page = context.templates.page(
        "admin/history.html",
        table=audited,
        record_id=record_id,
        entries=shown_entries(found),
        after=context.cursors.write(found.position),
        is_first=after is None,
    )
    return await context.answer(request, page)


def audited_named(table: str) -> portal.Audited:
    try:
        return portal.Audited(table)
    except ValueError:
        raise NoSuchPage() from None
