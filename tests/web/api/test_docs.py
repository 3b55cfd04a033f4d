"""The documentation: whole, with examples that are true, and from this machine alone."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from string import Template
from threading import get_ident
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from bigtime import site
from bigtime.model import Ksuid, load_many
from bigtime.systems.deals.brands import create_brand
from bigtime.systems.deals.demo import BRANDS as DEMO_BRANDS
from bigtime.web.api import portal_campaigns, portal_checkout, portal_products, portal_tenants
from bigtime.web.api.bodies import Amount, RecordChanged, RecordShown, RequestBody, ResponseBody
from bigtime.web.api.docs import Description, Documentation, Operation, content_of
from bigtime.web.api.getting_started import SECTIONS, limit_rows
from bigtime.web.api.meanings import DEAL_ID, EXAMPLES, MEANINGS, described_fields
from bigtime.web.api.routing import Problem, parse_json
from bigtime.web.app import LIMITS
from bigtime.web.http.limits import Limit
from tests.web.api.portal_client import openapi
from tests.web.browsing import Browser, Reader, Web, make_web, site_engine, words
from tests.web.conftest import old_deal

PATHS = {
    "/v1.0/tenants": {"get", "post"},
    "/v1.0/tenants/counts": {"get"},
    "/v1.0/tenants/by-email/{email}": {"get"},
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


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The documents by their paths; they are the same on every site."""
    with site_engine() as engine:
        front, _ = make_web(engine, tmp_path_factory.mktemp("site"), limits=LIMITS)
        with TestClient(front) as client:
            paths = ("/openapi.json", "/docs", "/docs/getting-started")
            answers = {path: client.get(path) for path in paths}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {path: answer.text for path, answer in answers.items()}


def test_the_page_tells_every_route(documents: dict[str, str]) -> None:
    told = words(documents["/docs"])
    for path, methods in PATHS.items():
        for method in methods:
            assert f"{method.upper()} {path}" in told
    assert "Idempotency-Key" in told and "X-Form-Token" in told
    assert "pageSize integer from 1 to 100, in the query" in told


@pytest.mark.parametrize("path", ["/docs", "/docs/getting-started"])
def test_the_page_asks_nobody_else_for_anything(documents: dict[str, str], path: str) -> None:
    page = documents[path]
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert "<script>" not in page and "style=" not in page
    links = {"/docs": "/openapi.json", "/docs/getting-started": "/me/tokens"}
    assert links[path] in Reader(page).links


@pytest.mark.parametrize("path", ["/docs", "/docs/getting-started"])
def test_ids_on_the_page_are_its_own_and_links_lead_to_them(
    documents: dict[str, str], path: str
) -> None:
    ids = re.findall(r' id="([^"]*)"', documents[path])
    assert len(ids) == len(set(ids))
    assert {link for link in Reader(documents[path]).links if link.startswith("#")} <= {
        f"#{name}" for name in ids
    }


def test_the_description_is_served(web: Web, explained_openapi: dict[str, Any]) -> None:
    assert explained_openapi["paths"].keys() == openapi(web)["paths"].keys()
    assert {"bearer", "cookie"} <= explained_openapi["components"]["securitySchemes"].keys()


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


# What the pages say of every operation


@pytest.fixture(scope="module")
def explained_openapi(documents: dict[str, str]) -> dict[str, Any]:
    """The description as it is served."""
    told: dict[str, Any] = json.loads(documents["/openapi.json"])
    return told


def api_operations(explained_openapi: dict[str, Any]) -> Iterator[tuple[Operation, dict[str, Any]]]:
    description = Description(explained_openapi)
    for path, method, spec in description.operations():
        if path.startswith(("/api/", "/v1.0/")):
            yield description.operation(path, method, spec), dict(spec)


def test_every_operation_has_a_title_a_description_and_examples(
    explained_openapi: dict[str, Any],
) -> None:
    for operation, spec in api_operations(explained_openapi):
        told = f"{operation.method} {operation.path}"
        assert operation.summary, told
        assert operation.paragraphs[0].endswith((".", ":")), told
        assert not re.search(r"GetItem|PutItem|Query\b|GSI\d|\bSET\b|REMOVE", str(spec)), told
        assert operation.command.startswith('curl "$SITE/'), told
        assert "null" not in operation.command and "None" not in operation.command, told
        assert bool(operation.response_example) is ("204" not in spec["responses"]), told


def test_an_example_of_a_response_is_what_its_route_returns(
    explained_openapi: dict[str, Any],
) -> None:
    for operation, spec in api_operations(explained_openapi):
        if operation.response_example:
            returned = content_of(spec["responses"][min(spec["responses"])])
            schema = {**returned, "components": explained_openapi["components"]}
            jsonschema_rs.validate(schema, json.loads(operation.response_example))


