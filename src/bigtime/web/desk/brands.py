"""New brands, as editors make them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from pydantic import AfterValidator, BaseModel

from bigtime.model import DomainError
from bigtime.site import create_brand
from bigtime.systems import deals
from bigtime.web.desk.deal_form import Editor, good
from bigtime.web.http import key_of, see_other
from bigtime.web.pages import SubmittedForm, context_of, empty_form, read_form
from bigtime.wire import Steps

router = APIRouter(include_in_schema=False)


def a_brand(name: str) -> str:
    """The name as it was given, if it can be spelled as one."""
    deals.brand_key(name)
    return name


class NewBrand(BaseModel):
    """What an editor says of a brand."""

    name: Annotated[str, AfterValidator(a_brand)]
    logo: Annotated[str, AfterValidator(deals.checked_link)] | None = None


@router.get("/editor/brands/new")
async def show_new_brand(request: Request, who: Editor, made: str = "") -> Response:
    """The form; `made` is the brand that it has made just now."""
    brand = await context_of(request).store.run(brand_called(made))
    return await render_page(request, empty_form(), made=brand)


@router.get("/editor/brands")
@router.get("/editor/brands/preview")
async def leave_new_brand(who: Editor) -> Response:
    """To the form, for whoever enters the address of an answer to it again."""
    return see_other("/editor/brands/new")


@router.post("/editor/brands/preview")
async def preview_new_brand(request: Request, who: Editor) -> Response:
    """The same form, with the card that it would make; nothing is changed."""
    context = context_of(request)
    form = await read_form(request, context, NewBrand)
    is_typing = "hx-request" in request.headers  # half a form is no mistake yet
    if form.value is not None and not is_typing:
        if await context.store.run(brand_called(form.value.name)):
            form.refuse(deals.BrandExists(), "name")
    return await render_page(request, form, status=200 if form.value or is_typing else 422)


@router.post("/editor/brands")
async def post_brand(request: Request, who: Editor) -> Response:
    """Makes the brand."""
    context = context_of(request)
    form = await read_form(request, context, NewBrand)
    if form.value is None:
        return await render_page(request, form, status=422)
    try:
        brand = await context.store.run(
            create_brand(who.username, form.value.name, form.value.logo)
        )
    except DomainError as error:
        form.refuse(error, "name" if isinstance(error, deals.BrandExists) else None)
        return await render_page(request, form, status=422)
    return see_other(f"/editor/brands/new?made={quote(brand.name, safe='')}")


def brand_called(name: str) -> Steps[deals.Brand | None]:
    """The brand of that name, if there is one; the name may be anything."""
    try:
        return (yield from deals.fetch_brand(key_of(name, deals.brand_key, deals.UnknownBrand)))
    except deals.UnknownBrand:
        return None


@dataclass(frozen=True, slots=True)
class Preview:
    """A brand as far as its form tells."""

    name: str
    logo: str


async def render_page(
    request: Request,
    form: SubmittedForm[Any],
    *,
    status: int = 200,
    made: deals.Brand | None = None,
) -> Response:
    return await context_of(request).form_page(
        request,
        "editor/new_brand.html",
        status=status,
        form=form,
        card=Preview(good(form, "name") or "A brand", good(form, "logo")),
        made=made,
    )
