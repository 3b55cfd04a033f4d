"""The site's about page, privacy notice and terms; the latter two can be external pages."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import Response

from bigtime.web.http import see_other
from bigtime.web.pages import AppRequest, Page, page_router

router = page_router()


@router.get("/about")
async def show_about(request: AppRequest) -> Response:
    return await static_page(request, "about/about.html")


@router.get("/privacy")
async def show_privacy(request: AppRequest) -> Response:
    """What is stored of a visitor, which cookies there are, and for how long."""
    elsewhere = request.context.settings.privacy_url
    return see_other(elsewhere) if elsewhere else await static_page(request, "about/privacy.html")


@router.get("/terms")
async def show_terms(request: AppRequest) -> Response:
    elsewhere = request.context.settings.terms_url
    return see_other(elsewhere) if elsewhere else await static_page(request, "about/terms.html")


async def static_page(request: AppRequest, template: str) -> Response:
    """A page without data, cached as long as the process runs."""

    async def make() -> tuple[Page, Collection[str]]:
        return request.context.templates.page(template), ()

    return await request.cached_page(make)
