"""The description of the API: every route, every answer, with examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from bigtime.web.api import API
from bigtime.web.api.routing import parse_json
from tests.web.api_v1.routes import ROUTES, body_of
from tests.web.browsing import make_web, site_engine

Told = dict[str, Any]


@pytest.fixture(scope="module")
def openapi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    with site_engine() as engine:
        front, _ = make_web(engine, tmp_path_factory.mktemp("site"))
        with TestClient(front) as client:
            yield client.get("/openapi.json").json()


def operations(openapi: Told) -> Iterator[tuple[str, str, Told]]:
    for path, methods in openapi["paths"].items():
        if path.startswith("/api/v1/"):
            for method, told in methods.items():
                yield path, method, told


def test_every_route_is_described_once(openapi: Told) -> None:
    found = list(operations(openapi))
    names = [told["operationId"] for _, _, told in found]
    routes = [
        route
        for router in API
        for route in router.routes
        if isinstance(route, APIRoute) and route.path.startswith("/api/v1/")
    ]
    assert len(found) == len(routes) == len(set(names))
    assert len(routes) > len(ROUTES)  # a search is no access pattern
    assert all(told["summary"] and told["description"] for _, _, told in found)


def test_every_error_has_the_one_shape(openapi: Told) -> None:
    for path, method, told in operations(openapi):
        for status, answer in told["responses"].items():
            if int(status) >= 400:
                schema = answer["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Problem"}, (path, method, status)


def test_every_answer_has_a_shape_of_its_own(openapi: Told) -> None:
    for path, method, told in operations(openapi):
        (good,) = [status for status in told["responses"] if int(status) < 400]
        if good == "204":
            assert "content" not in told["responses"][good]
        else:
            schema = told["responses"][good]["content"]["application/json"]["schema"]
            assert "$ref" in schema, (path, method)


def test_every_body_has_an_example_that_its_route_would_read(openapi: Told) -> None:
    bodies = {body for route in ROUTES if (body := body_of(route))}
    for body in bodies:
        (example,) = body.model_json_schema()["examples"]
        body.model_validate(parse_json(orjson.dumps(example)))
    assert len(bodies) == 31


def test_what_needs_a_session_says_so(openapi: Told) -> None:
    for path, method, told in operations(openapi):
        is_open = "401" not in told["responses"] or path == "/api/v1/sessions"
        assert ("security" in told) is not is_open, (path, method)


def test_whatever_reads_a_body_says_that_it_may_not_be_able_to(openapi: Told) -> None:
    for path, method, told in operations(openapi):
        if method in ("post", "put", "patch"):
            assert "400" in told["responses"], (method, path)


def test_a_wait_and_a_way_in_are_told_in_headers(openapi: Told) -> None:
    headers = {"401": {"WWW-Authenticate"}, "429": {"Retry-After"}}
    for path, method, told in operations(openapi):
        for status, answer in told["responses"].items():
            assert {*answer.get("headers", {})} == headers.get(status, set()), (method, path)
