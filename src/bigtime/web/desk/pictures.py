"""Uploading and removing pictures of deals and logos of brands.

A deal's picture is sent with the rest of its form, so that what was typed there is kept; it does
not change the deal's facts.
"""

from __future__ import annotations

from urllib.parse import quote

from fastapi import Response
from pydantic import BaseModel

from bigtime import site
from bigtime.model import Conflict
from bigtime.site import Pictured, Visitor
from bigtime.systems import deals
from bigtime.web.desk.brands import fetch_brand
from bigtime.web.desk.deal_form import ChangedDeal, Editor, desk_path, keep_picture, read_deal
from bigtime.web.desk.deals import differences, facts_of, render_page
from bigtime.web.http import see_other
from bigtime.web.pages import AnyForm, AppRequest, empty_form, page_router

router = page_router()

CHOOSE = "Choose a picture first."


class LogoForm(BaseModel):
    """The form of a logo: a picture alone."""


@router.post("/editor/deals/{deal_id}/picture")
async def upload_deal_picture(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """Keeps a picture for the worker; the form is shown again with what was typed."""
    form, picture = await request.read_picture_form(ChangedDeal)
    deal = await read_deal(request, deal_id)
    facts = facts_of(form.value) if form.value else None
    if picture is None:
        form.wrong.setdefault("picture", CHOOSE)
        return await render_page(request, deal, form)
    await keep_picture(request, who, Pictured.deal(deal.deal_id), picture)
    if facts is not None and not differences(deal, facts):
        return see_other(f"{desk_path(deal)}?done=picture")
    form.shown_as = 200
    return await render_page(request, deal, form, done="picture only")


@router.post("/editor/deals/{deal_id}/picture/remove")
async def remove_deal_picture(request: AppRequest, who: Editor, deal_id: str) -> Response:
    """The deal has its category's icon again."""
    await request.read_fields()
    deal = await read_deal(request, deal_id)
    await remove(request, who, Pictured.deal(deal.deal_id))
    return see_other(f"{desk_path(deal)}?done=removed")


@router.get("/editor/brands/{name:path}/picture")
async def show_logo(request: AppRequest, who: Editor, name: str, done: str = "") -> Response:
    """A brand's logo, and the form to upload another."""
    brand = await request.run(fetch_brand(name))
    return await render_logo(request, brand, empty_form(), done=done)


@router.post("/editor/brands/{name:path}/picture")
async def upload_logo(request: AppRequest, who: Editor, name: str) -> Response:
    """Keeps a logo for the worker."""
    form, picture = await request.read_picture_form(LogoForm)
    brand = await request.run(fetch_brand(name))
    if picture is None:
        form.wrong.setdefault("picture", CHOOSE)
        return await render_logo(request, brand, form)
    await keep_picture(request, who, Pictured.brand(brand.brand), picture)
    return see_other(f"{logo_path(brand)}?done=picture")


@router.post("/editor/brands/{name:path}/picture/remove")
async def remove_logo(request: AppRequest, who: Editor, name: str) -> Response:
    """The brand has its initials again."""
    await request.read_fields()
    brand = await request.run(fetch_brand(name))
    await remove(request, who, Pictured.brand(brand.brand))
    return see_other(f"{logo_path(brand)}?done=removed")


async def remove(request: AppRequest, who: Visitor, of: Pictured) -> None:
    """Removes a picture; tries again if the worker has just set another."""
    for is_last in (False, True):
        try:
            await request.run(site.remove_picture(who.username, of))
        except Conflict:
            if is_last:
                raise
        else:
            return


def logo_path(brand: deals.Brand) -> str:
    return f"/editor/brands/{quote(brand.brand, safe='')}/picture"


async def render_logo(
    request: AppRequest, brand: deals.Brand, form: AnyForm, *, done: str = ""
) -> Response:
    upload = await request.run(site.fetch_upload(Pictured.brand(brand.brand)))
    return await request.form_page(
        "editor/brand_picture.html",
        brand=brand,
        form=form,
        upload=upload,
        done=done,
    )
