"""Responses that many callers read, cached as bytes that `HotPages` sends without the framework.

They are cached under the request's address, with the query parameters of list pages, whose number
is limited by the data. Any other query is answered from the store: `consistent=true` asks for that,
and other values could be any text, which would displace entries that are read more often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from starlette.responses import Response

from bigtime.web import http, pages
from bigtime.web.api.bodies import ResponseBody
from bigtime.web.pages import AppRequest
from bigtime.wire import Steps

T = TypeVar("T")

OF_PAGES: Final = frozenset({"ascending", "pageSize", "startAt"})
"""The query parameters of the pages of a list."""


async def cached_response(
    request: AppRequest,
    steps: Steps[T],
    show: Callable[[T], ResponseBody],
    tags: Callable[[T], Collection[str]],
    *,
    keep: bool = True,
    address: str | None = None,
) -> Response:
    """Runs steps and caches the response under the request's address, until a tag is invalidated.

    With `keep=False` it is not cached, because the address spells a name differently from the cache
    key. A list with filters passes its `address` in the one spelling that is cached.
    """

    async def make() -> tuple[pages.Page, Collection[str]]:
        found = await request.run(steps)
        return pages.Page.json(show(found).json_bytes()), tags(found)

    if keep and address is None and is_cacheable(request):
        address = pages.address_of(request.scope)
    if address is not None:
        return await request.cached_page(make, address=address)
    return http.json_answer(show(await request.run(steps)).json_bytes(), 200)


def is_cacheable(request: AppRequest) -> bool:
    """Whether the query only has parameters of list pages, each once.

    A path with an encoded `?` is not cached, as it reads like another path with a query.
    """
    if "?" in request.scope["path"]:
        return False
    query: bytes = request.scope["query_string"]
    if not query:
        return True
    names = [name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)]
    return len({*names}) == len(names) and OF_PAGES.issuperset(names)
