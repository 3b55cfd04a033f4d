"""Responses that many callers read, cached as bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from bigtime.web.api.bodies import ResponseBody
from bigtime.web.http import json_answer
from bigtime.web.pages import Page, context_of
from bigtime.wire import Steps

T = TypeVar("T")


async def cached(
    request: Request,
    steps: Steps[T],
    show: Callable[[T], ResponseBody],
    tags: Callable[[T], Collection[str]],
    *,
    keep: bool = True,
) -> Response:
    """Runs steps and caches the response under the request's address, until a tag is invalidated.

    With `keep=False` it is not cached: the address spells a name in another way than the cache.
    Nor is it with a query, for a query of an API says what is read.
    """
    context = context_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        found = await context.store.run(steps)
        return Page.json(show(found).json_bytes()), tags(found)

    if keep and not request.scope["query_string"]:
        return await context.cached(request, make)
    return json_answer(show(await context.store.run(steps)).json_bytes(), 200)
