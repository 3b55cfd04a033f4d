"""Choosing and ordering featured deals.

All deals of a place are sent up at once. Until then the choice is a draft, and the draft is in the
address: each button leads to the page of another draft, which the browser's way back undoes, and
nothing is written before "Publish". What is published then has to follow on what the draft was
begun from, which stands in the address too: if somebody else has published meanwhile, the editor
sees both choices, and goes on knowing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from bigtime.model import Conflict, DomainError, together
from bigtime.site import (
    CHOICE_SLOT,
    FRONT_SLOT,
    SLOTS,
    FeaturedSlot,
    Featuring,
    Visitor,
    category_slot,
    feature_deals,
    fetch_featuring,
    fetch_latest_for_slot,
    outdated_ids,
)
from bigtime.systems.deals import (
    FeaturedDeal,
    FeaturedTwice,
    TooManyFeatured,
    UnknownCategory,
    WrongCategory,
    deal_id_of,
    fetch_deal,
    fetch_deals,
)
from bigtime.web.desk.deal_form import CATEGORY_NAMES, Editor
from bigtime.web.http import see_other
from bigtime.web.pages import SubmittedForm, context_of, empty_form, read_form
from bigtime.wire import Steps

router = APIRouter(include_in_schema=False)


# Drafts, as they stand in an address, and what a button makes of them


SEPARATOR: Final = "."
MOST_DRAFTED: Final = 25
UP: Final = ("up", "down", "remove")
DOWN: Final = ("down", "up", "remove")
FIELD: Final = "add"


class Step(BaseModel):
    """What a button does to a draft; `deals` is None where there is no draft yet.

    `seen` is a mark of the deals that were featured when the draft was begun.
    """

    deals: str | None = None
    seen: str = ""
    add: str | None = None
    up: str | None = None
    down: str | None = None
    remove: str | None = None
    after: str | None = None
    done: bool = False


def parse(text: str) -> list[str]:
    ids = dict.fromkeys(one for one in text.split(SEPARATOR) if one)
    return list(ids)[:MOST_DRAFTED]


def joined(ids: Sequence[str]) -> str:
    return SEPARATOR.join(ids)


def ids_in(stored: Featuring) -> list[str]:
    return [featured_deal.deal_id for featured_deal in stored.featured_deals]


def mark_of(stored: Featuring) -> str:
    """A mark of what is featured: another choice has another mark, and none has none."""
    ids = joined(ids_in(stored))
    return sha256(ids.encode()).hexdigest()[:16] if ids else ""


def added(slot: FeaturedSlot, ids: list[str], text: str) -> Steps[list[str]]:
    """A draft with one more deal; its id may come with the address of its page."""
    deal = yield from fetch_deal(deal_id_of(text.strip().rstrip("/").rpartition("/")[2]))
    if deal.deal_id in ids:
        raise FeaturedTwice
    if len(ids) >= slot.limits.most:
        raise TooManyFeatured(f"{slot.limits.most} deals are enough here; remove one first.")
    if slot.category not in (None, deal.category):
        raise WrongCategory(
            f"{slot.name} features only deals of its own; this one is in {deal.category_name}."
        )
    return [*ids, deal.deal_id]


def moved(ids: list[str], step: Step) -> list[str]:
    """A draft after a deal has been moved or removed; what is not in it stays out."""
    ids = [id_ for id_ in ids if id_ != step.remove]
    for moving, by in ((step.up, -1), (step.down, 1)):
        if moving in ids:
            here = ids.index(moving)
            there = min(max(here + by, 0), len(ids) - 1)
            ids[here], ids[there] = ids[there], ids[here]
    return ids


def focus_after(step: Step, ids: Sequence[str], listed: Sequence[str]) -> str:
    """The id of what has the focus after a step; `listed` are the deals that could be added."""
    if step.up in ids:
        return button_of(step.up, UP, ids)
    if step.down in ids:
        return button_of(step.down, DOWN, ids)
    if step.remove is not None:
        nearest = nearest_to(step.remove, parse(step.deals or ""), among=ids)
        return f"remove-{nearest}" if nearest else FIELD
    if step.add is not None:
        nearest = nearest_to(step.add, listed, among={*listed} - {*ids})
        return f"add-{nearest}" if nearest else FIELD
    return ""


def button_of(deal_id: str | None, wanted: Sequence[str], ids: Sequence[str]) -> str:
    """The first of those buttons that a deal has: none leads up from the top."""
    missing = {"up": ids[0], "down": ids[-1]}
    return next(f"{name}-{deal_id}" for name in wanted if missing.get(name) != deal_id)


def nearest_to(one: str, line: Sequence[str], among: Collection[str]) -> str | None:
    """The next in a line that is still there, or else the one before."""
    if one not in line:
        return None
    here = line.index(one)
    return next((other for other in (*line[here:], *line[here::-1]) if other in among), None)


# Pages


class ChosenMeanwhile(Conflict):
    """Somebody else has published another choice meanwhile; see both, then take theirs or yours."""


class Publishing(BaseModel):
    """A draft, and a mark of the deals that were featured when it was begun."""

    deals: str = ""
    seen: str = ""


Asked = Annotated[Step, Query()]


@router.get("/editor/featured")
async def show_places(request: Request, who: Editor) -> Response:
    """Every place, and how many deals it features."""
    context = context_of(request)
    found = await context.store.run(together(*(fetch_featuring(place) for place in SLOTS)))
    places = [(place, len(one.featured_deals)) for place, one in zip(SLOTS, found, strict=True)]
    page = context.templates.page("editor/places.html", places=places)
    return await context.answer(request, page)


@router.get(FRONT_SLOT.path)
async def show_front_page(request: Request, who: Editor, step: Asked) -> Response:
    return await draft(request, FRONT_SLOT, step)


@router.get(CHOICE_SLOT.path)
async def show_editors_choice(request: Request, who: Editor, step: Asked) -> Response:
    return await draft(request, CHOICE_SLOT, step)


@router.get("/editor/featured/categories/{name:path}")
async def show_category(request: Request, who: Editor, name: str, step: Asked) -> Response:
    return await draft(request, category_place(name), step)


@router.post(FRONT_SLOT.path)
async def publish_front_page(request: Request, who: Editor) -> Response:
    return await publish(request, FRONT_SLOT, who)


@router.post(CHOICE_SLOT.path)
async def publish_editors_choice(request: Request, who: Editor) -> Response:
    return await publish(request, CHOICE_SLOT, who)


@router.post("/editor/featured/categories/{name:path}")
async def publish_category(request: Request, who: Editor, name: str) -> Response:
    return await publish(request, category_place(name), who)


def category_place(name: str) -> FeaturedSlot:
    if name not in CATEGORY_NAMES:
        raise UnknownCategory
    return category_slot(CATEGORY_NAMES[name])


# Drafting


async def draft(request: Request, place: FeaturedSlot, step: Step) -> Response:
    """The draft after a step; a deal that cannot be added is answered beside its field."""
    context = context_of(request)
    stored = await context.store.run(fetch_featuring(place))
    if step.deals is None:
        step = step.model_copy(update={"deals": joined(ids_in(stored)), "seen": mark_of(stored)})
    ids, form = parse(step.deals or ""), empty_form(add=step.add or "")
    if step.add is not None:
        try:
            ids = await context.store.run(added(place, ids, step.add))
            form = empty_form()
        except DomainError as error:
            form.refuse(error, "add")
    ids = moved(ids, step)
    status = 422 if form.wrong else 200
    return await render_page(request, place, ids, stored, form, step=step, status=status)


# Publishing


async def publish(request: Request, place: FeaturedSlot, who: Visitor) -> Response:
    """Features the deals of a draft."""
    context = context_of(request)
    form = await read_form(request, context, Publishing)
    assert form.value is not None  # every field has a default
    wanted = form.value
    ids, step = parse(wanted.deals), Step(seen=wanted.seen)
    try:
        await context.store.run(published(place, wanted, who))
    except Conflict:
        stored = await context.store.run(fetch_featuring(place))
        if ids_in(stored) != ids:  # else it is the same choice, sent twice
            form.refuse(ChosenMeanwhile())
            step = Step(seen=mark_of(stored))
            theirs = stored.featured_deals
            return await render_page(
                request, place, ids, stored, form, step=step, status=409, theirs=theirs
            )
    except DomainError as error:
        form.refuse(error)
        stored = await context.store.run(fetch_featuring(place))
        return await render_page(request, place, ids, stored, form, step=step, status=422)
    return see_other(f"{place.path}?done=true")


def published(place: FeaturedSlot, wanted: Publishing, who: Visitor) -> Steps[None]:
    stored = yield from fetch_featuring(place)
    if wanted.seen != mark_of(stored):
        raise ChosenMeanwhile
    yield from feature_deals(
        who.username, place, [deal_id_of(one) for one in parse(wanted.deals)], stored
    )


async def render_page(
    request: Request,
    place: FeaturedSlot,
    ids: Sequence[str],
    stored: Featuring,
    form: SubmittedForm[Any],
    *,
    step: Step,
    status: int = 200,
    theirs: Sequence[FeaturedDeal] = (),
) -> Response:
    """A draft, what could be added to it, and what somebody else has chosen meanwhile."""
    context = context_of(request)
    chosen = await context.store.run(fetch_deals(ids))  # as they are now: they are compared
    latest = await context.deals.page(
        place.listed,
        step.after,
        lambda: fetch_latest_for_slot(place, after=context.cursors.read(step.after)),
    )
    listed = {*ids, *(deal.deal_id for deal in theirs)}
    return await context.form_page(
        request,
        "editor/featured.html",
        status=status,
        place=place,
        chosen=chosen,
        old=outdated_ids(chosen, stored),
        theirs=theirs,
        draft=joined([deal.deal_id for deal in chosen]),
        published=joined(ids_in(stored)),
        seen=step.seen,
        focus="" if form.wrong else focus_after(step, ids, [deal.deal_id for deal in latest]),
        latest=[deal for deal in latest if deal.deal_id not in listed],
        this=step.after,
        after=context.cursors.write(latest.position),
        form=form,
        done=step.done,
    )
