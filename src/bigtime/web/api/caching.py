"""Responses that many callers read, kept as bytes, and what a write drops of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from bigtime.web.api.bodies import ResponseBody
from bigtime.web.http import json_answer
from bigtime.web.pages import Page, Site, site_of
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
    """Runs steps and keeps the response under the request's address, until a tag is dropped.

    With `keep=False` it is not kept: the address spells a name in another way than the cache.
    """
    site = site_of(request)

    async def make() -> tuple[Page, Collection[str]]:
        found = await site.store.run(steps)
        return Page.json(show(found).json_bytes()), tags(found)

    if keep:
        return await site.cached(request, make)
    return json_answer(show(await site.store.run(steps)).json_bytes(), 200)


def invalidate(site: Site, tags: Iterable[Any]) -> None:
    """Drops what shows what was written just now, so that the caller's next read is current."""
    site.drop(tags)
