"""A table of endpoints as a router of `/api/v1`, with all that its description tells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter
from pydantic.alias_generators import to_snake
from starlette.responses import JSONResponse, Response

from bigtime.web.api.endpoint import Endpoint, May, handler_of
from bigtime.web.api.errors import documented
from bigtime.web.api.json_route import JsonRoute

PREFIX = "/api/v1"

WHO = {
    May.EVERYBODY: "For everybody.",
    May.SIGNED_IN: "For whoever is signed in, and of theirs alone.",
    May.EDITOR: "For editors.",
    May.ADMIN: "For admins.",
}


def v1_router(system: str, endpoints: Iterable[Endpoint]) -> APIRouter:
    """The routes of a system, in the order in which they are tried."""
    router = APIRouter(prefix=PREFIX, tags=[system], route_class=JsonRoute)
    for one in endpoints:
        router.add_api_route(
            one.path,
            handler_of(one),
            methods=[one.method],
            status_code=one.answered_with,
            response_model=one.shows.model if one.shows else None,
            response_class=JSONResponse if one.shows else Response,
            summary=one.pattern.title,
            description=told_of(one),
            operation_id=name_of(one),
            responses=documented(*one.errors),
        )
    return router


def told_of(one: Endpoint) -> str:
    words: list[Any] = [one.note, one.pattern.notes, WHO[one.may]]
    return "\n\n".join(word for word in words if word)


def name_of(one: Endpoint) -> str:
    """What programs that are made from the description call it."""
    words = re.findall(r"[A-Za-z]+", one.path.replace(":path", ""))
    return "_".join([one.method.lower(), *map(to_snake, words)])
