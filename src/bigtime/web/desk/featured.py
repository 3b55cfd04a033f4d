"""Choosing and ordering the featured deals of a slot.

All deals of a slot are published at once. Until then the choice is a draft in the URL: each button
leads to the page of another draft, the browser's back button undoes it, and nothing is written
before "Publish". The URL also has a hash of the deals that were featured when the draft was begun:
if someone else has published meanwhile, the editor sees both choices.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Annotated, Final

from fastapi import Query, Response
from pydantic import BaseModel

from bigtime import site
from bigtime.model import Conflict, DomainError
from bigtime.site import CHOICE_SLOT, FRONT_SLOT, SLOTS, FeaturedSlot, FeaturingItem, Visitor
from bigtime.systems import deals
from bigtime.web.desk.deal_form import Editor, deal_id_in
from bigtime.web.http import see_other
from bigtime.web.pages import AnyForm, AppRequest, empty_form, page_router
from bigtime.wire import Steps

router = page_router()


# Drafts in a URL, and how buttons change them


SEPARATOR: Final = "."
MOST_DRAFTED: Final = 25
UP: Final = ("up", "down", "remove")
DOWN: Final = ("down", "up", "remove")
FIELD: Final = "add"


class Step(BaseModel):
    """What a button does to a draft; `deals` is None if there is no draft yet.

    `seen` is a hash of the deals that were featured when the draft was begun.
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
    ids = dict.fromkeys(deal_id for deal_id in text.split(SEPARATOR) if deal_id)
    return list(ids)[:MOST_DRAFTED]


def join_ids(ids: Sequence[str]) -> str:
    return SEPARATOR.join(ids)


def ids_in(stored: FeaturingItem) -> list[str]:
    return [featured_deal.deal_id for featured_deal in stored.featured_deals]


def mark_of(stored: FeaturingItem) -> str:
    """A hash of the featured deals; empty if there are none."""
    ids = join_ids(ids_in(stored))
    return sha256(ids.encode()).hexdigest()[:16] if ids else ""


def add_deal(slot: FeaturedSlot, ids: list[str], text: str) -> Steps[list[str]]:
    """A draft with one more deal; `text` is its id or the URL of its page."""
    deal = yield from deals.fetch_deal(deal_id_in(text))
    if deal.deal_id in ids:
        raise deals.FeaturedTwice
    if len(ids) >= slot.limits.most:
        raise deals.TooManyFeatured(f"{slot.limits.most} deals are enough here; remove one first.")
    if slot.category not in (None, deal.category):
        raise deals.WrongCategory(
            f"{slot.name} features only deals of its own; this one is in {deal.category_name}."
        )
    return [*ids, deal.deal_id]


def move_deals(ids: list[str], step: Step) -> list[str]:
    """A draft after a deal was moved or removed; ids that are not in it are ignored."""
    ids = [deal_id for deal_id in ids if deal_id != step.remove]
    for moving, by in ((step.up, -1), (step.down, 1)):
        if moving in ids:
            here = ids.index(moving)
            there = min(max(here + by, 0), len(ids) - 1)
            ids[here], ids[there] = ids[there], ids[here]
    return ids


# The button that was pressed may be missing on the next page. For keyboard users the focus moves to
# the nearest button that exists.


def focus_after(step: Step, ids: Sequence[str], listed: Sequence[str]) -> str:
    """The id of the element to focus after a step; `listed` are the deals that can be added."""
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
    """The first of these buttons that a deal has: the first deal has no "up"."""
    missing = {"up": ids[0], "down": ids[-1]}
    return next(f"{name}-{deal_id}" for name in wanted if missing.get(name) != deal_id)


def nearest_to(deal_id: str, line: Sequence[str], among: Collection[str]) -> str | None:
    """The nearest id after one in a sequence that is in a set, or else before it."""
    if deal_id not in line:
        return None
    here = line.index(deal_id)
    return next((other for other in (*line[here:], *line[here::-1]) if other in among), None)


# Pages


class ChosenMeanwhile(Conflict):
    """Someone else has published another choice meanwhile; see both, then take theirs or yours."""


class PublishForm(BaseModel):
    """A draft, and a hash of the deals that were featured when it was begun."""

    deals: str = ""
    seen: str = ""


StepQuery = Annotated[Step, Query()]
OF_PAGES: Final = {slot.path: slot for slot in (FRONT_SLOT, CHOICE_SLOT)}


