"""The desk itself: links to its pages, the latest deals, and the log of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from fastapi import Request, Response

from bigtime.model import DomainError, Page
from bigtime.projections.search import SearchOff, SearchUnavailable
from bigtime.site import ALL_DEALS, view_changes
from bigtime.systems.deals import (
    Deal,
    UnknownDeal,
    all_days,
    deal_id_of,
    fetch_deal_for_editor,
    latest,
    view_unpublished_deals,
)
from bigtime.web.desk.deal_form import Editor, desk_path
from bigtime.web.http import page_router, see_other
from bigtime.web.pages import MOST_TEXT, AnyForm, AppContext, DealQuery, context_of, empty_form
from bigtime.wire import Steps

CHANGES_SHOWN: Final = 5

router = page_router()


@router.get("/editor")
async def show_desk(request: Request, who: Editor, after: str | None = None) -> Response:
    """The desk; `after` is the cursor of further deals."""
    return await render_page(request, empty_form(), after=after)


@router.get("/editor/find")
async def find_deal(request: Request, who: Editor, deal: str = "") -> Response:
    """Redirects to a deal, by its id or by the address of its page; else lists deals by words."""
    context = context_of(request)
    try:
        wanted = deal_id_of(deal.strip().rstrip("/").rpartition("/")[2])
        found = await context.store.run(fetch_deal_for_editor(wanted))
    except UnknownDeal as error:
        return await render_found(request, deal, error)
    return see_other(desk_path(found))


async def render_found(request: Request, text: str, fault: DomainError) -> Response:
    """The desk with the deals for words; where there are none, with the fault."""
    form: AnyForm = empty_form(deal=text)
    found: list[Deal] = []
    try:
        with suppress(SearchOff):  # then deals are found by their ids alone
            found = await find_by_words(context_of(request), text)
    except SearchUnavailable as unavailable:
        fault = unavailable
    if not found:
        form.refuse(fault, "deal")
    return await render_page(request, form, found=found)


async def find_by_words(context: AppContext, text: str) -> list[Deal]:
    """The best deals for words; raises SearchUnavailable while there is no index to ask."""
    if not text.strip():
        return []
    page = await context.search.deals(DealQuery(q=text[:MOST_TEXT]), None)
    return await context.deals.by_ids([hit.key for hit in page.hits])


async def render_page(
    request: Request, form: AnyForm, *, after: str | None = None, found: Sequence[Deal] = ()
) -> Response:
    context = context_of(request)
    deals = await context.deals.page(
        ALL_DEALS, after, lambda: latest(all_days(), after=context.cursors.read(after))
    )
    changes = await context.store.run(view_changes(limit=CHANGES_SHOWN))
    return await context.page(
        request,
        "editor/desk.html",
        form=form,
        latest=deals.items,
        after=context.cursors.write(deals.position),
        changes=changes.items,
        found=found,
        is_first=after is None,
    )


@router.get("/editor/changes")
async def show_changes(request: Request, who: Editor, after: str | None = None) -> Response:
    """All changes, newest first; `after` is the cursor of a further page."""
    return await show_list(request, "changes", view_changes, after)


@router.get("/editor/unpublished")
async def show_unpublished(request: Request, who: Editor, after: str | None = None) -> Response:
    """The deals that editors took off, newest first; `after` is the cursor of a further page."""
    return await show_list(request, "unpublished", view_unpublished_deals, after)


async def show_list(
    request: Request, name: str, view: Callable[..., Steps[Page[Any]]], after: str | None
) -> Response:
    context = context_of(request)
    found = await context.store.run(view(after=context.cursors.read(after)))
    return await context.page(
        request,
        f"editor/{name}.html",
        items=found.items,
        after=context.cursors.write(found.position),
        is_first=after is None,
    )
