"""The documentation: whole, with examples that are true, and from this machine alone."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from threading import get_ident
from typing import Any

import pytest

from bigtime.web.api import portal_campaigns, portal_checkout, portal_products, portal_tenants
from bigtime.web.api.bodies import RecordChanged, RecordShown, RequestBody, ResponseBody
from bigtime.web.api.docs import Documentation
from bigtime.web.api.routing import Problem, parse_json
from tests.web.api.portal_client import openapi
from tests.web.browsing import Browser, Reader, Web, words

PATHS = {
    "/v1.0/tenants": {"get", "post"},
    "/v1.0/tenants/{tenantId}": {"get", "put"},
    "/v1.0/tenants/{tenantId}/orders": {"get"},
    "/v1.0/tenants/{tenantId}/orders/{orderId}": {"get"},
    "/v1.0/products": {"get", "post"},
    "/v1.0/products/{productId}": {"get", "put"},
    "/v1.0/campaigns": {"get", "post"},
    "/v1.0/campaigns/{code}": {"get", "put"},
    "/v1.0/checkout": {"post"},
    "/v1.0/checkout/codes": {"post"},
}
MODULES = (
    portal_campaigns,
    portal_checkout,
    portal_products,
    portal_tenants,
)
SHAPES: list[type[RequestBody | ResponseBody]] = [RecordChanged, RecordShown]
SHAPES += [
    var
    for module in MODULES
    for var in vars(module).values()
    if isinstance(var, type)
    and issubclass(var, RequestBody | ResponseBody)
    and var.__module__ == module.__name__
    and "[" not in var.__name__  # a page of a list
]


def test_the_portal_has_these_routes_and_no_other(web: Web) -> None:
    found = {
        path: set(methods)
        for path, methods in openapi(web)["paths"].items()
        if path.startswith("/v1.0/")
    }
    assert found == PATHS


def test_every_answer_of_every_route_is_described(web: Web) -> None:
    for path in PATHS:
        for method, told in openapi(web)["paths"][path].items():
            assert told["description"], (method, path)
            assert told["operationId"]
            for status, answer in told["responses"].items():
                schema = answer["content"]["application/json"]["schema"]
                assert answer["description"]
                is_problem = schema == {"$ref": "#/components/schemas/Problem"}
                assert is_problem is (int(status) >= 400), (method, path, status)


def test_operations_have_names_of_their_own(web: Web) -> None:
    names = [
        told["operationId"]
        for methods in openapi(web)["paths"].values()
        for told in methods.values()
    ]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda one: one.__name__)
def test_examples_are_what_they_are_examples_of(shape: type[Any]) -> None:
    examples = (shape.model_config.get("json_schema_extra") or {}).get("examples", [])
    for example in examples:
        made = shape.model_validate(parse_json(json.dumps(example).encode()))
        if issubclass(shape, ResponseBody):
            assert made.model_dump(mode="json", by_alias=True) == example


def test_most_shapes_have_an_example() -> None:
    without = {
        shape.__name__ for shape in SHAPES if not shape.model_config.get("json_schema_extra")
    }
    assert without == {"RecordShown", "RecordChanged", "OrderItemShown", "SnapshotShown"}


def test_the_error_shape_is_documented_as_it_is() -> None:
    assert set(Problem.model_fields) == {"error", "message", "details"}


def test_the_page_tells_every_route(web: Web, visitor: Browser) -> None:
    page = visitor.get("/docs")
    told = words(page.text)
    assert page.status_code == 200
    for path, methods in PATHS.items():
        for method in methods:
            assert f"{method.upper()} {path}" in told
    assert "Idempotency-Key" in told and "X-Form-Token" in told
    assert "pageSize integer from 1 to 100, in the query" in told


def test_the_page_asks_nobody_else_for_anything(visitor: Browser) -> None:
    page = visitor.get("/docs").text
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert "<script>" not in page and "style=" not in page
    assert "/openapi.json" in Reader(page).links


def test_ids_on_the_page_are_its_own(visitor: Browser) -> None:
    ids = re.findall(r' id="([^"]*)"', visitor.get("/docs").text)
    assert len(ids) == len(set(ids))


def test_the_description_is_served(web: Web, visitor: Browser) -> None:
    served = visitor.get("/openapi.json")
    assert served.status_code == 200
    assert served.json()["paths"].keys() == openapi(web)["paths"].keys()
    assert {"bearer", "cookie"} <= served.json()["components"]["securitySchemes"].keys()


def documentation_of(web: Web) -> Documentation:
    found: Documentation = web.front.application.state.documentation  # type: ignore[attr-defined]
    return found


def test_it_is_described_once_and_beside_the_event_loop(web: Web) -> None:
    documentation, threads = documentation_of(web), list[int]()
    described = documentation.describe

    def describe() -> dict[str, Any]:
        threads.append(get_ident())
        return described()

    documentation.describe = describe
    assert web.served.portal is not None
    loop = web.served.portal.call(get_ident)
    with ThreadPoolExecutor(6) as askers:
        paths = ("/openapi.json", "/docs") * 3
        answers = list(askers.map(lambda path: web.browser().get(path), paths))
    assert {answer.status_code for answer in answers} == {200}
    assert len(threads) == 1 and threads[0] != loop


def test_a_description_that_failed_is_made_by_the_next_who_asks(
    web: Web, visitor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as failing:
        failing.setattr(documentation_of(web), "describe", lambda: {"paths": None})
        assert visitor.get("/openapi.json").status_code == 500
    assert visitor.get("/openapi.json").status_code == 200
