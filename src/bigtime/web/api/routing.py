"""Routers and routes of the APIs: errors, JSON bodies, and refusal of unknown query parameters.

A price such as 299.99 is exactly that number, not the nearest float: numbers with a decimal point
become decimals. What a lenient parser accepts is refused here: NaN, a lone surrogate, a body of
another type, one that is too long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from decimal import Decimal
from typing import Any, Final, TypeAlias

import orjson
from fastapi import APIRouter, Depends
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_snake
from starlette.requests import Request
from starlette.responses import Response

from bigtime.model import DomainError, Malformed, System
from bigtime.systems import portal
from bigtime.web.http import FieldFault
from bigtime.web.pages import AppRequest, Route

MOST_BYTES: Final = 256 * 1024
JSON: Final = "application/json"
NO_STORE: Final = {"cache-control": "no-store"}
WRITING: Final = ("POST", "PUT", "PATCH")
REFUSED_PRICE: Final = "A price is more than 0, with at most two decimals."


# Errors: one shape, documented beside every route


class FieldProblem(BaseModel):
    """What is wrong with one field of a request."""

    field: str = Field(description="Its name, with dots where it lies inside another.")
    message: str


class Problem(BaseModel):
    """An error."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "error": "invalid-request",
                    "message": f"price: {REFUSED_PRICE}",
                    "details": [{"field": "price", "message": REFUSED_PRICE}],
                }
            ]
        }
    )

    error: str = Field(description="A code that stays the same, for programs.")
    message: str = Field(description="A sentence for people.")
    details: list[FieldProblem]


MEANINGS: Final = {
    400: "The request cannot be read: no JSON, a field that is missing, unknown or of another type,"
    " a query parameter that is unknown or out of bounds, a cursor that is not ours.",
    401: "No token was sent, or it is not valid any more.",
    403: "The caller's roles, or the scope of the API token, do not allow this.",
    404: "There is no such resource, or the caller may not see it.",
    409: "This conflicts with what is there; read it again, then decide.",
    422: "The request can be read, and is against a rule.",
    429: "That was too often; `Retry-After` says how many seconds to wait.",
    503: "This cannot be done now; try again soon.",
}


Documented: TypeAlias = dict[int | str, dict[str, Any]]
"""The `responses` of a route that are errors."""


def header(description: str, **schema: object) -> dict[str, Any]:
    return {"description": description, "required": True, "schema": schema}


HEADERS: Final[dict[int, dict[str, Any]]] = {
    401: {"WWW-Authenticate": header("How to be let in.", type="string", const="Bearer")},
    429: {"Retry-After": header("How many seconds to wait.", type="integer", minimum=1)},
}


def error_responses(*statuses: int) -> Documented:
    """The errors that a route documents; always with 422, or FastAPI would add its own."""
    return {status: error_response(status) for status in sorted({*statuses, 422})}


def error_response(status: int) -> dict[str, Any]:
    response: dict[str, Any] = {"model": Problem, "description": MEANINGS[status]}
    return response | {"headers": HEADERS[status]} if status in HEADERS else response


PUBLIC: Final = error_responses(400, 404)
"""The `responses` of a route of `/api/v1` that reads, and is open to everybody."""
OWN: Final = error_responses(400, 401, 403, 404, 429)
"""The `responses` of a route that reads the caller's own data."""
STAFF: Final = error_responses(400, 401, 403, 404, 429)
"""The `responses` of a route that reads for editors or admins."""
WRITE: Final = error_responses(400, 401, 403, 404, 409, 429)
"""The `responses` of a route that writes."""


ABOUT: Final[dict[type[DomainError], tuple[str, ...]]] = {
    portal.RangeReversed: ("createdFrom", "createdTo"),
    portal.DatesReversed: ("fromDate", "toDate"),
    portal.DiscountTooHigh: ("discountPercentage",),
    portal.EmailTaken: ("email",),
    portal.CampaignExists: ("code",),
    portal.CampaignNotValid: ("campaignCode",),
    portal.CampaignElsewhere: ("campaignCode",),
    portal.TotalMoved: ("total",),
    portal.LinesRefused: ("items",),
}
"""The fields of errors that are found by checking several fields together."""


