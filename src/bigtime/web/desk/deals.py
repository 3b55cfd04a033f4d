"""Changing deals, and sending the message of a hot deal to all users.

The form of a deal has the facts that it showed when it was opened, and keeps them through previews
and errors. If the deal has other facts by the time the form is sent, nothing is changed, and its
editor sees who has changed what. The form is merged field by field: fields that its editor has not
touched get the other's values; fields that both have changed keep what the editor typed, with the
other's value beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import Response
from pydantic import AfterValidator, BaseModel

from bigtime import site
from bigtime.model import Conflict, DomainError, now
from bigtime.site import HotDealTask, Visitor
from bigtime.systems import deals
from bigtime.web import pages
from bigtime.web.desk import deal_form
from bigtime.web.desk.deal_form import (
    MOST_LISTED,
    ChangedDeal,
    DealChanged,
    Editor,
    desk_path,
    merge_facts,
    read_deal,
    seen_text,
)
from bigtime.web.http import see_other, with_query
from bigtime.web.pages import AppRequest, page_router
from bigtime.wire import Steps

router = page_router()

EDITED: Final = (*deals.FACTS, *deals.PLACE)
"""What an editor may change of a deal."""


@router.get("/editor/deals/{deal_id}")
async def show_deal(request: AppRequest, who: Editor, deal_id: str, done: str = "") -> Response:
    """The form of a deal."""
    deal = await read_deal(request, deal_id)
    return await render_page(request, deal, form_of(deal), done=done)


@router.get("/editor/deals/{deal_id}/engagement")
async def show_engagement(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """Views, clicks and cart adds of a deal in the last thirty days."""
    deal = await read_deal(request, deal_id)
    posted = deal.created_at.date()
    since = max(pages.today() - timedelta(days=29), min(posted, pages.today() - timedelta(days=6)))
    shown = await pages.show_reports(
        request.context, [site.DEAL_ENGAGEMENT], since, pages.today(), deal_id=deal.deal_id
    )
    return await request.page(
        "editor/engagement.html", deal=deal, shown=shown, label_of=pages.label_of
    )


@router.get("/editor/deals/{deal_id}/preview")
async def leave_preview(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """To the form, when the path of its preview is reloaded."""
    deal = await read_deal(request, deal_id)
    return see_other(with_query(request, desk_path(deal)))


@router.post("/editor/deals/{deal_id}/preview")
async def preview_deal(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """The same form, with the card that it would make; nothing is changed."""
    form = await request.read_form(ChangedDeal)
    deal = await read_deal(request, deal_id)
    if form.value is not None:
        try:
            await request.run(check_change(deal, form.value))
        except DomainError as error:
            deal_form.refuse(form, error)
    if "hx-request" in request.headers:  # an incomplete form shows no errors yet
        form.shown_as = 200
    return await render_page(request, deal, form)


@router.post("/editor/deals/{deal_id}")
async def change_facts(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """Changes the facts of a deal."""
    form = await request.read_form(ChangedDeal)
    deal = await read_deal(request, deal_id)
    if form.value is None:
        return await render_page(request, deal, form)
    try:
        await request.run(change(deal, form.value, who))
    except Conflict:
        deal = await read_deal(request, deal_id)
        if differences(deal, facts_of(form.value)):
            return await render_overtaken(request, deal, form.typed, form.value, who)
    except DomainError as error:
        deal_form.refuse(form, error)
        return await render_page(request, deal, form)
    return see_other(f"{desk_path(deal)}?done=changed")


def change(deal: deals.Deal, form: ChangedDeal, who: Visitor) -> Steps[deals.Deal]:
    """Changes a deal, if it still has the facts that its editor saw."""
    if seen_text(stored_facts(deal)) != form.seen:
        raise DealChanged
    return (yield from site.change_deal(who.username, deal, facts_of(form)))


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that differs between the deal and the form of an editor."""

    name: str
    theirs: Any
    yours: Any


