"""The documentation of the APIs: `/openapi.json` for programs, `/docs` for people.

To describe a hundred routes takes a second, in which an event loop would answer nobody. So it is
done once, on a thread, at the first request; whoever asks meanwhile waits for the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import orjson
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.web.api.description import Description
from bigtime.web.pages import Page, Templates, context_of

docs = APIRouter(include_in_schema=False)


@docs.get("/openapi.json")
async def show_openapi(request: Request) -> Response:
    """Every route of every API, in OpenAPI."""
    return await answer_from(request, lambda documents: documents.openapi)


@docs.get("/docs")
async def show_docs(request: Request) -> Response:
    """Every route of every API, by its subject."""
    return await answer_from(request, lambda documents: documents.docs)


async def answer_from(request: Request, choose: Callable[[Documents], Page]) -> Response:
    documentation: Documentation = request.app.state.documentation

    async def make() -> tuple[Page, Collection[str]]:
        return choose(await documentation.documents()), ()

    return await context_of(request).cached(request, make)


@dataclass(frozen=True, slots=True)
class Documents:
    """The description in OpenAPI, and the page that is made of it."""

    openapi: Page
    docs: Page

    @classmethod
    def of(cls, openapi: dict[str, Any], templates: Templates) -> Documents:
        description = Description(openapi)
        page = templates.page(
            "api/docs.html", subjects=description.subjects(), schemes=description.schemes()
        )
        return cls(Page.json(orjson.dumps(openapi)), page)


class Documentation:
    """Makes the documents at the first request, and keeps them. For one event loop."""

    def __init__(self, describe: Callable[[], dict[str, Any]], templates: Templates) -> None:
        self.describe = describe
        self.templates = templates
        self._making: asyncio.Task[Documents] | None = None

    async def documents(self) -> Documents:
        if self._making is None or has_failed(self._making):
            self._making = asyncio.create_task(asyncio.to_thread(self._make))
        return await asyncio.shield(self._making)  # who goes away takes it from nobody

    def _make(self) -> Documents:
        return Documents.of(self.describe(), self.templates)


def has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
