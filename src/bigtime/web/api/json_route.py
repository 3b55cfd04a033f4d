"""Bodies in JSON, read with care.

A price such as 299.99 is that number, and not the float nearest to it: numbers with a point become
decimals. What a lenient reader lets through is refused here: NaN, half a surrogate, a body of
another type, one that is too long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from decimal import Decimal
from typing import Any, Final

import orjson
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import Malformed

MOST_BYTES: Final = 256 * 1024
JSON: Final = "application/json"
WRITING: Final = ("POST", "PUT", "PATCH")


class JsonRoute(APIRoute):
    """A route whose body is JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def read_and_handle(request: Request) -> Response:
            if request.method in WRITING:
                request = JsonRequest(request, await read_body(request))
            return await handle(request)

        return read_and_handle


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
    value = parsed(content)
    if not isinstance(value, dict):
        raise Malformed("The body is no JSON object; send one, such as {}.")
    return value


def parsed(content: bytes) -> Any:
    try:
        orjson.loads(content)
        return json.loads(content, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError):
        raise Malformed("The body is not JSON; correct it and send it again.") from None