def check_change(deal: deals.Deal, form: ChangedDeal) -> Steps[None]:
    """Raises the errors that a change would raise; writes nothing."""
    facts = facts_of(form)
    yield from deals.find_place(
        facts.get("brand", deal.brand), facts.get("category", deal.category)
    )
    deals.facts_write(deal, facts, at=(yield from now()))


def differences(deal: deals.Deal, facts: Mapping[str, object]) -> list[Difference]:
    """The differences between a form and the deal; none if the form was sent twice."""
    yours = all_facts(deal, facts)
    found = (Difference(name, getattr(deal, name), yours[name]) for name in EDITED)
    return [difference for difference in found if difference.theirs != difference.yours]


def all_facts(deal: deals.Deal, facts: Mapping[str, object]) -> dict[str, Any]:
    """The facts of a form, and None for those that it leaves out, except brand and category."""
    place = {name: getattr(deal, name) for name in deals.PLACE}
    return {**dict.fromkeys(EDITED), **place, **facts}


def facts_of(form: ChangedDeal) -> dict[str, Any]:
    """The facts in a form, with brand and category if it has them."""
    place = {"brand": form.brand_name, "category": form.category_name}
    return {
        **deals.given_fields(**form.model_dump(include=set(deals.FACTS))),
        **{name: value for name, value in place.items() if value is not None},
    }


def stored_facts(deal: deals.Deal) -> dict[str, Any]:
    return {name: getattr(deal, name) for name in EDITED}


def form_of(deal: deals.Deal) -> pages.AnyForm:
    return pages.empty_form(
        **texts_of(deal, stored_facts(deal)), seen=seen_text(stored_facts(deal))
    )


def texts_of(deal: deals.Deal, facts: Mapping[str, Any]) -> dict[str, str]:
    """Facts as the fields of a form; the deal's own brand as displayed."""
    texts = {name: as_text(fact) for name, fact in facts.items() if fact is not None}
    brand, texts["category_name"] = texts.pop("brand"), texts.pop("category")
    return {**texts, "brand_name": deal.brand_name if brand == deal.brand else brand}


def as_text(fact: Decimal | datetime | str) -> str:
    if isinstance(fact, datetime):
        return fact.isoformat(timespec="seconds" if fact.second else "minutes")[:19].split("+")[0]
    return f"{fact:.2f}" if isinstance(fact, Decimal) else fact


async def render_overtaken(
    request: AppRequest, deal: deals.Deal, typed: Mapping[str, str], form: ChangedDeal, who: Visitor
) -> Response:
    """The form after another editor's change, merged field by field."""
    merged, changed = merge_facts(form.seen, all_facts(deal, facts_of(form)), stored_facts(deal))
    other = await request.run(site.fetch_last_editor(site.deal_path(deal), besides=who.username))
    anew = pages.empty_form(**{**typed, **dict.fromkeys(deals.FACTS, ""), **texts_of(deal, merged)})
    anew.refuse(
        DealChanged(
            f"{other or 'Someone else'} has changed this deal meanwhile: {changed}. What you did"
            " not touch is as they left it. See both, then keep yours or use theirs."
        )
    )
    return await render_page(request, deal, anew, differing=differences(deal, merged))


async def render_page(
    request: AppRequest,
    deal: deals.Deal,
    form: pages.AnyForm,
    *,
    done: str = "",
    differing: Sequence[Difference] = (),
) -> Response:
    """The form as typed, for the deal as it is now."""
    brands = await request.run(deals.fetch_all_brands())
    upload = await request.run(site.fetch_upload(site.Pictured.deal(deal.deal_id)))
    is_overtaken = form.status == HTTPStatus.CONFLICT
    return await request.form_page(
        "editor/deal.html",
        deal=deal,
        upload=upload,
        form=form,
        card=deal_form.preview_of(form, deal),
        seen=seen_text(stored_facts(deal)) if is_overtaken else form.typed.get("seen", ""),
        done=done,
        differing=differing,
        brands=brands[:MOST_LISTED],
        categories=site.CATEGORY_NAMES.items(),
    )


