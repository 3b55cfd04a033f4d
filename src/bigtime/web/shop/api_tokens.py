"""The visitor's API tokens: create one, which is shown once, and revoke it.

The form of a new token has a random key, generated when it is shown, and the token is derived from
it. So a form that is sent twice creates one token, and both responses show it. This does not bring
back a revoked token: an idempotency record of the key is written with the token. The key contains
its time, and is refused before that record expires.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from hmac import digest
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import Response
from pydantic import BaseModel, Field

from bigtime import site
from bigtime.model import Conflict, DomainError, RuleBroken, create
from bigtime.site import ApiArea, Visitor
from bigtime.web import pages
from bigtime.web.http import BadForm, see_other
from bigtime.web.pages import AppRequest, page_router
from bigtime.wire import Steps

LIST: Final = "/me/tokens"
AREAS: Final = {
    ApiArea.DEALS: ("Deals and catalog", "deals, brands, likes, watches and messages"),
    ApiArea.SHOP: ("Cart and orders", "your cart, addresses and orders"),
    ApiArea.PORTAL: ("Hosting", "hosting plans, campaigns and customers"),
}
"""An area's name and description for people."""
DAYS: Final = {7: "7 days", 30: "30 days", 90: "90 days", 365: "1 year"}
KEY_LASTS: Final = timedelta(days=1)
TIME_DIGITS: Final = 8
"""Digits of a key with its time: the second in which it was generated, in hexadecimal."""

router = page_router()


class NoArea(RuleBroken):
    """Choose at least one area."""


class KeySpent(RuleBroken):
    """This form has created a token before, which is revoked. Send it again to create another."""


class KeyExpired(RuleBroken):
    """This form was open for more than a day. Send it again to create the token."""


class Access(StrEnum):
    """What a token may do."""

    READ = "read"
    WRITE = "write"


class NewToken(pages.CheckedTogether):
    """The form of a new token; `deals`, `shop` and `portal` are its areas."""

    key: Annotated[str, Field(pattern="^[0-9a-f]{40}$")]
    name: site.TokenName
    access: Access
    days: Annotated[int, Field(ge=1, le=365)]
    deals: bool = False
    shop: bool = False
    portal: bool = False

    @property
    def areas(self) -> set[ApiArea]:
        return {area for area in ApiArea if getattr(self, area)}

    @classmethod
    def check_together(cls, values: Mapping[str, Any]) -> Iterator[tuple[str, DomainError]]:
        if not any(values.get(area) for area in ApiArea):
            yield ApiArea.DEALS, NoArea()


class TokenChoice(BaseModel):
    """The form that revokes a token; it is called by its hash, which opens nothing."""

    token: str = Field(max_length=64)


@dataclass(frozen=True, slots=True)
class MadeToken:
    """A token that was just created, with its text."""

    name: str
    text: str


@router.get(LIST)
async def show_tokens(request: AppRequest, revoked: bool = False) -> Response:
    """The tokens of the visitor, and the form of a new one."""
    visitor = await request.signed_in()
    form = new_form(request.context)
    return await render_page(request, visitor, form, revoked=revoked)


@router.post(LIST)
async def create_token(request: AppRequest) -> Response:
    """Makes a token and shows it, this once."""
    visitor, form = await request.read_visitor_form(NewToken)
    if "key" in form.wrong:
        raise BadForm()
    if form.value is None:
        return await render_page(request, visitor, form)
    try:
        made = await make_token(request.context, visitor, form.value)
    except (KeySpent, KeyExpired) as error:
        anew: pages.AnyForm = pages.SubmittedForm({**form.typed, "key": new_key(request.context)})
        return await render_page(request, visitor, anew.refuse(error, status=409))
    except (site.TooManyTokens, Conflict) as error:
        return await render_page(request, visitor, form.refuse(error, status=422))
    return await render_page(request, visitor, new_form(request.context), made=made)


async def make_token(context: pages.AppContext, visitor: Visitor, wanted: NewToken) -> MadeToken:
    """The token of a form; raises KeySpent if it was already created and is revoked."""
    if int(wanted.key[:TIME_DIGITS], 16) < (context.store.clock() - KEY_LASTS).timestamp():
        raise KeyExpired
    seed = f"api token\0{visitor.login}\0{visitor.password_version}\0{wanted.key}"
    text = site.api_token_text(digest(context.pepper, seed.encode(), "sha256"))
    token_hash = site.hash_api_token(text)
    try:
        await context.store.run(create_once(visitor, token_hash, wanted))
    except site.TokenExists:  # the same form, sent twice
        living = await context.store.run(site.view_api_tokens(visitor))
        if all(token.token_hash != token_hash for token in living):
            raise KeySpent from None
    return MadeToken(wanted.name, text)


def create_once(visitor: Visitor, token_hash: str, wanted: NewToken) -> Steps[None]:
    """Creates a token, and the record that its form has done so."""
    record = yield from site.answered_record(
        visitor.login, f"token {wanted.key}", token_hash, HTTPStatus.OK, ""
    )
    yield from site.create_api_token(
        visitor,
        token_hash,
        wanted.name,
        wanted.areas,
        can_write=wanted.access is Access.WRITE,
        days=wanted.days,
        also=[create(record, unless_exists=site.TokenExists)],
    )


@router.post("/me/tokens/revoke")
async def revoke_token(request: AppRequest) -> Response:
    """Revokes a token; one that is gone already is fine."""
    visitor, form = await request.read_visitor_form(TokenChoice)
    token_hash = form.require("This form names no token; load the page again.").token
    with suppress(site.UnknownToken):
        await request.run(site.revoke_api_token(visitor, token_hash))
    request.context.visitors.forget_login(visitor.login)
    return see_other(f"{LIST}?revoked=true")


def new_form(context: pages.AppContext) -> pages.AnyForm:
    return pages.empty_form(key=new_key(context), access=Access.READ, days="90", deals="yes")


def new_key(context: pages.AppContext) -> str:
    drawn_at = int(context.store.clock().timestamp())
    return f"{drawn_at:0{TIME_DIGITS}x}{secrets.token_hex(16)}"


async def render_page(
    request: AppRequest,
    visitor: Visitor,
    form: pages.AnyForm,
    *,
    made: MadeToken | None = None,
    revoked: bool = False,
) -> Response:
    return await request.form_page(
        "shopper/tokens.html",
        tokens=await request.run(site.view_api_tokens(visitor)),
        form=form,
        made=made,
        revoked=revoked,
        areas=AREAS,
        days=DAYS.items(),
        most=site.MOST_TOKENS,
    )
