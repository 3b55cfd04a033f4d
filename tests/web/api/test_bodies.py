"""Bodies: JSON, read with care, and refused in one shape."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.systems.portal.products import list_products
from tests.web.api.portal_client import Program, faults, is_problem
from tests.web.browsing import Web

PRODUCTS = "/v1.0/products"
NEW = {"name": "Plan", "description": "A plan", "price": 299.99, "billingCycle": "monthly"}
BODY = '{"name": "Plan", "description": "A plan", "price": %s, "billingCycle": "monthly"}'


def send(ada: Program, content: bytes | str, kind: str = "application/json") -> Any:
    return ada.ask("POST", PRODUCTS, content=content, headers={"content-type": kind})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "nothing",
        '{"name": NaN}',
        '{"name": Infinity}',
        '{"name": "\\ud800"}',
        b'{"name": "\xff"}',
        "[" * 100_000,
        "1" * 5_000,
        BODY % ("1" * 5_000),
        BODY % "1e99999999999999999999",
        BODY % "1e400",
        "[]",
        "null",
        '"text"',
        "1.5",
        "{}",
    ],
)
def test_what_is_no_such_body_is_malformed(web: Web, ada: Program, content: bytes | str) -> None:
    refused = send(ada, content)
    assert refused.status_code == 400, refused.text
    assert is_problem(refused)
    assert web.run(list_products()).items == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_type_is_malformed(web: Web, ada: Program, kind: str) -> None:
    assert send(ada, BODY % "1", kind).status_code == 400
    assert web.run(list_products()).items == []


@pytest.mark.parametrize("kind", ["Application/JSON", "application/json; charset=utf-8"])
def test_a_type_is_the_same_in_any_case(ada: Program, kind: str) -> None:
    assert send(ada, BODY % "1", kind).status_code == 201


def test_no_cache_keeps_what_a_program_is_told(web: Web, ada: Program) -> None:
    answers = [
        ada.post(PRODUCTS, NEW),
        ada.post(PRODUCTS, NEW, key="one"),
        ada.post(PRODUCTS, NEW, key="one"),
        ada.get("/v1.0/tenants"),
        ada.get("/v1.0/tenants/nobody"),
        ada.get("/api/v1/me/session"),
        ada.get("/api/v1/me/cart"),
        ada.client.post("/api/v1/sessions", json={"email": "ada@example.com", "password": "x"}),
    ]
    assert [answer.headers["cache-control"] for answer in answers] == ["no-store"] * len(answers)


def test_a_body_that_is_too_long_is_refused(ada: Program) -> None:
    refused = send(ada, BODY % "1" + " " * 300_000)
    assert refused.status_code == 400
    assert "at most" in refused.json()["message"]


@pytest.mark.parametrize(
    ("price", "kept"),
    [("299.99", 299.99), ("1", 1), ("0.10", 0.1), ("1e2", 100), ("0.01", 0.01)],
)
def test_a_price_is_the_number_that_was_written(
    web: Web, ada: Program, price: str, kept: float
) -> None:
    made = send(ada, BODY % price)
    assert made.status_code == 201, made.text
    assert made.json()["price"] == kept


@pytest.mark.parametrize(
    "price",
    ["0.001", "299.990000000000000001", "0", "-1", "10000000", "1e300"],
)
def test_a_price_that_breaks_a_rule_is_told_beside_it(web: Web, ada: Program, price: str) -> None:
    refused = send(ada, BODY % price)
    assert refused.status_code == 422, refused.text
    assert faults(refused).keys() == {"price"}
    assert web.run(list_products()).items == []


@pytest.mark.parametrize("value", [True, None, [], {}, "12.50", "x", "NaN"])
def test_a_price_of_another_type_is_told_beside_it(ada: Program, value: Any) -> None:
    refused = ada.post(PRODUCTS, {**NEW, "price": value})
    assert refused.status_code == 400
    assert faults(refused) == {"price": "This must be a number."}


def test_all_faults_are_told_at_once(ada: Program) -> None:
    refused = ada.post(
        PRODUCTS, {"name": "", "price": -1, "features": ["x" * 201], "colour": "red"}
    )
    assert refused.status_code == 400
    assert faults(refused).keys() == {
        "name",
        "price",
        "features",
        "colour",
        "description",
        "billingCycle",
    }


def test_the_message_says_which_fields_are_wrong(ada: Program) -> None:
    new = {"name": "Plan", "description": "A plan", "price": 5, "billingCycle": "monthly"}
    for body, message in (
        ({**new, "price": "5"}, "price: This must be a number."),
        ({**new, "colour": 1}, "colour: Extra inputs are not permitted"),
        ({**new, "price": True, "name": 1}, "Check these fields: name, price."),
    ):
        assert ada.post("/v1.0/products", body).json()["message"] == message


@pytest.mark.parametrize(
    "path", ["/v1.0/products", "/v1.0/tenants", "/api/v1/brands", "/api/v1/me/messages"]
)
def test_an_unknown_query_parameter_is_told(web: Web, ada: Program, path: str) -> None:
    answer = ada.get(f"{path}?limit=1&limit=2")
    assert answer.status_code == 400 and is_problem(answer)
    assert faults(answer) == {"limit": "There is no such query parameter."}
    assert answer.json()["message"] == "limit: There is no such query parameter."
    assert ada.get(f"{path}?").status_code == 200


def test_names_of_fields_are_in_camel_case_and_no_other(ada: Program) -> None:
    refused = ada.post(PRODUCTS, {**NEW, "billing_cycle": "monthly"})
    assert refused.status_code == 400
    assert faults(refused).keys() == {"billing_cycle"}


@pytest.mark.parametrize("field", ["id", "active", "dateCreated", "lastUpdatedBy", "PK"])
def test_what_the_portal_fills_cannot_be_given(web: Web, ada: Program, field: str) -> None:
    refused = ada.post(PRODUCTS, {**NEW, field: "x"})
    assert refused.status_code == 400
    assert web.run(list_products()).items == []


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("DELETE", f"{PRODUCTS}/prod_550e8400-e29b-41d4-a716-446655440000", 405),
        ("DELETE", "/v1.0/tenants/x", 405),
        ("DELETE", "/v1.0/campaigns/SUMMER2025", 405),
        ("PATCH", PRODUCTS, 405),
        ("GET", "/v1.0/nothing", 404),
        ("GET", "/v1.0/checkout", 405),
    ],
)
def test_what_there_is_not_is_told_in_the_same_shape(
    ada: Program, method: str, path: str, status: int
) -> None:
    answer = ada.ask(method, path)
    assert answer.status_code == status
    assert is_problem(answer)


def test_what_can_be_done_with_an_address_is_told_in_full(ada: Program) -> None:
    assert ada.ask("DELETE", PRODUCTS).headers["allow"] == "GET, HEAD, POST"
    assert ada.ask("DELETE", "/v1.0/tenants/x").headers["allow"] == "GET, HEAD, PUT"
