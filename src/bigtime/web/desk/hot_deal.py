"""Telling everybody of a deal: asked here, done by the second process, watched here.

A message that is sent cannot be taken back, so it takes two steps: a page that says what will
happen, and the button on it. To press it again changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.site import HotDealTask, Visitor, fetch_hot_deal_task, request_hot_deal
from bigtime.systems import deals
from bigtime.web.desk.deal_form import Editor, desk_path
from bigtime.web.http import see_other
from bigtime.web.pages import context_of, read_fields
from bigtime.wire import Steps

hot_deal = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Telling:
    """How far the telling of a deal is; `task` is None as long as nobody has asked for it."""

    deal: deals.Deal
    task: HotDealTask | None
    progress: deals.HotDealProgress


@hot_deal.get("/editor/deals/{deal_id}/hot")
async def show_telling(request: Request, who: Editor, deal_id: str) -> Response:
    """How far it is, or what would happen."""
    context = context_of(request)
    telling = await context.store.run(telling_of(deal_id))
    return await context.form_page(request, "editor/hot_deal.html", telling=telling)


@hot_deal.post("/editor/deals/{deal_id}/hot")
async def begin_telling(request: Request, who: Editor, deal_id: str) -> Response:
    """Asks for it."""
    context = context_of(request)
    await read_fields(request, context)
    deal = await context.store.run(ask(deal_id, who))
    return see_other(f"{desk_path(deal)}/hot")


def telling_of(deal_id: str) -> Steps[Telling]:
    deal = yield from deals.fetch_deal(deals.deal_id_of(deal_id))
    task = yield from fetch_hot_deal_task(deal.deal_id)
    return Telling(deal, task, (yield from deals.view_hot_deal_progress(deal.deal_id)))


def ask(deal_id: str, who: Visitor) -> Steps[deals.Deal]:
    return (yield from request_hot_deal(who.username, deals.deal_id_of(deal_id)))
