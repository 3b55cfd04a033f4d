"""Choosing and ordering featured deals.

All deals of a place are sent up at once. Until then the choice is a draft, and the draft is in the
address: each button leads to the page of another draft, which the browser's way back undoes, and
nothing is written before "Publish". What is published then has to follow on what the editor saw:
if somebody else has published meanwhile, they are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Conflict, DomainError, Steps, together
from bigtime.systems.deals.deals import fetch_deal, fetch_deals
from bigtime.systems.deals.design import Deal
from bigtime.systems.deals.errors import (
    FeaturedTwice,
    TooManyFeatured,
    UnknownCategory,
    WrongCategory,
)
from bigtime.systems.deals.featured import copy_of
from bigtime.systems.deals.values import deal_id_of
from bigtime.web.editor.actions import feature
from bigtime.web.editor.deal_form import CATEGORY_NAMES
from bigtime.web.editor.editor import Editor
from bigtime.web.editor.featured_place import (
    CHOICE,
    FRONT,
    PLACES,
    Featuring,
    Place,
    featuring,
    latest_for,
    place_of_category,
)
from bigtime.web.forms import Filled, empty, read_form
from bigtime.web.signing_in import going_on
from bigtime.web.site import site_of
from bigtime.web.visitor import Visitor

SEPARATOR: Final = "."
MOST_DRAFTED: Final = 25

featured = APIRouter(include_in_schema=False)


class ChosenMeanwhile(Conflict):
    """Somebody else has published another choice meanwhile; look at it, and publish yours again."""


class Adding(BaseModel):
    """One more deal."""

    add: str


class Publishing(BaseModel):
    """A draft, and the deals that were featured when it was begun."""

    deals: str = ""
    seen: str = ""


class Step(BaseModel):
    """What a button does to a draft; `deals` is None where there is no draft yet."""

    deals: str | None = None
    add: str | None = None
    up: str | None = None
    down: str | None = None
    remove: str | None = None
    after: str | None = None
    done: bool = False


Asked = Annotated[Step, Query()]


# Pages


@featured.get("/editor/featured")
async def show_places(request: Request, who: Editor) -> Response:
    """Every place, and how many deals it features."""
    site = site_of(request)
    found = await site.store.run(together(*(featuring(place) for place in PLACES)))
    places = [(place, len(one.featured_deals)) for place, one in zip(PLACES, found, strict=True)]
    page = site.templates.page("editor/places.html", places=places)
    return await site.answer(request, page)


@featured.get(FRONT.path)
async def show_front_page(request: Request, who: Editor, step: Asked) -> Response:
    return await draft(request, FRONT, step)


@featured.get(CHOICE.path)
async def show_editors_choice(request: Request, who: Editor, step: Asked) -> Response:
    return await draft(request, CHOICE, step)


@featured.get("/editor/featured/categories/{name:path}")
async def show_category(request: Request, who: Editor, name: str, step: Asked) -> Response:
    return await draft(request, category_place(name), step)


@featured.post(FRONT.path)
async def publish_front_page(request: Request, who: Editor) -> Response:
    return await publish(request, FRONT, who)


@featured.post(CHOICE.path)
async def publish_editors_choice(request: Request, who: Editor) -> Response:
    return await publish(request, CHOICE, who)


@featured.post("/editor/featured/categories/{name:path}")
async def publish_category(request: Request, who: Editor, name: str) -> Response:
    return await publish(request, category_place(name), who)


def category_place(name: str) -> Place:
    if name not in CATEGORY_NAMES:
        raise UnknownCategory
    return place_of_category(CATEGORY_NAMES[name])


# Drafting


async def draft(request: Request, place: Place, step: Step) -> Response:
    """The draft after a step; a deal that cannot be added is answered beside its field."""
    site = site_of(request)
    stored = await site.store.run(featuring(place))
    ids = ids_in(stored) if step.deals is None else parse(step.deals)
    form: Filled[Any] = empty(add=step.add or "")
    if step.add is not None:
        try:
            ids = await site.store.run(added(place, ids, step.add))
            form = empty()
        except DomainError as error:
            form.refuse(error, "add")
    ids = moved(ids, step)
    status = 422 if form.wrong else 200
    return await shown(request, place, ids, stored, form, step=step, status=status)


def added(place: Place, ids: list[str], text: str) -> Steps[list[str]]:
    """A draft with one more deal; its id may come with the address of its page."""
    deal = yield from fetch_deal(deal_id_of(text.strip().rstrip("/").rpartition("/")[2]))
    if deal.deal_id in ids:
        raise FeaturedTwice
    if len(ids) >= place.limits.most:
        raise TooManyFeatured(f"{place.limits.most} deals are enough here; remove one first.")
    if place.category not in (None, deal.category):
        raise WrongCategory(
            f"{place.name} features only deals of its own; this one is in {deal.category_name}."
        )
    return [*ids, deal.deal_id]


def moved(ids: list[str], step: Step) -> list[str]:
    """A draft after a deal has been moved or removed; what is not in it stays out."""
    ids = [one for one in ids if one != step.remove]
    for moving, by in ((step.up, -1), (step.down, 1)):
        if moving in ids:
            here = ids.index(moving)
            there = min(max(here + by, 0), len(ids) - 1)
            ids[here], ids[there] = ids[there], ids[here]
    return ids


def parse(text: str) -> list[str]:
    ids = dict.fromkeys(one for one in text.split(SEPARATOR) if one)
    return list(ids)[:MOST_DRAFTED]


def ids_in(stored: Featuring) -> list[str]:
    return [one.deal_id for one in stored.featured_deals]


# Publishing


async def publish(request: Request, place: Place, who: Visitor) -> Response:
    """Features the deals of a draft."""
    site = site_of(request)
    form = await read_form(request, site, Publishing)
    assert form.value is not None  # every field has a default
    wanted = form.value
    try:
        await site.store.run(published(place, wanted, who))
    except DomainError as error:
        overtaken = isinstance(error, Conflict)
        form.refuse(ChosenMeanwhile() if overtaken else error)
        stored = await site.store.run(featuring(place))
        status = 409 if overtaken else 422
        return await shown(request, place, parse(wanted.deals), stored, form, status=status)
    site.drop((place.tag,))
    return going_on(f"{place.path}?done=true")


def published(place: Place, wanted: Publishing, who: Visitor) -> Steps[None]:
    stored = yield from featuring(place)
    if wanted.seen != SEPARATOR.join(ids_in(stored)):
        raise ChosenMeanwhile
    yield from feature(
        who.username, place, [deal_id_of(one) for one in parse(wanted.deals)], stored
    )


async def shown(
    request: Request,
    place: Place,
    ids: Sequence[str],
    stored: Featuring,
    form: Filled[Any],
    *,
    step: Step | None = None,
    status: int = 200,
) -> Response:
    site = site_of(request)
    step = step or Step()
    after = site.cursors.read(step.after)
    wanted: list[Any] = list(ids)
    chosen, latest = await site.store.run(together(fetch_deals(wanted), latest_for(place, after)))
    return await site.form_page(
        request,
        "editor/featured.html",
        status=status,
        place=place,
        chosen=chosen,
        old=outdated(chosen, stored),
        draft=SEPARATOR.join(deal.deal_id for deal in chosen),
        seen=SEPARATOR.join(ids_in(stored)),
        latest=[deal for deal in latest if deal.deal_id not in ids],
        this=step.after,
        after=site.cursors.write(latest.position),
        form=form,
        done=step.done,
    )


def outdated(chosen: Sequence[Deal], stored: Featuring) -> set[str]:
    """Deals that have changed since they were published there."""
    copies = {one.deal_id: one for one in stored.featured_deals}
    there = (deal for deal in chosen if deal.deal_id in copies)
    return {deal.deal_id for deal in there if copy_of(deal) != copies[deal.deal_id]}
