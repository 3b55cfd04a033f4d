"""Routes of the APIs: JSON bodies read with care, and no query parameter that nobody reads.

A price such as 299.99 is that number, and not the float nearest to it: numbers with a point become
decimals. What a lenient reader lets through is refused here: NaN, half a surrogate, a body of
another type, one that is too long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Coroutine, Iterator
from decimal import Decimal
from typing import Any, Final

import orjson
from fastapi import APIRouter, Depends
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_snake
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Malformed, System
from bigtime.web.api.errors import WRITE, Documented

MOST_BYTES: Final = 256 * 1024
JSON: Final = "application/json"
NO_STORE: Final = {"cache-control": "no-store"}
WRITING: Final = ("POST", "PUT", "PATCH")


async def forbid_storing(response: Response) -> None:
    """No cache on the way keeps a response: it may be for the caller alone."""
    response.headers.update(NO_STORE)


class V1Router(APIRouter):
    """A router of `/api/v1`, whose functions are named like the patterns that they run.

    The summary of a route is the title of that pattern, unless it is given. `reads` are the errors
    documented of its GETs; of all others they are those of a write.
    """

    def __init__(self, system: System, *, reads: Documented) -> None:
        super().__init__(
            prefix="/api/v1",
            tags=[system.name],
            route_class=JsonRoute,
            dependencies=[Depends(forbid_storing)],
            generate_unique_id_function=operation_id,
        )
        self.patterns = system.patterns
        self.reads = reads

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if not options.get("summary"):
            options["summary"] = self.patterns[endpoint.__name__].title
        if not options.get("responses"):
            options["responses"] = self.reads if options["methods"] == ["GET"] else WRITE
        super().add_api_route(path, endpoint, **options)


def portal_router(resource: str) -> APIRouter:
    """A router of `/v1.0`."""
    return APIRouter(
        prefix=f"/v1.0/{resource}",
        tags=[resource],
        route_class=JsonRoute,
        dependencies=[Depends(forbid_storing)],
    )


def operation_id(route: APIRoute) -> str:
    """The method and the words of the path: `get_brands_brand_name_deals`."""
    method = min(route.methods or ())
    path = route.path.removeprefix("/api/v1").replace(":path", "")
    return "_".join([method.lower(), *map(to_snake, re.findall(r"[A-Za-z]+", path))])


class JsonRoute(APIRoute):
    """A route that reads JSON bodies, and refuses query parameters that it does not know."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = {*query_names(self.dependant)}

        async def read_and_handle(request: Request) -> Response:
            check_query(request, known)
            if request.method in WRITING:
                request = JsonRequest(request, await read_body(request))
            return await handle(request)

        return read_and_handle


def query_names(dependant: Dependant) -> Iterator[str]:
    """The query parameters that a route and its dependencies read."""
    yield from (parameter.alias for parameter in dependant.query_params)
    for dependency in dependant.dependencies:
        yield from query_names(dependency)


def check_query(request: Request, known: Collection[str]) -> None:
    unknown = dict.fromkeys(name for name in request.query_params if name not in known)
    if unknown:
        message = "There is no such query parameter."
        raise RequestValidationError(
            [{"type": "unknown", "loc": ("query", name), "msg": message} for name in unknown]
        )


class JsonRequest(Request):
    """A request whose body was read and is JSON, or empty."""

    def __init__(self, request: Request, content: bytes) -> None:
        super().__init__(request.scope, request.receive)
        self.content = content
        self.value = object_in(content) if content else None

    async def body(self) -> bytes:
        return self.content

    async def json(self) -> Any:
        return self.value


async def read_body(request: Request) -> bytes:
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MOST_BYTES:
            raise Malformed(f"A body has at most {MOST_BYTES:,} bytes; send less.")
    kind = request.headers.get("content-type", "").partition(";")[0]
    if content and kind.strip().lower() != JSON:
        raise Malformed(f"A body is sent as {JSON}; say so in Content-Type.")
    return content


def object_in(content: bytes) -> dict[str, Any]:
    """The object that a body is. A model would look for its fields in anything, even a decimal."""
    value = parse_json(content)
    if not isinstance(value, dict):
        raise Malformed("The body is no JSON object; send one, such as {}.")
    return value


def parse_json(content: bytes) -> Any:
    try:
        orjson.loads(content)
        return json.loads(content, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError):
        raise Malformed("The body is not JSON; correct it and send it again.") from None
