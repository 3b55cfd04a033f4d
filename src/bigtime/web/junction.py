"""Many routes, found by the first word of a path.

A site has a hundred routes, and to try one pattern after the other costs more than some of the
pages do. The first word of a path is always a plain one, such as `brands`, and leads to the few
routes that begin with it, in the order in which they were told.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

CHOSEN = "bigtime.route"


class Junction(BaseRoute):
    """One route to the framework; behind it many."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self.by_word: dict[str, list[Route]] = {}
        for route in routes:
            if not isinstance(route, Route) or "{" in first_word(route.path):
                raise TypeError(f"{route!r} does not begin with a plain word; include its router")
            self.by_word.setdefault(first_word(route.path), []).append(route)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The first route that takes the request; else the first that takes its path."""
        found: tuple[Match, Scope] = Match.NONE, {}
        if scope["type"] != "http":
            return found
        for route in self.by_word.get(first_word(scope["path"]), ()):
            match, told = route.matches(scope)
            if match is Match.NONE or (match is Match.PARTIAL and found[0] is Match.PARTIAL):
                continue
            found = match, {**told, CHOSEN: route}
            if match is Match.FULL:
                break
        return found

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope[CHOSEN].handle(scope, receive, send)


def first_word(path: str) -> str:
    return path[1:].partition("/")[0]
