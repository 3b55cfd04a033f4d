"""Routes of pages and APIs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope


class Route(APIRoute):
    """A route that compares the beginning of the path before its regular expression.

    Routes are tried in turn: a hundred of them before those of an admin, at 1 us each.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.beginning = path.partition("{")[0]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if not scope["path"].startswith(self.beginning):
            return Match.NONE, {}
        return super().matches(scope)


def page_router() -> APIRouter:
    """A router of pages, which are not in the documentation of the APIs."""
    return APIRouter(include_in_schema=False, route_class=Route)
