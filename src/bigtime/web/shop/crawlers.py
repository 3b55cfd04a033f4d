"""What search engines ask for: `robots.txt` and the sitemap."""

from __future__ import annotations

from html import escape
from typing import Final
from urllib.parse import quote

from fastapi import Response
from fastapi.responses import PlainTextResponse

from bigtime import site
from bigtime.model import together
from bigtime.systems import deals
from bigtime.web.http import see_other
from bigtime.web.pages import AppRequest, page_router
from bigtime.wire import Steps

PRIVATE: Final = ("/admin", "/editor", "/me", "/inbox", "/cart", "/checkout", "/orders", "/portal/")
PUBLIC: Final = (
    "/",
    "/categories",
    "/brands",
    "/editors-choice",
    "/trending",
    "/pricing",
    "/about",
)
HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"

router = page_router()


@router.get("/robots.txt")
async def show_robots(request: AppRequest) -> Response:
    """Which pages are for people alone, and where the sitemap is."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in PRIVATE)]
    sitemap = f"Sitemap: {request.context.settings.base_url}/sitemap.xml"
    return PlainTextResponse("\n".join((*lines, "", sitemap, "")))


@router.get("/favicon.ico")
async def show_icon() -> Response:
    """For programs that do not read a page's link to its icon."""
    return see_other("/static/icon.svg")


@router.get("/sitemap.xml")
async def show_sitemap(request: AppRequest) -> Response:
    """The public pages: lists, categories, brands, and the latest deals."""
    paths = await request.context.remember("sitemap", (site.BRANDS, site.LATEST), public_paths)
    base_url = request.context.settings.base_url
    urls = "".join(f"<url><loc>{escape(base_url + path)}</loc></url>\n" for path in paths)
    body = f'{HEAD}<urlset xmlns="{NAMESPACE}">\n{urls}</urlset>\n'
    return Response(body, media_type="application/xml")


def public_paths() -> Steps[list[str]]:
    brands, (_, latest) = yield from together(deals.fetch_all_brands(), deals.fetch_front_page())
    return [
        *PUBLIC,
        *(f"/categories/{quote(deals.category_key(name), safe='')}" for name in deals.CATEGORIES),
        *(f"/brands/{quote(deals.brand_key(name), safe='')}" for name in brands),
        *(site.deal_path(deal) for deal in latest),
    ]
