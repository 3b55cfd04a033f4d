"""The desk's home page: links to its pages, the latest deals, and the log of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from fastapi import Response

from bigtime.model import DomainError, Page
from bigtime.projections.search import SearchOff, SearchUnavailable
from bigtime.site import ALL_DEALS, view_changes
from bigtime.systems.deals import (
    Deal,
    UnknownDeal,
    all_days,
    fetch_deal_for_editor,
    latest,
    view_unpublished_deals,
)
from bigtime.web import pages
from bigtime.web.desk.deal_form import Editor, deal_id_in, desk_path
from bigtime.web.http import see_other
from bigtime.web.pages import AnyForm, AppRequest, page_router
from bigtime.wire import Steps

CHANGES_SHOWN: Final = 5

router = page_router()


@router.get("/editor")
async def show_desk(request: AppRequest, who: Editor, after: str | None = None) -> Response:
    """The desk; `after` is the cursor of further deals."""
    return await render_page(request, pages.empty_form(), after=after)


@router.get("/editor/find")
async def find_deal(request: AppRequest, who: Editor, deal: str = "") -> Response:
    """Redirects to a deal, by its id or by the address of its page; else lists deals by words."""
    try:
        found = await request.run(fetch_deal_for_editor(deal_id_in(deal)))
    except UnknownDeal as error:
        return await render_found(request, deal, error)
    return see_other(desk_path(found))


async def render_found(request: AppRequest, text: str, fault: DomainError) -> Response:
    """The desk with the deals that match the words or, if there are none, the error."""
    form: AnyForm = pages.empty_form(deal=text)
    found: list[Deal] = []
    try:
        with suppress(SearchOff):  # without search, deals are found by their ids only
            found = await find_by_words(request.context, text)
    except SearchUnavailable as unavailable:
        fault = unavailable
    if not found:
        form.refuse(fault, "deal")
    return await render_page(request, form, found=found)


async def find_by_words(context: pages.AppContext, text: str) -> list[Deal]:
    """The deals that best match the words; raises SearchUnavailable while there is no index."""
    if not text.strip():
        return []
    page = await context.search.deals(pages.DealQuery(q=text[: pages.MOST_TEXT]), None)
    return await context.deals.by_ids([hit.key for hit in page.hits])


async def render_page(
    request: AppRequest, form: AnyForm, *, after: str | None = None, found: Sequence[Deal] = ()
) -> Response:
    deals = await request.context.deals.page(
        ALL_DEALS, after, lambda: latest(all_days(), after=request.read_cursor(after))
    )
    changes = await request.run(view_changes(limit=CHANGES_SHOWN))
    return await request.page(
        "editor/desk.html",
        form=form,
        latest=deals.items,
        after=request.write_cursor(deals.position),
        changes=changes.items,
        found=found,
        is_first=after is None,
    )


@router.get("/editor/changes")
async def show_changes(request: AppRequest, who: Editor) -> Response:
    """All changes, newest first; `after` is the cursor of a further page."""
    return await show_list(request, "changes", view_changes)


@router.get("/editor/unpublished")
async def show_unpublished(request: AppRequest, who: Editor) -> Response:
    """The deals that editors took off, newest first; `after` is the cursor of a further page."""
    return await show_list(request, "unpublished", view_unpublished_deals)


async def show_list(
    request: AppRequest, name: str, view: Callable[..., Steps[Page[Any]]]
) -> Response:
    found = await request.run(view(after=request.page_start))
    return await request.list_page(f"editor/{name}.html", found, items=found.items)