def test_an_example_of_a_request_is_sent_to_its_route(explained_openapi: dict[str, Any]) -> None:
    for operation, spec in api_operations(explained_openapi):
        sent = curl_request(operation.command, SITE="http://testserver")
        pattern = re.sub(r"{\w+}", "[^/]+", operation.path)
        path, _, query = sent["url"].removeprefix("http://testserver").partition("?")
        assert sent["method"] == operation.method
        assert re.fullmatch(pattern, path), operation.command
        required = {
            parameter["name"]
            for parameter in spec.get("parameters", ())
            if parameter["in"] == "query" and parameter.get("required")
        }
        assert {part.partition("=")[0] for part in query.split("&") if part} == required
        assert ("content" in sent) is ("requestBody" in spec)


def test_every_field_and_parameter_has_a_meaning(explained_openapi: dict[str, Any]) -> None:
    found = [*described_fields(explained_openapi)]
    assert [(shape, name) for shape, name, field in found if not field.get("description")] == []
    names = {name for _, name, _ in found} | {f"{shape}.{name}" for shape, name, _ in found}
    assert MEANINGS.keys() <= names and EXAMPLES.keys() <= names


def test_the_page_shows_titles_meanings_and_commands(documents: dict[str, str]) -> None:
    told = words(documents["/docs"])
    assert "PUT /api/v1/me/brands/{brandName}/like Like Brand for User" in told
    assert "Which deals API? Use /api/v1/deals to show deals" in told
    assert 'curl "$SITE/api/v1/me/brands/Oakmere/like" \\ -X PUT' in told
    assert "likeCount integer, required How many users like it." in told


# Getting started


def curl_request(command: str, **variables: str) -> dict[str, Any]:
    """What curl would send."""
    words = shlex.split(Template(command.replace("\\\n", " ")).safe_substitute(variables))
    assert words.pop(0) == "curl"
    sent: dict[str, Any] = {"method": "", "headers": {}}
    while words:
        match words.pop(0):
            case "-X":
                sent["method"] = words.pop(0)
            case "-H":
                name, _, value = words.pop(0).partition(": ")
                sent["headers"][name] = value
            case "-d":
                sent["content"] = words.pop(0)
            case url:
                sent["url"] = url
    return sent | {"method": sent["method"] or ("POST" if "content" in sent else "GET")}


def test_whoever_follows_the_guide_gets_what_it_shows(
    web: Web, visitor: Browser, alex: Browser
) -> None:
    now = datetime.now(UTC)
    lamp = old_deal(now, 0).model_copy(update={"deal_id": Ksuid(DEAL_ID), "description": "x"})
    web.run(load_many([lamp, *(old_deal(lamp.created_at, number) for number in range(1, 40))]))
    web.run(create_brand("Oakmere"))  # a brand of the demo data
    token = web.api_token("alex@example.com")
    cursor = visitor.get("/api/v1/deals").json()["startAt"]
    run = 0
    for section in SECTIONS:
        for example in section.examples:
            sent = curl_request(
                example.command, SITE="http://testserver", TOKEN=token, CURSOR=cursor
            )
            answer = visitor.request(**sent)
            assert answer.status_code == example.status, (section.title, answer.text)
            assert bool(answer.content) is bool(example.body)
            if example.body:
                assert has_names(answer.json(), json.loads(example.body)), section.title
            run += 1
    assert run == 7
    again = visitor.request(**curl_request(KEYED, SITE="http://testserver", TOKEN=token))
    assert again.headers["idempotent-replayed"] == "true"
    other = curl_request(KEYED.replace("}", ', "count": 2}'), SITE="http://testserver", TOKEN=token)
    assert visitor.request(**other).json()["error"] == "key-reused"


(KEYED,) = [
    example.command
    for section in SECTIONS
    for example in section.examples
    if section.id == "idempotency"
]


def has_names(answer: Any, shown: Any) -> bool:
    """Whether a body has the fields that are shown; a list is as its first item."""
    if isinstance(shown, dict):
        return all(name in answer and has_names(answer[name], shown[name]) for name in shown)
    return not (isinstance(shown, list) and shown) or has_names(answer[0], shown[0])


def test_the_guide_tells_the_limits_that_hold(documents: dict[str, str]) -> None:
    told, rows = words(documents["/docs/getting-started"]), dict(limit_rows(LIMITS))
    assert LIMITS["API token"] == Limit(600, 60)
    assert "Requests with one API token 600 in a minute" in told
    assert "A request's body 256 KiB" in told
    assert rows["API tokens of an account"] == str(site.MOST_TOKENS)


@given(st.decimals(min_value=0, max_value=10**12, places=2))
def test_an_amount_is_written_exactly(amount: Decimal) -> None:
    """A float has 15 digits to spare: its shortest text is the decimal that it came from."""
    written = CountedAmount(amount=amount).json_bytes()
    assert json.loads(written, parse_float=Decimal)["amount"] == amount


class CountedAmount(ResponseBody):
    """An amount."""

    amount: Amount


def test_examples_name_brands_of_the_demo_data(documents: dict[str, str]) -> None:
    demo = {name for names in DEMO_BRANDS.values() for name in names}
    assert {"Oakmere", "Voltaic"} <= demo
    for path in ("/docs", "/docs/getting-started"):
        assert not re.search("apple|sony", documents[path], re.IGNORECASE), path
