"""What was changed, by whom and when.

A change is noted in the transaction that makes it: what happened is in the list, and what is in
the list has happened. The two tables are one transaction's, so no crash comes between them.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import view_changes
from bigtime.web.desk.editor import Editor
from bigtime.web.pages import context_of

changes = APIRouter(include_in_schema=False)


@changes.get("/editor/changes")
async def show_changes(request: Request, who: Editor, after: str | None = None) -> Response:
    """All changes, newest first; `after` goes on from there."""
    context = context_of(request)
    found = await context.store.run(view_changes(after=context.cursors.read(after)))
    page = context.templates.page(
        "editor/changes.html",
        changes=found.items,
        after=context.cursors.write(found.position),
        is_first=after is None,
    )
    return await context.answer(request, page)
