"""The routes of `/api/v1`, as FastAPI has them."""

from __future__ import annotations

from typing import Any

from fastapi.routing import APIRoute

from bigtime.web.api import V1
from bigtime.web.api.bodies import RequestBody

ROUTES = [route for router in V1 for route in router.routes if isinstance(route, APIRoute)]


def by_system() -> dict[str, list[APIRoute]]:
    found: dict[str, list[APIRoute]] = {}
    for route in ROUTES:
        found.setdefault(str(route.tags[0]), []).append(route)
    return found


def body_of(route: APIRoute) -> type[RequestBody] | None:
    """The body that a route reads."""
    kind: Any = route.body_field.field_info.annotation if route.body_field else None
    return kind if kind is None or issubclass(kind, RequestBody) else None
