"""About the site, its privacy notice and its terms; the two can be pages elsewhere."""

from __future__ import annotations

from collections.abc import Collection

from fastapi import Request, Response

from bigtime.web.http import page_router, see_other
from bigtime.web.pages import Page, context_of

router = page_router()


@router.get("/about")
async def show_about(request: Request) -> Response:
    return await static_page(request, "about/about.html")


@router.get("/privacy")
async def show_privacy(request: Request) -> Response:
    """What is stored of a visitor, which cookies there are, and for how long."""
    elsewhere = context_of(request).settings.privacy_url
    return see_other(elsewhere) if elsewhere else await static_page(request, "about/privacy.html")


@router.get("/terms")
async def show_terms(request: Request) -> Response:
    elsewhere = context_of(request).settings.terms_url
    return see_other(elsewhere) if elsewhere else await static_page(request, "about/terms.html")


async def static_page(request: Request, template: str) -> Response:
    """A page that shows no data, and is cached as long as the process runs."""
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        return context.templates.page(template), ()

    return await context.cached_page(request, make)