# --- Taking a deal off, and publishing it again -------------------------------------------


class Unpublishing(BaseModel):
    """Why a deal is taken off; only editors see it."""

    why: Annotated[str, AfterValidator(deals.checked_why)] | None = None


@router.get("/editor/deals/{deal_id}/unpublish")
async def show_unpublish(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """Asks whether to take a deal off."""
    deal = await read_deal(request, deal_id)
    if not deal.is_listed:
        return see_other(desk_path(deal))
    return await render_unpublish(request, deal, pages.empty_form())


@router.post("/editor/deals/{deal_id}/unpublish")
async def unpublish_deal(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """Takes a deal off all lists."""
    form = await request.read_form(Unpublishing)
    if form.value is None:
        return await render_unpublish(request, await read_deal(request, deal_id), form)
    steps = site.unpublish_deal(who.username, deals.deal_id_of(deal_id), why=form.value.why)
    deal = await request.run(steps)
    return see_other(f"{desk_path(deal)}?done=unpublished")


@router.post("/editor/deals/{deal_id}/publish")
async def publish_deal(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """Puts a deal into its lists again."""
    await request.read_fields()
    deal = await request.run(site.publish_deal(who.username, deals.deal_id_of(deal_id)))
    return see_other(f"{desk_path(deal)}?done=published")


@router.get("/editor/deals/{deal_id}/publish")
async def leave_publish(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """To the form, when the path of the button is reloaded."""
    deal = await read_deal(request, deal_id)
    return see_other(desk_path(deal))


async def render_unpublish(request: AppRequest, deal: deals.Deal, form: pages.AnyForm) -> Response:
    return await request.form_page("editor/unpublish.html", deal=deal, form=form)


# --- Hot deals: a message to every user ---------------------------------------------------
# A message cannot be taken back once it is sent, so sending takes two steps: a page that says what
# will happen, and the button on it. The worker sends it. Pressing the button again changes nothing.


@dataclass(frozen=True, slots=True)
class HotDeal:
    """A deal and the progress of its message to all users; `task` is None until it is requested."""

    deal: deals.Deal
    task: HotDealTask | None
    progress: deals.HotDealProgress
    users: int

    @property
    def is_begun(self) -> bool:
        return self.task is not None or self.progress.segments > 0


@router.get("/editor/deals/{deal_id}/hot")
async def show_hot_deal(request: AppRequest, who: Editor, deal_id: str, test: str = "") -> Response:
    """The progress of the message, or what would happen; `test` is the id of a test message."""
    hot_deal = await request.run(fetch_hot_deal(deal_id))
    return await request.form_page("editor/hot_deal.html", hot_deal=hot_deal, test=test)


@router.post("/editor/deals/{deal_id}/hot/test")
async def send_test(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """Sends the message to the editor alone."""
    await request.read_fields()
    steps = deals.send_test_message(deals.deal_id_of(deal_id), who.username)
    message = await request.run(steps)
    return see_other(f"/editor/deals/{message.deal_id}/hot?test={message.message_id}")


@router.get("/editor/deals/{deal_id}/hot/test")
async def leave_test(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """To the page of the message, when the path of the button is reloaded."""
    return see_other(f"/editor/deals/{deals.deal_id_of(deal_id)}/hot")


@router.post("/editor/deals/{deal_id}/hot")
async def send_hot_deal(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """Requests the message."""
    await request.read_fields()
    steps = site.request_hot_deal(who.username, deals.deal_id_of(deal_id))
    deal = await request.run(steps)
    return see_other(f"{desk_path(deal)}/hot")


def fetch_hot_deal(deal_id: str) -> Steps[HotDeal]:
    deal = yield from deals.fetch_deal_for_editor(deals.deal_id_of(deal_id))
    task = yield from site.fetch_hot_deal_task(deal.deal_id)
    progress = yield from deals.view_hot_deal_progress(deal.deal_id)
    return HotDeal(deal, task, progress, (yield from deals.count_users()))
