"""The tables of endpoints: every access pattern has its route, and every route is reached."""

from __future__ import annotations

import re

import pytest
from starlette.routing import Match

from bigtime.site.systems import SYSTEMS
from bigtime.web.api.endpoint import OWN, May
from bigtime.web.api.v1_routes import ENDPOINTS, NOT_FOR_HTTP
from bigtime.web.routers import ROUTERS

NAMES = {
    "brandName": "AC%DC/1",
    "categoryName": "HOME",
    "sk": "ACTIVE#1#2",
    "watchKey": "BRAND#a/b",
}


@pytest.mark.parametrize("name", ENDPOINTS)
def test_every_access_pattern_has_a_route_or_a_reason(name: str) -> None:
    (system,) = [one for one in SYSTEMS if one.name == name]
    routed = {id(one) for row in ENDPOINTS[name] for one in (row.pattern, *row.also)}
    elsewhere = {id(one) for rows in ENDPOINTS.values() for row in rows for one in row.also}
    missing = {
        f"{name}.{one.name}"
        for one in system.patterns.values()
        if id(one) not in routed | elsewhere
    }
    assert missing == {one for one in NOT_FOR_HTTP if one.startswith(f"{name}.")}


def test_every_route_is_the_first_that_answers_its_path() -> None:
    routes = [route for router in ROUTERS for route in router.routes]
    for rows in ENDPOINTS.values():
        for row in rows:
            names = re.findall(r"{(\w+)", row.path)
            told = {name: NAMES.get(name, "x") for name in names}
            path = "/api/v1" + re.sub(":path", "", row.path).format(**told)
            scope = {"type": "http", "method": row.method, "path": path}
            matched = next(route for route in routes if route.matches(scope)[0] is Match.FULL)
            assert matched.path == "/api/v1" + row.path  # type: ignore[attr-defined]


def test_what_is_somebodys_own_is_never_asked_of_a_request() -> None:
    for rows in ENDPOINTS.values():
        for row in rows:
            own = [name for name in OWN if name in row.takes]
            assert not own or row.may is not May.EVERYBODY
            assert not set(own) & {*row.in_path, *row.asks}
            assert row.body is None or not set(own) & set(row.body.model_fields)