def faults_of(error: Exception) -> list[FieldFault]:
    """The messages of an error by field."""
    names = (ABOUT[kind] for kind in type(error).__mro__ if kind in ABOUT)
    return [FieldFault(name, str(error)) for name in next(names, ())]


# Routers


async def forbid_storing(response: Response) -> None:
    """Forbids all caches to store a response: it may be for the caller only."""
    response.headers.update(NO_STORE)


class V1Router(APIRouter):
    """A router of `/api/v1`, whose functions are named like the patterns that they run.

    The summary of a route is the pattern's title in words, unless it is given. `reads` are the
    errors documented for its GETs; all other methods document those of a write.
    """

    def __init__(self, system: System, *, reads: Documented) -> None:
        super().__init__(
            prefix="/api/v1",
            tags=[system.name],
            generate_unique_id_function=operation_id,
            **json_routes(),
        )
        self.patterns = system.patterns
        self.reads = reads

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if not options.get("summary"):
            options["summary"] = plain_title(self.patterns[endpoint.__name__].title)
        if not options.get("responses"):
            options["responses"] = self.reads if options["methods"] == ["GET"] else WRITE
        super().add_api_route(path, endpoint, **options)


def plain_title(title: str) -> str:
    """A pattern's title in words: `Get deal by id` for `Pattern #1 get_deal_by_id`."""
    _, is_numbered, name = title.partition("Pattern #")
    return name.partition(" ")[2].replace("_", " ").capitalize() if is_numbered else title


class PortalRouter(APIRouter):
    """A router of `/v1.0`. The errors of a route follow from its method and path, unless given."""

    def __init__(self, resource: str) -> None:
        super().__init__(prefix=f"/v1.0/{resource}", tags=[resource], **json_routes())

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if not options.get("responses"):
            missing = [404] if "{" in path else []
            write = [] if options["methods"] == ["GET"] else [409]
            options["responses"] = error_responses(400, 401, 403, 429, *missing, *write)
        super().add_api_route(path, endpoint, **options)


def json_routes() -> dict[str, Any]:
    return {"route_class": JsonRoute, "dependencies": [Depends(forbid_storing)]}


def operation_id(route: APIRoute) -> str:
    """The method and the words of the path: `get_brands_brand_name_deals`."""
    method = min(route.methods or ())
    path = route.path.removeprefix("/api/v1").replace(":path", "")
    return "_".join([method.lower(), *map(to_snake, re.findall(r"[A-Za-z]+", path))])


# Routes


class JsonRoute(Route):
    """A route that reads JSON bodies, and refuses query parameters that it does not know."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.known = {*query_names(self.dependant)}

    async def own_request(self, request: Request) -> AppRequest:
        check_query(request, self.known)
        if request.method not in WRITING:
            return AppRequest(request)
        return JsonRequest(request, await read_body(request))


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


def check_alone(parameter: str, value: object, **others: object) -> None:
    """Raises an error if a query parameter is combined with others that it excludes.

    The others are named as in queries; a false value counts as absent.
    """
    wrong = [name for name, other in others.items() if value and other]
    if wrong:
        message = f"This cannot be combined with `{parameter}`."
        raise RequestValidationError(
            [{"type": "together", "loc": ("query", name), "msg": message} for name in wrong]
        )


class JsonRequest(AppRequest):
    """A request whose body has been read, and is JSON or empty."""

    def __init__(self, request: Request, content: bytes) -> None:
        super().__init__(request)
        self.content = content
        self.value = object_in(content) if content else None

    async def body(self) -> bytes:
        return self.content

    async def json(self) -> object:
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
    """The body as an object: a model would look for its fields in any value, even a decimal."""
    value = parse_json(content)
    if not isinstance(value, dict):
        raise Malformed("The body is no JSON object; send one, such as {}.")
    return value


def parse_json(content: bytes) -> object:
    try:
        orjson.loads(content)
        return json.loads(content, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError):
        raise Malformed("The body is not JSON; correct it and send it again.") from None
