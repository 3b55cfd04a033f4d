"""Deals, as editors change them, and the message to all users of a hot deal.

The form of a deal has the facts that it showed when it was opened, and keeps them through previews
and errors. If the deal has other facts by the time the form is sent, nothing is changed, and its
editor sees who has changed what. The form is merged field by field: what its editor has not touched
is as the other left it, what both have changed is as the editor typed it, beside the other's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response

from bigtime import site
from bigtime.model import Conflict, DomainError, get
from bigtime.site import HotDealTask, Visitor
from bigtime.systems import deals
from bigtime.web.desk import deal_form
from bigtime.web.desk.deal_form import ChangedDeal, DealChanged, Editor, desk_path
from bigtime.web.http import page_router, see_other, with_query
from bigtime.web.pages import (
    AnyForm,
    context_of,
    empty_form,
    label_of,
    read_fields,
    read_form,
    show_reports,
    today,
)
from bigtime.wire import Steps

router = page_router()


@router.get("/editor/deals/{deal_id}")
async def show_deal(request: Request, who: Editor, deal_id: str, done: str = "") -> Response:
    """The form of a deal."""
    store = context_of(request).store
    deal = await store.run(deals.fetch_deal(deals.deal_id_of(deal_id)))
    return await render_page(request, deal, form_of(deal), done=done)


@router.get("/editor/deals/{deal_id}/engagement")
async def show_engagement(request: Request, who: Editor, deal_id: str) -> Response:
    """Views, clicks and cart adds of a deal in the last thirty days."""
    context = context_of(request)
    deal = await context.store.run(deals.fetch_deal(deals.deal_id_of(deal_id)))
    posted = deal.created_at.date()
    since = max(today() - timedelta(days=29), min(posted, today() - timedelta(days=6)))
    shown = await show_reports(
        context, [site.DEAL_ENGAGEMENT], since, today(), deal_id=deal.deal_id
    )
    page = context.templates.page(
        "editor/engagement.html", deal=deal, shown=shown, label_of=label_of
    )
    return await context.answer(request, page)


@router.get("/editor/deals/{deal_id}/preview")
async def leave_preview(request: Request, who: Editor, deal_id: str) -> Response:
    """To the form, when the path of its preview is reloaded."""
    deal = await context_of(request).store.run(deals.fetch_deal(deals.deal_id_of(deal_id)))
    return see_other(with_query(request, desk_path(deal)))


@router.post("/editor/deals/{deal_id}/preview")
async def preview_deal(request: Request, who: Editor, deal_id: str) -> Response:
    """The same form, with the card that it would make; nothing is changed."""
    context = context_of(request)
    form = await read_form(request, context, ChangedDeal)
    deal = await context.store.run(deals.fetch_deal(deals.deal_id_of(deal_id)))
    if form.value is not None:
        try:
            deals.facts_write(deal, facts_of(form.value))
        except DomainError as error:
            deal_form.refuse(form, error)
    is_typing = "hx-request" in request.headers  # half a form is no mistake yet
    return await render_page(request, deal, form, status=200 if form.value or is_typing else 422)


@router.post("/editor/deals/{deal_id}")
async def change_facts(request: Request, who: Editor, deal_id: str) -> Response:
    """Changes the facts of a deal."""
    context = context_of(request)
    form = await read_form(request, context, ChangedDeal)
    key = deals.Deal.key(deals.deal_id_of(deal_id))
    deal = await context.store.run(get(key, missing=deals.UnknownDeal, consistent=True))
    if form.value is None:
        return await render_page(request, deal, form, status=422)
    try:
        await context.store.run(change(deal, form.value, who))
    except Conflict:
        deal = await context.store.run(get(key, missing=deals.UnknownDeal, consistent=True))
        if differences(deal, facts_of(form.value)):
            return await render_overtaken(request, deal, form.typed, form.value, who)
    except DomainError as error:
        deal_form.refuse(form, error)
        return await render_page(request, deal, form, status=422)
    return see_other(f"{desk_path(deal)}?done=changed")


def change(deal: deals.Deal, form: ChangedDeal, who: Visitor) -> Steps[deals.Deal]:
    """Changes a deal, if it has the facts that its editor saw."""
    if seen_text(deal) != form.seen:
        raise DealChanged
    return (yield from site.change_deal(who.username, deal, facts_of(form)))


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that differs between the deal and the form of an editor."""

    name: str
    theirs: Any
    yours: Any


def differences(deal: deals.Deal, facts: Mapping[str, object]) -> list[Difference]:
    """Where a form differs from the deal; a form that was sent twice does not."""
    found = (Difference(name, getattr(deal, name), facts.get(name)) for name in deals.FACTS)
    return [difference for difference in found if difference.theirs != difference.yours]