@router.get("/editor/featured")
async def show_slots(request: AppRequest, who: Editor) -> Response:
    """Every slot, and how many deals it features."""
    places = [*zip(SLOTS, await request.run(site.count_featured()), strict=True)]
    return await request.page("editor/places.html", places=places)


@router.get(FRONT_SLOT.path)
@router.get(CHOICE_SLOT.path)
async def show_page(request: AppRequest, who: Editor, step: StepQuery) -> Response:
    return await draft(request, OF_PAGES[request.url.path], step)


@router.get("/editor/featured/categories/{name:path}")
async def show_category(request: AppRequest, who: Editor, name: str, step: StepQuery) -> Response:
    return await draft(request, slot_of_category(name), step)


@router.post(FRONT_SLOT.path)
@router.post(CHOICE_SLOT.path)
async def publish_page(request: AppRequest, who: Editor) -> Response:
    return await publish(request, OF_PAGES[request.url.path], who)


@router.post("/editor/featured/categories/{name:path}")
async def publish_category(request: AppRequest, who: Editor, name: str) -> Response:
    return await publish(request, slot_of_category(name), who)


def slot_of_category(name: str) -> FeaturedSlot:
    if name not in site.CATEGORY_NAMES:
        raise deals.UnknownCategory
    return site.category_slot(site.CATEGORY_NAMES[name])


# Drafting


async def draft(request: AppRequest, slot: FeaturedSlot, step: Step) -> Response:
    """The draft after a step; an error of a deal to add is shown beside its field."""
    stored = await request.run(site.fetch_featuring(slot))
    if step.deals is None:
        step = step.model_copy(update={"deals": join_ids(ids_in(stored)), "seen": mark_of(stored)})
    ids, form = parse(step.deals or ""), empty_form(add=step.add or "")
    if step.add is not None:
        try:
            ids = await request.run(add_deal(slot, ids, step.add))
            form = empty_form()
        except DomainError as error:
            form.refuse(error, "add")
    ids = move_deals(ids, step)
    return await render_page(request, slot, ids, stored, form, step=step)


# Publishing


async def publish(request: AppRequest, slot: FeaturedSlot, who: Visitor) -> Response:
    """Features the deals of a draft."""
    form = await request.read_form(PublishForm)
    assert form.value is not None  # every field has a default
    wanted = form.value
    ids, step = parse(wanted.deals), Step(seen=wanted.seen)
    try:
        await request.run(publish_draft(slot, wanted, who))
    except Conflict:
        stored = await request.run(site.fetch_featuring(slot))
        if ids_in(stored) != ids:  # otherwise the same choice was sent twice
            form.refuse(ChosenMeanwhile())
            step = Step(seen=mark_of(stored))
            theirs = stored.featured_deals
            return await render_page(request, slot, ids, stored, form, step=step, theirs=theirs)
    except DomainError as error:
        form.refuse(error)
        stored = await request.run(site.fetch_featuring(slot))
        return await render_page(request, slot, ids, stored, form, step=step)
    return see_other(f"{slot.path}?done=true")


def publish_draft(slot: FeaturedSlot, wanted: PublishForm, who: Visitor) -> Steps[None]:
    stored = yield from site.fetch_featuring(slot)
    if wanted.seen != mark_of(stored):
        raise ChosenMeanwhile
    yield from site.feature_deals(
        who.username, slot, [*map(deals.deal_id_of, parse(wanted.deals))], stored
    )


async def render_page(
    request: AppRequest,
    slot: FeaturedSlot,
    ids: Sequence[str],
    stored: FeaturingItem,
    form: AnyForm,
    *,
    step: Step,
    theirs: Sequence[deals.FeaturedDeal] = (),
) -> Response:
    """A draft, the deals that can be added to it, and the choice of another editor, if any."""
    chosen = await request.run(deals.fetch_deals(ids))
    latest = await request.context.deals.page(
        slot.candidates_tag,
        step.after,
        lambda: site.fetch_latest_for_slot(slot, after=request.read_cursor(step.after)),
    )
    listed = {*ids, *(deal.deal_id for deal in theirs)}
    return await request.form_page(
        "editor/featured.html",
        place=slot,
        chosen=chosen,
        theirs=theirs,
        draft=join_ids([deal.deal_id for deal in chosen]),
        published=join_ids(ids_in(stored)),
        seen=step.seen,
        focus="" if form.wrong else focus_after(step, ids, [deal.deal_id for deal in latest]),
        latest=[deal for deal in latest if deal.deal_id not in listed],
        this=step.after,
        after=request.write_cursor(latest.position),
        form=form,
        done=step.done,
    )
