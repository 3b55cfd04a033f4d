"""Creating and changing brands.

A brand's form has the facts that it showed when it was opened. If another editor has changed them
meanwhile, nothing is changed: the form is shown again, with the other editor's values in the fields
that this editor has not touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Response
from pydantic import AfterValidator, BaseModel

from bigtime import site
from bigtime.model import Conflict, DomainError
from bigtime.systems import deals
from bigtime.web.desk import deal_form
from bigtime.web.desk.deal_form import Editor
from bigtime.web.http import key_of, see_other, with_query
from bigtime.web.pages import AnyForm, AppRequest, empty_form, page_router
from bigtime.wire import Steps

router = page_router()


def check_brand_name(name: str) -> str:
    """The name as typed; raises an error if it cannot be a key."""
    deals.brand_key(name)
    return name


class NewBrand(BaseModel):
    """The form of a brand."""

    name: Annotated[str, AfterValidator(check_brand_name)]
    logo: Annotated[str, AfterValidator(deals.checked_link)] | None = None


@router.get("/editor/brands/new")
async def show_new_brand(request: AppRequest, who: Editor, made: str = "") -> Response:
    """The form; `made` is the name of the brand just created."""
    brand = await request.run(find_brand(made))
    return await render_page(request, empty_form(), made=brand)


@router.get("/editor/brands")
@router.get("/editor/brands/preview")
async def leave_new_brand(request: AppRequest, who: Editor) -> Response:
    """To the form, when a path that it is posted to is reloaded."""
    return see_other(with_query(request, "/editor/brands/new"))


@router.post("/editor/brands/preview")
async def preview_new_brand(request: AppRequest, who: Editor) -> Response:
    """The same form, with the card that it would make; nothing is changed."""
    form = await request.read_form(NewBrand)
    is_typing = "hx-request" in request.headers  # an incomplete form shows no errors yet
    if form.value is not None and not is_typing:
        if await request.run(find_brand(form.value.name)):
            form.refuse(deals.BrandExists(), "name")
    if is_typing:
        form.shown_as = 200
    return await render_page(request, form)


@router.post("/editor/brands")
async def post_brand(request: AppRequest, who: Editor) -> Response:
    """Creates the brand."""
    form, picture = await request.read_picture_form(NewBrand)
    if form.value is None:
        return await render_page(request, form)
    try:
        brand = await request.run(site.create_brand(who.username, form.value.name, form.value.logo))
    except DomainError as error:
        form.refuse(error, "name" if isinstance(error, deals.BrandExists) else None)
        return await render_page(request, form)
    if picture is not None:
        await deal_form.keep_picture(request, who, site.Pictured.brand(brand.brand), picture)
    return see_other(f"/editor/brands/new?made={quote(brand.name, safe='')}")


def find_brand(name: str) -> Steps[deals.Brand | None]:
    """The brand with that name; None if there is none, or the name is not valid."""
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
    request: AppRequest, form: AnyForm, *, made: deals.Brand | None = None
) -> Response:
    brands = await request.run(deals.fetch_all_brands())
    return await request.form_page(
        "editor/new_brand.html",
        form=form,
        card=Preview(
            deal_form.valid_text(form, "name") or "A brand", deal_form.valid_text(form, "logo")
        ),
        made=made,
        brands=brands[: deal_form.MOST_LISTED],
    )


# Editing a brand


class ChangedBrand(BaseModel):
    """A changed brand; `seen` are the facts before the change, as text."""

    name: Annotated[str, AfterValidator(check_brand_name)]
    logo: Annotated[str, AfterValidator(deals.checked_link)] | None = None
    description: Annotated[str, AfterValidator(deals.checked_description)] | None = None
    seen: str = ""


class BrandChanged(Conflict):
    """Someone else has changed this brand meanwhile."""


@router.get("/editor/brands/find")
async def find_brand_to_edit(request: AppRequest, who: Editor, find: str = "") -> Response:
    """Redirects to the form of a brand, by its name."""
    brand = await request.run(find_brand(find))
    if brand is not None:
        return see_other(edit_path(brand))
    form = empty_form(find=find)
    return await render_page(request, form.refuse(deals.UnknownBrand(), "find"))


@router.get("/editor/brands/edit/{brand_name:path}")
async def show_brand(request: AppRequest, who: Editor, brand_name: str, done: str = "") -> Response:
    """The form of a brand."""
    brand = await request.run(fetch_brand(brand_name))
    return await render_brand(request, brand, form_of(brand), done=done)


@router.post("/editor/brands/edit/{brand_name:path}")
async def post_change(request: AppRequest, who: Editor, brand_name: str) -> Response:
    """Changes a brand."""
    form = await request.read_form(ChangedBrand)
    brand = await request.run(fetch_brand(brand_name))
    if form.value is None:
        return await render_brand(request, brand, form)
    facts = form.value.model_dump(include=set(deals.BRAND_FACTS))
    try:
        if deal_form.seen_text(facts_of(brand)) != form.value.seen and facts != facts_of(brand):
            raise BrandChanged
        await request.run(site.change_brand(who.username, brand, facts))
    except Conflict:
        brand = await request.run(fetch_brand(brand_name))
        return await render_overtaken(request, brand, form.value.seen, facts, who)
    except DomainError as error:
        form.refuse(error, "name" if isinstance(error, deals.OtherBrand) else None)
        return await render_brand(request, brand, form)
    return see_other(f"{edit_path(brand)}?done=changed")


async def render_overtaken(
    request: AppRequest, brand: deals.Brand, seen: str, yours: Mapping[str, Any], who: site.Visitor
) -> Response:
    """The form after another editor's change, merged field by field."""
    theirs = facts_of(brand)
    merged, changed = deal_form.merge_facts(seen, yours, theirs)
    steps = site.fetch_last_editor(site.brand_path(brand.brand), besides=who.username)
    other = await request.run(steps)
    form = empty_form(**texts_of(merged), seen=deal_form.seen_text(theirs))
    form.refuse(
        BrandChanged(
            f"{other or 'Someone else'} has changed this brand meanwhile: {changed}. What you did"
            " not touch is as they left it. Save to keep yours."
        )
    )
    return await render_brand(request, brand, form)


def fetch_brand(name: str) -> Steps[deals.Brand]:
    key = key_of(name, deals.brand_key, deals.UnknownBrand)
    return (yield from deals.fetch_brand_for_editor(key))


def facts_of(brand: deals.Brand) -> dict[str, Any]:
    return {name: getattr(brand, name) for name in deals.BRAND_FACTS}


def texts_of(facts: Mapping[str, str | None]) -> dict[str, str]:
    return {name: fact for name, fact in facts.items() if fact is not None}


def form_of(brand: deals.Brand) -> AnyForm:
    return empty_form(**texts_of(facts_of(brand)), seen=deal_form.seen_text(facts_of(brand)))


def edit_path(brand: deals.Brand) -> str:
    return f"/editor/brands/edit/{quote(brand.brand, safe='')}"


async def render_brand(
    request: AppRequest, brand: deals.Brand, form: AnyForm, *, done: str = ""
) -> Response:
    """The form as typed, for the brand as it is now."""
    return await request.form_page(
        "editor/brand.html",
        brand=brand,
        form=form,
        path=edit_path(brand),
        done=done,
    )
