"""New brands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import Request, Response
from pydantic import AfterValidator, BaseModel

from bigtime.model import DomainError
from bigtime.site import create_brand
from bigtime.systems import deals
from bigtime.web.desk.deal_form import Editor, valid_text
from bigtime.web.http import key_of, page_router, see_other, with_query
from bigtime.web.pages import AnyForm, context_of, empty_form, read_form
from bigtime.wire import Steps

router = page_router()


def check_brand_name(name: str) -> str:
    """The name as it was typed; an error if no key can be made of it."""
    deals.brand_key(name)
    return name


class NewBrand(BaseModel):
    """The form of a brand."""

    name: Annotated[str, AfterValidator(check_brand_name)]
    logo: Annotated[str, AfterValidator(deals.checked_link)] | None = None


@router.get("/editor/brands/new")
async def show_new_brand(request: Request, who: Editor, made: str = "") -> Response:
    """The form; `made` is the name of the brand just created."""
    brand = await context_of(request).store.run(find_brand(made))
    return await render_page(request, empty_form(), made=brand)


@router.get("/editor/brands")
@router.get("/editor/brands/preview")
async def leave_new_brand(request: Request, who: Editor) -> Response:
    """To the form, when a path that it is posted to is reloaded."""
    return see_other(with_query(request, "/editor/brands/new"))


@router.post("/editor/brands/preview")
async def preview_new_brand(request: Request, who: Editor) -> Response:
    """The same form, with the card that it would make; nothing is changed."""
    context = context_of(request)
    form = await read_form(request, context, NewBrand)
    is_typing = "hx-request" in request.headers  # half a form is no mistake yet
    if form.value is not None and not is_typing:
        if await context.store.run(find_brand(form.value.name)):
            form.refuse(deals.BrandExists(), "name")
    return await render_page(request, form, status=200 if form.value or is_typing else 422)


@router.post("/editor/brands")
async def post_brand(request: Request, who: Editor) -> Response:
    """Creates the brand."""
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


def find_brand(name: str) -> Steps[deals.Brand | None]:
    """The brand of a name; None if there is none, or it can be none."""
    try:
        return (yield from deals.fetch_brand(key_of(name, deals.brand_key, deals.UnknownBrand)))
    except deals.UnknownBrand:
        return None


@dataclass(frozen=True, slots=True)
class Preview:
    """The card of a brand, from the fields of its form."""

    name: str
    logo: str


async def render_page(
    request: Request,
    form: AnyForm,
    *,
    status: int = 200,
    made: deals.Brand | None = None,
) -> Response:
    return await context_of(request).form_page(
        request,
        "editor/new_brand.html",
        status=status,
        form=form,
        card=Preview(valid_text(form, "name") or "A brand", valid_text(form, "logo")),
        made=made,
    )
