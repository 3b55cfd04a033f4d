"""New deals.

The form of a deal has a random key, generated when it is shown. An idempotency record under that
key is written in the transaction that creates the deal, so a form that is sent twice creates one
deal. A form that is sent again with another deal is shown again, with a note and a new key.
"""

from __future__ import annotations

import secrets
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from fastapi import Response

from bigtime import site
from bigtime.model import Clash, DomainError, RuleBroken, Write, create, now
from bigtime.systems import deals
from bigtime.web import pages
from bigtime.web.desk import deal_form
from bigtime.web.desk.deal_form import MOST_LISTED, Editor, NewDeal, desk_path
from bigtime.web.http import BadForm, see_other, with_query
from bigtime.web.pages import AppRequest, page_router
from bigtime.wire import Steps

router = page_router()


class AlreadyMade(Clash):
    """This form has made its deal already."""


class OtherMade(RuleBroken):
    """This form has posted another deal already, and this one is not posted yet."""


@router.get("/editor/deals/new")
async def show_new_deal(request: AppRequest, who: Editor) -> Response:
    """The form of a new deal."""
    return await render_page(request, pages.empty_form(key=new_key()))


@router.get("/editor/deals")
@router.get("/editor/deals/preview")
async def leave_new_deal(request: AppRequest, who: Editor) -> Response:
    """To the form, when a path that it is posted to is reloaded."""
    return see_other(with_query(request, "/editor/deals/new"))


@router.post("/editor/deals/preview")
async def preview_new_deal(request: AppRequest, who: Editor) -> Response:
    """The same form, with the card that it would make; nothing is changed."""
    (form, _), deal = await new_deal_form(request), None
    is_typing = "hx-request" in request.headers  # an incomplete form shows no errors yet
    if not is_typing:
        await request.run(check_stored(form))
    if form.value is not None:
        try:
            deal = await request.run(draft_deal(form.value))
        except DomainError as error:
            deal_form.refuse(form, error)
    if is_typing:
        form.shown_as = 200
    return await render_page(request, form, deal)


@router.post("/editor/deals")
async def create_deal(request: AppRequest, who: Editor) -> Response:
    """Creates the deal."""
    form, picture = await new_deal_form(request)
    await request.run(check_stored(form))
    if form.value is None:
        return await render_page(request, form)
    upload_id = None
    try:
        deal = await request.run(draft_deal(form.value))
        if picture is not None:
            upload_id = await request.context.pictures.keep_upload(
                site.Pictured.deal(deal.deal_id), picture
            )
        await request.run(post_draft(form.value, who, deal, upload_id))
    except DomainError as error:
        if upload_id is not None:
            await request.context.pictures.drop_upload(upload_id)
        if isinstance(error, AlreadyMade):
            return await answer_again(request, form, form.value, who)
        deal_form.refuse(form, error)
        return await render_page(request, form)
    return see_other(f"{desk_path(deal)}?done=made")


async def answer_again(
    request: AppRequest, form: pages.SubmittedForm[NewDeal], value: NewDeal, who: site.Visitor
) -> Response:
    """The same response to a form that was sent before, unless it now has another deal."""
    record = await request.run(site.fetch_record(who.login, form_key(value.key)))
    if record is None:
        raise deals.UnknownDeal
    path = record.body or "/editor"
    if record.request == fingerprint(value):
        return see_other(path)
    anew = pages.SubmittedForm[NewDeal]({**form.typed, "key": new_key()})
    anew.refuse(OtherMade(), status=409)
    return await render_page(request, anew, made=path.partition("?")[0])


async def new_deal_form(request: AppRequest) -> tuple[pages.SubmittedForm[NewDeal], bytes | None]:
    form, picture = await request.read_picture_form(NewDeal)
    if "key" in form.wrong:
        raise BadForm()
    return form, picture


def check_stored(form: pages.SubmittedForm[NewDeal]) -> Steps[None]:
    """Adds the errors that only the store and the clock reveal, so that all are shown at once."""
    if brand := deal_form.valid_text(form, "brand_name"):
        try:
            yield from deals.fetch_brand_for_editor(brand)
        except deals.UnknownBrand as error:
            deal_form.refuse(form, error)
    if end := deal_form.valid_text(form, "ends_at"):
        if deal_form.typed_end(end) <= (yield from now()):
            deal_form.refuse(form, deals.EndPassed())
    # The first field with an error gets the focus.
    first = {name: form.wrong[name] for name in NewDeal.model_fields if name in form.wrong}
    form.wrong = {**first, **form.wrong}


def draft_deal(form: NewDeal) -> Steps[deals.Deal]:
    return (yield from deals.new_deal(**form.model_dump(exclude={"key"})))


def post_draft(
    form: NewDeal, who: site.Visitor, deal: deals.Deal, upload_id: str | None
) -> Steps[None]:
    """The deal, the record of its form and its picture's upload, in one transaction."""
    path = f"{desk_path(deal)}?done=made"
    record = yield from site.answered_record(
        who.login, form_key(form.key), fingerprint(form), HTTPStatus.SEE_OTHER, path
    )
    also: list[Write[Any]] = [create(record, unless_exists=AlreadyMade)]
    if upload_id is not None:
        of = site.Pictured.deal(deal.deal_id)
        also.append((yield from site.new_upload(who.username, of, upload_id)))
    yield from site.post_deal(who.username, deal, *also)


def fingerprint(form: NewDeal) -> str:
    """A hash of a form's values, the same for other spellings of the same values."""
    return sha256(form.model_dump_json(exclude={"key"}).encode()).hexdigest()


def new_key() -> str:
    return secrets.token_urlsafe(16)


def form_key(key: str) -> str:
    """The idempotency key of a form; it has a space, which keys of the API cannot have."""
    return f"form {key}"


async def render_page(
    request: AppRequest, form: pages.AnyForm, deal: deals.Deal | None = None, *, made: str = ""
) -> Response:
    """The form as typed; `made` is the path of the deal that it has already created."""
    brands = await request.run(deals.fetch_all_brands())
    return await request.form_page(
        "editor/new_deal.html",
        form=form,
        card=deal_form.preview_of(form, deal),
        brands=brands[:MOST_LISTED],
        categories=site.CATEGORY_NAMES.items(),
        made=made,
    )
