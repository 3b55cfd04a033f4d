"""Telling everybody of a deal: asked here, done by the second process, watched here.

A message that is sent cannot be taken back, so it takes two steps: a page that says what will
happen, and the button on it. To press it again changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Steps, get
from bigtime.systems.deals.deals import fetch_deal
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.hot_deal import HotDealProgress, view_hot_deal_progress
from bigtime.systems.deals.values import deal_id_of
from bigtime.web.design import Task
from bigtime.web.editor.actions import tell_everybody
from bigtime.web.editor.deal_form import desk_path
from bigtime.web.editor.editor import Editor
from bigtime.web.forms import read_fields
from bigtime.web.signing_in import going_on
from bigtime.web.site import site_of
from bigtime.web.visitor import Visitor

hot_deal = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Telling:
    """How far the telling of a deal is; `task` is None as long as nobody has asked for it."""

    deal: Deal
    task: Task | None
    progress: HotDealProgress


@hot_deal.get("/editor/deals/{deal_id}/hot")
async def show_telling(request: Request, who: Editor, deal_id: str) -> Response:
    """How far it is, or what would happen."""
    site = site_of(request)
    telling = await site.store.run(telling_of(deal_id))
    return await site.form_page(request, "editor/hot_deal.html", telling=telling)


@hot_deal.post("/editor/deals/{deal_id}/hot")
async def begin_telling(request: Request, who: Editor, deal_id: str) -> Response:
    """Asks for it."""
    site = site_of(request)
    await read_fields(request, site)
    deal = await site.store.run(ask(deal_id, who))
    return going_on(f"{desk_path(deal)}/hot")


def telling_of(deal_id: str) -> Steps[Telling]:
    deal = yield from fetch_deal(deal_id_of(deal_id))
    task = yield from get(Task.key(deal.deal_id), consistent=True)
    return Telling(deal, task, (yield from view_hot_deal_progress(deal.deal_id)))


def ask(deal_id: str, who: Visitor) -> Steps[Deal]:
    deal = yield from fetch_deal(deal_id_of(deal_id))
    yield from tell_everybody(who.username, deal)
    return deal
