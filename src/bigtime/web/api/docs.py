"""The documentation of the APIs: `/openapi.json` for programs, and as a page for people."""

from __future__ import annotations

from collections.abc import Callable, Collection

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.web.api.documents import Documentation, Documents
from bigtime.web.pages import Page, site_of

docs = APIRouter(include_in_schema=False)


@docs.get("/openapi.json")
async def show_openapi(request: Request) -> Response:
    """Every route of every API, in OpenAPI."""
    return await shown(request, lambda made: made.openapi)


@docs.get("/docs")
async def show_docs(request: Request) -> Response:
    """Every route of every API, by its subject."""
    return await shown(request, lambda made: made.docs)


async def shown(request: Request, which: Callable[[Documents], Page]) -> Response:
    documentation: Documentation = request.app.state.documentation

    async def make() -> tuple[Page, Collection[str]]:
        return which(await documentation.documents()), ()

    return await site_of(request).cached(request, make)