def facts_of(form: ChangedDeal) -> Mapping[str, object]:
    return deals.given_fields(**form.model_dump(include=set(deals.FACTS)))


def stored_facts(deal: deals.Deal) -> dict[str, Any]:
    return {name: getattr(deal, name) for name in deals.FACTS}


def seen_text(deal: deals.Deal) -> str:
    """The facts of a deal as its form carries them."""
    facts = {name: None if fact is None else str(fact) for name, fact in stored_facts(deal).items()}
    return json.dumps(facts, ensure_ascii=False)


def seen_facts(text: str) -> dict[str, Any]:
    """The facts that a form showed when it was opened; none if it does not say."""
    try:
        facts = dict(json.loads(text))
        return {
            name: Decimal(fact) if fact is not None and "price" in name else fact
            for name, fact in facts.items()
        }
    except (ValueError, TypeError, ArithmeticError):
        return {}


def form_of(deal: deals.Deal) -> AnyForm:
    return empty_form(**texts_of(stored_facts(deal)), seen=seen_text(deal))


def texts_of(facts: Mapping[str, Any]) -> dict[str, str]:
    return {name: as_text(fact) for name, fact in facts.items() if fact is not None}


def as_text(fact: Decimal | str) -> str:
    return f"{fact:.2f}" if isinstance(fact, Decimal) else fact


async def render_overtaken(
    request: Request, deal: deals.Deal, typed: Mapping[str, str], form: ChangedDeal, who: Visitor
) -> Response:
    """The form after another editor's change, merged field by field."""
    base, yours, theirs = seen_facts(form.seen), facts_of(form), stored_facts(deal)
    # Without the facts that were shown, all that differs counts as touched.
    touched = {name for name in deals.FACTS if name not in base or base[name] != yours.get(name)}
    changed = [name for name in deals.FACTS if base.get(name) != theirs[name]]
    merged = {name: (yours.get(name) if name in touched else theirs[name]) for name in deals.FACTS}
    other = await context_of(request).store.run(site.fetch_last_editor(deal, besides=who.username))
    names = ", ".join(name.replace("_", " ") for name in changed)
    anew = empty_form(**{**typed, **dict.fromkeys(deals.FACTS, ""), **texts_of(merged)})
    anew.refuse(
        DealChanged(
            f"{other or 'Someone else'} has changed this deal meanwhile: {names}. What you did not"
            " touch is as they left it. See both, then keep yours or use theirs."
        )
    )
    return await render_page(request, deal, anew, status=409, differing=differences(deal, merged))


async def render_page(
    request: Request,
    deal: deals.Deal,
    form: AnyForm,
    *,
    status: int = 200,
    done: str = "",
    differing: Sequence[Difference] = (),
) -> Response:
    """The form as it was typed, for the deal as it is now."""
    return await context_of(request).form_page(
        request,
        "editor/deal.html",
        status=status,
        deal=deal,
        form=form,
        card=deal_form.preview_of(form, deal),
        seen=seen_text(deal) if status == HTTPStatus.CONFLICT else form.typed.get("seen", ""),
        done=done,
        differing=differing,
    )


# --- Hot deals: a message to every user ---------------------------------------------------
# A message that is sent cannot be taken back, so it takes two steps: a page that says what will
# happen, and the button on it. The worker sends it. To press the button again changes nothing.


@dataclass(frozen=True, slots=True)
class HotDeal:
    """A deal and how far its message to all users is; `task` is None before it is requested."""

    deal: deals.Deal
    task: HotDealTask | None
    progress: deals.HotDealProgress


@router.get("/editor/deals/{deal_id}/hot")
async def show_hot_deal(request: Request, who: Editor, deal_id: str) -> Response:
    """The progress of the message, or what would happen."""
    context = context_of(request)
    hot_deal = await context.store.run(fetch_hot_deal(deal_id))
    return await context.form_page(request, "editor/hot_deal.html", hot_deal=hot_deal)


@router.post("/editor/deals/{deal_id}/hot")
async def send_hot_deal(request: Request, who: Editor, deal_id: str) -> Response:
    """Requests the message."""
    context = context_of(request)
    await read_fields(request, context)
    steps = site.request_hot_deal(who.username, deals.deal_id_of(deal_id))
    deal = await context.store.run(steps)
    return see_other(f"{desk_path(deal)}/hot")


def fetch_hot_deal(deal_id: str) -> Steps[HotDeal]:
    deal = yield from deals.fetch_deal(deals.deal_id_of(deal_id))
    task = yield from site.fetch_hot_deal_task(deal.deal_id)
    return HotDeal(deal, task, (yield from deals.view_hot_deal_progress(deal.deal_id)))
