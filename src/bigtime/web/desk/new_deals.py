"""New deals, as editors make them.

The form of a deal has a key, drawn when it is shown. Which deal came of it is written down with
the deal, in the same transaction, so that a form that is sent twice makes one deal. Somebody who
goes back to a form that was sent, and writes another deal into it, is told so: that deal is not
made before they send it again, under another key.
"""

from __future__ import annotations

import secrets
from hashlib import sha256
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from bigtime.model import Clash, DomainError, RuleBroken, create
from bigtime.site import IdempotencyRecord, Visitor, answered_record, fetch_record, post_deal
from bigtime.systems import deals
from bigtime.web.desk.deal_form import (
    CATEGORY_NAMES,
    Editor,
    NewDeal,
    desk_path,
    preview_of,
    refuse,
)
from bigtime.web.http import BadForm, see_other
from bigtime.web.pages import AppContext, SubmittedForm, context_of, empty_form, read_form
from bigtime.wire import Steps

MOST_LISTED: Final = 1_000
"""Brands that a browser is told of, to complete what is typed."""

router = APIRouter(include_in_schema=False)


class AlreadyMade(Clash):
    """This form has made its deal already."""


class OtherMade(RuleBroken):
    """This form has posted another deal already, and this one is not posted yet."""


@router.get("/editor/deals/new")
async def show_new_deal(request: Request, who: Editor) -> Response:
    """The form of a deal that is not there yet."""
    return await shown_new(request, empty_form(key=new_key()))


@router.get("/editor/deals")
@router.get("/editor/deals/preview")
async def leave_new_deal(who: Editor) -> Response:
    """To the form, for whoever enters the address of an answer to it again."""
    return see_other("/editor/deals/new")


@router.post("/editor/deals/preview")
async def preview_new_deal(request: Request, who: Editor) -> Response:
    """The same form, with the card that it would make; nothing is changed."""
    context = context_of(request)
    form, deal = await new_deal_form(request, context), None
    if form.value is not None:
        try:
            deal = await context.store.run(drafted(form.value))
        except DomainError as error:
            refuse(form, error)
    is_typing = "hx-request" in request.headers  # half a form is no mistake yet
    return await shown_new(request, form, deal, status=200 if deal or is_typing else 422)


@router.post("/editor/deals")
async def make_deal(request: Request, who: Editor) -> Response:
    """Makes the deal."""
    context = context_of(request)
    form = await new_deal_form(request, context)
    if form.value is None:
        return await shown_new(request, form, status=422)
    try:
        deal = await context.store.run(make(form.value, who))
    except AlreadyMade:
        return await answer_again(request, form, form.value, who)
    except DomainError as error:
        refuse(form, error)
        return await shown_new(request, form, status=422)
    return see_other(f"{desk_path(deal)}?done=made")


async def answer_again(
    request: Request, form: SubmittedForm[NewDeal], value: NewDeal, who: Visitor
) -> Response:
    """What a form is answered that was sent before: the same, unless it tells of another deal."""
    made = await context_of(request).store.run(made_by(value.key, who))
    path = made.body or "/editor"
    if made.request == fingerprint(value):
        return see_other(path)
    anew = SubmittedForm[NewDeal]({**form.typed, "key": new_key()})
    anew.refuse(OtherMade())
    return await shown_new(request, anew, status=409, made=path.partition("?")[0])


async def new_deal_form(request: Request, context: AppContext) -> SubmittedForm[NewDeal]:
    form = await read_form(request, context, NewDeal)
    if "key" in form.wrong:
        raise BadForm()
    return form


def drafted(form: NewDeal) -> Steps[deals.Deal]:
    return (
        yield from deals.new_deal(
            form.title,
            form.link,
            form.price,
            form.brand_name,
            form.category_name,
            list_price=form.list_price,
            description=form.description,
        )
    )


def make(form: NewDeal, who: Visitor) -> Steps[deals.Deal]:
    deal = yield from drafted(form)
    path = f"{desk_path(deal)}?done=made"
    record = yield from answered_record(
        who.login, form_key(form.key), fingerprint(form), HTTPStatus.SEE_OTHER, path
    )
    return (yield from post_deal(who.username, deal, create(record, unless_exists=AlreadyMade)))


def fingerprint(form: NewDeal) -> str:
    """What makes a deal the same: all that its form tells, however that is spelled."""
    return sha256(form.model_dump_json(exclude={"key"}).encode()).hexdigest()


def made_by(key: str, who: Visitor) -> Steps[IdempotencyRecord]:
    """The record of the deal that a form has made."""
    record = yield from fetch_record(who.login, form_key(key))
    if record is None:
        raise deals.UnknownDeal
    return record


def new_key() -> str:
    return secrets.token_urlsafe(16)


def form_key(key: str) -> str:
    """No key of an API has a space in it."""
    return f"form {key}"


async def shown_new(
    request: Request,
    form: SubmittedForm[Any],
    deal: deals.Deal | None = None,
    *,
    status: int = 200,
    made: str = "",
) -> Response:
    """The form as it was typed; `made` is the page of another deal that it has made before."""
    context = context_of(request)
    brands = await context.store.run(deals.fetch_all_brands())
    return await context.form_page(
        request,
        "editor/new_deal.html",
        status=status,
        form=form,
        card=preview_of(form, deal),
        brands=brands[:MOST_LISTED],
        categories=CATEGORY_NAMES.items(),
        made=made,
    )
