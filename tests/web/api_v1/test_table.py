"""The routes of `/api/v1`: every access pattern has one, and every route is reached."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fastapi.dependencies.models import Dependant
from starlette.routing import Match

from bigtime.site.systems import SYSTEMS
from bigtime.web.api import NOT_FOR_HTTP
from bigtime.web.api.routing import plain_title
from bigtime.web.app import ROUTERS
from tests.web.api_v1.routes import ROUTES, body_of, by_system

NAMES = {
    "brandName": "AC%DC/1",
    "categoryName": "HOME",
    "sk": "ACTIVE#1#2",
    "watchKey": "BRAND#a/b",
}
OWN = ("username", "account_id", "user_id", "accountId", "userId")
"""What is the caller's own, and comes from their session."""


@pytest.mark.parametrize("name", by_system())
def test_every_access_pattern_has_a_route_or_a_reason(name: str) -> None:
    """A route's summary is the title of the pattern that it runs."""
    (system,) = [system for system in SYSTEMS if system.name == name]
    routed = {route.summary for route in by_system()[name]}
    titles = {plain_title(pattern.title) for pattern in system.patterns.values()}
    missing = {
        f"{name}.{pattern.name}"
        for pattern in system.patterns.values()
        if plain_title(pattern.title) not in routed
    }
    assert missing == {each for each in NOT_FOR_HTTP if each.startswith(f"{name}.")}
    assert routed <= titles


def test_every_route_is_the_first_that_answers_its_path() -> None:
    routes = [route for router in ROUTERS for route in router.routes]
    for row in ROUTES:
        names = re.findall(r"{(\w+)", row.path)
        told = {name: NAMES.get(name, "x") for name in names}
        path = re.sub(":path", "", row.path).format(**told)
        method = min(row.methods or ())
        scope = {"type": "http", "method": method, "path": path}
        matched = next(route for route in routes if route.matches(scope)[0] is Match.FULL)
        assert matched.path == row.path  # type: ignore[attr-defined]


def parameters_of(dependant: Dependant) -> Iterator[str]:
    """What a route reads from the path and the query."""
    for parameter in (*dependant.path_params, *dependant.query_params):
        yield parameter.alias
    for dependency in dependant.dependencies:
        yield from parameters_of(dependency)


def test_what_is_somebodys_own_is_never_asked_of_a_request() -> None:
    for route in ROUTES:
        body = body_of(route)
        assert not set(OWN) & {*parameters_of(route.dependant)}, route.path
        assert body is None or not set(OWN) & set(body.model_fields), route.path
