"""New deals.

The form of a deal has a key, drawn when it is shown. An idempotency record under that key is
written in the transaction that creates the deal, so a form that is sent twice creates one deal. A
form that is sent again with another deal is shown again, with a note and a new key.
"""

from __future__ import annotations

import secrets
from hashlib import sha256
from http import HTTPStatus
from typing import Final

from fastapi import Request, Response

from bigtime.model import Clash, DomainError, RuleBroken, create
from bigtime.site import Visitor, answered_record, fetch_record, post_deal
from bigtime.systems import deals
from bigtime.web.desk import deal_form
from bigtime.web.desk.deal_form import CATEGORY_NAMES, Editor, NewDeal, desk_path
from bigtime.web.http import BadForm, page_router, see_other, with_query
from bigtime.web.pages import AnyForm, AppContext, SubmittedForm, context_of, empty_form, read_form
from bigtime.wire import Steps

MOST_LISTED: Final = 1_000
"""Brands in the list that completes what is typed."""

router = page_router()


class AlreadyMade(Clash):
    """This form has made its deal already."""


class OtherMade(RuleBroken):
    """This form has posted another deal already, and this one is not posted yet."""


@router.get("/editor/deals/new")
async def show_new_deal(request: Request, who: Editor) -> Response:
    """The form of a new deal."""
    return await render_page(request, empty_form(key=new_key()))


@router.get("/editor/deals")
@router.get("/editor/deals/preview")
async def leave_new_deal(request: Request, who: Editor) -> Response:
    """To the form, when a path that it is posted to is reloaded."""
    return see_other(with_query(request, "/editor/deals/new"))


@router.post("/editor/deals/preview")
async def preview_new_deal(request: Request, who: Editor) -> Response:
    """The same form, with the card that it would make; nothing is changed."""
    context = context_of(request)
    form, deal = await new_deal_form(request, context), None
    if form.value is not None:
        try:
            deal = await context.store.run(draft_deal(form.value))
        except DomainError as error:
            deal_form.refuse(form, error)
    is_typing = "hx-request" in request.headers  # half a form is no mistake yet
    return await render_page(request, form, deal, status=200 if deal or is_typing else 422)


@router.post("/editor/deals")
async def create_deal(request: Request, who: Editor) -> Response:
    """Creates the deal."""
    context = context_of(request)
    form = await new_deal_form(request, context)
    if form.value is None:
        return await render_page(request, form, status=422)
    try:
        deal = await context.store.run(post_draft(form.value, who))
    except AlreadyMade:
        return await answer_again(request, form, form.value, who)
    except DomainError as error:
        deal_form.refuse(form, error)
        return await render_page(request, form, status=422)
    return see_other(f"{desk_path(deal)}?done=made")


async def answer_again(
    request: Request, form: SubmittedForm[NewDeal], value: NewDeal, who: Visitor
) -> Response:
    """The same response to a form that was sent before, unless it has another deal now."""
    record = await context_of(request).store.run(fetch_record(who.login, form_key(value.key)))
    if record is None:
        raise deals.UnknownDeal
    path = record.body or "/editor"
    if record.request == fingerprint(value):
        return see_other(path)
    anew = SubmittedForm[NewDeal]({**form.typed, "key": new_key()})
    anew.refuse(OtherMade())
    return await render_page(request, anew, status=409, made=path.partition("?")[0])


async def new_deal_form(request: Request, context: AppContext) -> SubmittedForm[NewDeal]:
    form = await read_form(request, context, NewDeal)
    if "key" in form.wrong:
        raise BadForm()
    return form


def draft_deal(form: NewDeal) -> Steps[deals.Deal]:
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


def post_draft(form: NewDeal, who: Visitor) -> Steps[deals.Deal]:
    """The deal and the record of its form, in one transaction."""
    deal = yield from draft_deal(form)
    path = f"{desk_path(deal)}?done=made"
    record = yield from answered_record(
        who.login, form_key(form.key), fingerprint(form), HTTPStatus.SEE_OTHER, path
    )
    return (yield from post_deal(who.username, deal, create(record, unless_exists=AlreadyMade)))


def fingerprint(form: NewDeal) -> str:
    """A hash of the values of a form: other spellings of the same values have the same."""
    return sha256(form.model_dump_json(exclude={"key"}).encode()).hexdigest()


def new_key() -> str:
    return secrets.token_urlsafe(16)


def form_key(key: str) -> str:
    """The idempotency key of a form; keys of the API have no space."""
    return f"form {key}"


async def render_page(
    request: Request,
    form: AnyForm,
    deal: deals.Deal | None = None,
    *,
    status: int = 200,
    made: str = "",
) -> Response:
    """The form as it was typed; `made` is the path of the deal that it has created before."""
    context = context_of(request)
    brands = await context.store.run(deals.fetch_all_brands())
    return await context.form_page(
        request,
        "editor/new_deal.html",
        status=status,
        form=form,
        card=deal_form.preview_of(form, deal),
        brands=brands[:MOST_LISTED],
        categories=CATEGORY_NAMES.items(),
        made=made,
    )
