"""New brands, as editors make them."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import DomainError
from bigtime.systems.deals.errors import BrandExists, EmptyName, ForbiddenCharacter, NameTooLong
from bigtime.systems.deals.values import brand_key, checked_link
from bigtime.web.editor.actions import make_brand
from bigtime.web.editor.editor import Editor
from bigtime.web.forms import Filled, empty, read_form
from bigtime.web.signing_in import going_on
from bigtime.web.site import site_of
from bigtime.web.tags import BRANDS, tags_shown

brands = APIRouter(include_in_schema=False)


def a_brand(name: str) -> str:
    """The name as it was given, if it can be spelled as one."""
    brand_key(name)
    return name


class NewBrand(BaseModel):
    """What an editor says of a brand."""

    name: Annotated[str, AfterValidator(a_brand)]
    logo: Annotated[str, AfterValidator(checked_link)] | None = None


@brands.get("/editor/brands/new")
async def show_new_brand(request: Request, who: Editor, made: str = "") -> Response:
    """The form; `made` is the brand that it has made just now."""
    return await shown(request, empty(), made=made)


@brands.post("/editor/brands")
async def create_brand(request: Request, who: Editor) -> Response:
    """Makes the brand."""
    site = site_of(request)
    form = await read_form(request, site, NewBrand)
    if form.value is None:
        return await shown(request, form, status=422)
    try:
        brand = await site.store.run(make_brand(who.username, form.value.name, form.value.logo))
    except DomainError as error:
        form.refuse(error, "name" if isinstance(error, BrandExists) else None)
        return await shown(request, form, status=422)
    site.drop({BRANDS, *tags_shown(brand)})
    return going_on(f"/editor/brands/new?made={quote(brand.name, safe='')}")


async def shown(
    request: Request, form: Filled[Any], *, status: int = 200, made: str = ""
) -> Response:
    return await site_of(request).form_page(
        request,
        "editor/new_brand.html",
        status=status,
        form=form,
        made=made,
        made_key=key_of(made),
    )


def key_of(name: str) -> str:
    """The brand's name in its address; what came with the query may be anything."""
    try:
        return brand_key(name)
    except (EmptyName, NameTooLong, ForbiddenCharacter):
        return ""
