"""Deals that are there, as editors change them.

The form of a deal has a mark of what it showed when it was opened, and keeps it through previews
and faults. If the deal says something else by the time it is sent, nothing is changed, and its
editor sees both: what the deal says now, and what they typed. From then on they know, so the form
has the mark of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Conflict, DomainError, get
from bigtime.site import FeaturedSlot, Visitor, change_deal, fetch_outdated_slots
from bigtime.systems.deals import (
    FACTS,
    Deal,
    UnknownDeal,
    deal_id_of,
    facts_write,
    fetch_deal,
    given_fields,
)
from bigtime.web.desk.deal_form import (
    ChangedDeal,
    DealChanged,
    Editor,
    desk_path,
    preview_of,
    refuse,
)
from bigtime.web.http import see_other
from bigtime.web.pages import SubmittedForm, context_of, empty_form, read_form
from bigtime.wire import Steps

deals = APIRouter(include_in_schema=False)


@deals.get("/editor/deals/{deal_id}")
async def show_deal(request: Request, who: Editor, deal_id: str, done: str = "") -> Response:
    """The form of a deal that is there."""
    store = context_of(request).store
    deal = await store.run(fetch_deal(deal_id_of(deal_id)))
    outdated_ids = await store.run(fetch_outdated_slots(deal))
    return await render_page(request, deal, form_of(deal), done=done, outdated=outdated_ids)


@deals.get("/editor/deals/{deal_id}/preview")
async def leave_preview(request: Request, who: Editor, deal_id: str) -> Response:
    """Back to the form, for whoever enters the address of its preview again."""
    return see_other(
        desk_path(await context_of(request).store.run(fetch_deal(deal_id_of(deal_id))))
    )


@deals.post("/editor/deals/{deal_id}/preview")
async def preview_deal(request: Request, who: Editor, deal_id: str) -> Response:
    """The same form, with the card that it would make; nothing is changed."""
    context = context_of(request)
    form = await read_form(request, context, ChangedDeal)
    deal = await context.store.run(fetch_deal(deal_id_of(deal_id)))
    if form.value is not None:
        try:
            facts_write(deal, facts_of(form.value))
        except DomainError as error:
            refuse(form, error)
    is_typing = "hx-request" in request.headers  # half a form is no mistake yet
    return await render_page(request, deal, form, status=200 if form.value or is_typing else 422)


@deals.post("/editor/deals/{deal_id}")
async def change_facts(request: Request, who: Editor, deal_id: str) -> Response:
    """Gives a deal other facts."""
    context = context_of(request)
    form = await read_form(request, context, ChangedDeal)
    key = Deal.key(deal_id_of(deal_id))
    deal = await context.store.run(get(key, missing=UnknownDeal, consistent=True))
    if form.value is None:
        return await render_page(request, deal, form, status=422)
    facts = facts_of(form.value)
    try:
        await context.store.run(change(deal, form.value, who))
    except Conflict:
        deal = await context.store.run(get(key, missing=UnknownDeal, consistent=True))
        if differing := differences(deal, facts):
            form.refuse(DealChanged())
            return await render_page(request, deal, form, status=409, differing=differing)
    except DomainError as error:
        refuse(form, error)
        return await render_page(request, deal, form, status=422)
    return see_other(f"{desk_path(deal)}?done=changed")


def change(deal: Deal, form: ChangedDeal, who: Visitor) -> Steps[Deal]:
    """Changes what has to be changed, if the deal still is what its editor saw."""
    if mark_of(deal) != form.seen:
        raise DealChanged
    return (yield from change_deal(who.username, deal, facts_of(form)))


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact of which a deal says one thing now, and an editor's form another."""

    name: str
    theirs: Any
    yours: Any


def differences(deal: Deal, facts: Mapping[str, Any]) -> list[Difference]:
    """Where a form differs from the deal; a form that was sent twice does not."""
    found = (Difference(name, getattr(deal, name), facts.get(name)) for name in FACTS)
    return [one for one in found if one.theirs != one.yours]


def facts_of(form: ChangedDeal) -> Mapping[str, Any]:
    return given_fields(**form.model_dump(include=set(FACTS)))


def mark_of(deal: Deal) -> str:
    """A mark of what a deal says: other facts have another mark."""
    told_of = "\n".join(repr(getattr(deal, name)) for name in FACTS)
    return sha256(told_of.encode()).hexdigest()[:32]


def form_of(deal: Deal) -> SubmittedForm[Any]:
    facts = {name: getattr(deal, name) for name in FACTS}
    typed = {name: written(value) for name, value in facts.items() if value is not None}
    return empty_form(**typed, seen=mark_of(deal))


def written(fact: Decimal | str) -> str:
    return f"{fact:.2f}" if isinstance(fact, Decimal) else fact


async def render_page(
    request: Request,
    deal: Deal,
    form: SubmittedForm[Any],
    *,
    status: int = 200,
    done: str = "",
    outdated: Sequence[FeaturedSlot] = (),
    differing: Sequence[Difference] = (),
) -> Response:
    """The form as it was typed, for the deal as it is now."""
    return await context_of(request).form_page(
        request,
        "editor/deal.html",
        status=status,
        deal=deal,
        form=form,
        card=preview_of(form, deal),
        seen=mark_of(deal) if differing else form.typed.get("seen", ""),
        done=done,
        outdated=outdated,
        differing=differing,
    )
