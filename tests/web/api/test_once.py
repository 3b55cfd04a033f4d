"""Idempotency keys: carried out once, whoever dies on the way."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from bigtime.model import verify
from bigtime.site import record_answer
from bigtime.systems.accounts.design import Role
from bigtime.systems.portal import SYSTEM as PORTAL
from bigtime.systems.portal.campaigns import list_campaigns
from bigtime.systems.portal.products import list_products, update_product
from bigtime.systems.portal.tenants import list_tenants
from bigtime.systems.portal.verification import verify_audit
from bigtime.web.api import idempotency
from bigtime.wire import Steps
from tests.systems.portal.scenes import ADMIN, new_product, new_tenant
from tests.web.api.portal_client import Program, is_problem, program_of
from tests.web.browsing import Web
from tests.web.portal.scene import later

PRODUCTS, TENANTS = "/v1.0/products", "/v1.0/tenants"
NEW = {"name": "Plan", "description": "A plan", "price": 299.99, "billingCycle": "monthly"}


def names(web: Web) -> list[str]:
    return [product.name for product in web.run(list_products())]


def test_the_same_request_again_has_the_same_answer_and_makes_nothing(
    web: Web, ada: Program
) -> None:
    first, second = (ada.post(PRODUCTS, NEW, key="k1") for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert names(web) == ["Plan"]


def test_without_a_key_each_request_is_its_own(web: Web, ada: Program) -> None:
    for _ in range(2):
        ada.post(PRODUCTS, NEW)
    assert names(web) == ["Plan", "Plan"]


def test_the_answer_stays_though_what_was_made_has_changed(web: Web, ada: Program) -> None:
    first = ada.post(PRODUCTS, NEW, key="k1")
    web.run(update_product(first.json()["id"], {"name": "Renamed"}, by=ADMIN))
    assert ada.post(PRODUCTS, NEW, key="k1").json() == first.json()


def test_the_same_body_in_another_spelling_is_the_same_request(web: Web, ada: Program) -> None:
    ada.post(PRODUCTS, NEW, key="k1")
    spelled = (
        b' { "billingCycle":"monthly","price":2.9999e2,\n"description" : "A plan",'
        b'"name":"\\u0050lan"}'
    )
    headers = {"content-type": "application/json; charset=utf-8"}
    again = ada.ask("POST", PRODUCTS, key="k1", content=spelled, headers=headers)
    assert again.status_code == 201
    assert names(web) == ["Plan"]


def test_another_request_with_the_key_is_refused(web: Web, ada: Program) -> None:
    ada.post(PRODUCTS, NEW, key="k1")
    for path, body in ((PRODUCTS, {**NEW, "price": 1}), (TENANTS, {"email": "a@example.com"})):
        refused = ada.post(path, body, key="k1")
        assert (refused.status_code, refused.json()["error"]) == (422, "key-reused")
        assert is_problem(refused)
    assert names(web) == ["Plan"]
    assert web.run(list_tenants()).items == []


def test_a_key_is_its_makers_alone(web: Web, ada: Program) -> None:
    bob = program_of(web, "bob", Role.ADMIN)
    mine, theirs = ada.post(PRODUCTS, NEW, key="k1"), bob.post(PRODUCTS, NEW, key="k1")
    assert mine.json()["id"] != theirs.json()["id"]
    assert bob.post(PRODUCTS, {**NEW, "price": 1}, key="k1").status_code == 422


def test_a_refused_request_leaves_its_key_free(web: Web, ada: Program) -> None:
    new_tenant(web, "taken@example.com")
    refused = ada.post(TENANTS, {"email": "taken@example.com"}, key="k1")
    assert refused.status_code == 409
    assert ada.post(TENANTS, {"email": "x"}, key="k1").status_code == 422
    assert ada.post(TENANTS, {"email": "free@example.com"}, key="k1").status_code == 201


def test_after_a_day_a_key_is_free_again(web: Web, ada: Program) -> None:
    first = ada.post(PRODUCTS, NEW, key="k1")
    later(web, days=1, seconds=1)
    second = ada.post(PRODUCTS, NEW, key="k1")
    assert second.status_code == 201
    assert second.json()["id"] != first.json()["id"]


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "x" * 201, "a\tb"])
def test_a_key_that_can_be_none_is_malformed(web: Web, ada: Program, key: str) -> None:
    headers = {"idempotency-key": key.encode()}
    refused = ada.ask("POST", PRODUCTS, json=NEW, headers=headers)
    assert refused.status_code == 400
    assert names(web) == []


@pytest.mark.parametrize("key", ["x" * 200, "a#b$c", "550e8400-e29b-41d4-a716-446655440000", "!~"])
def test_a_key_is_any_word(web: Web, ada: Program, key: str) -> None:
    answers = {ada.post(PRODUCTS, NEW, key=key).text for _ in range(2)}
    assert len(answers) == 1
    assert names(web) == ["Plan"]


def test_of_requests_at_once_one_is_carried_out(web: Web, ada: Program) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: ada.post(PRODUCTS, NEW, key="k1"), range(8)))
    assert {(answer.status_code, answer.text) for answer in answers} == {(201, answers[0].text)}
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert names(web) == ["Plan"]


# Who dies on the way


class Dies:
    """Something that fails the first time."""

    def __init__(self, does: Any, *, after: bool) -> None:
        self.does, self.after, self.has_died = does, after, False

    def __call__(self, *told: Any, **more: Any) -> Steps[Any]:
        if self.has_died:
            return (yield from self.does(*told, **more))
        self.has_died = True
        if self.after:
            yield from self.does(*told, **more)
        raise OSError("the machine is gone")


@pytest.fixture
def forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever carries out the first request dies before its answer is noted."""
    monkeypatch.setattr("bigtime.site.record_answer", Dies(record_answer, after=False))


def test_who_dies_before_the_answer_is_noted_is_repeated_exactly(
    web: Web, ada: Program, forgets: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ada.post(PRODUCTS, NEW, key="k1").status_code == 500
    (made,) = web.run(list_products())
    monkeypatch.setattr(idempotency, "PATIENCE_SECONDS", 0.05)
    held = ada.post(PRODUCTS, NEW, key="k1")
    assert (held.status_code, held.json()["error"]) == (409, "key-in-use")
    later(web, seconds=31)
    again = ada.post(PRODUCTS, NEW, key="k1")
    assert again.status_code == 201
    assert again.json()["id"] == made.id
    assert again.json()["dateCreated"] == f"{made.date_created:%Y-%m-%dT%H:%M:%SZ}"
    assert web.run(list_products()).items == [made]
    assert ada.post(PRODUCTS, NEW, key="k1").content == again.content
    assert web.run(verify(PORTAL)) == []
    assert web.run(verify_audit()) == []


def test_of_those_who_take_over_at_once_all_have_one_answer(
    web: Web, ada: Program, forgets: None
) -> None:
    ada.post(PRODUCTS, NEW, key="k1")
    later(web, seconds=31)
    with ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(lambda _: ada.post(PRODUCTS, NEW, key="k1"), range(5)))
    assert {(answer.status_code, answer.text) for answer in answers} == {(201, answers[0].text)}
    assert names(web) == ["Plan"]


def test_who_dies_before_anything_was_done_is_carried_out_by_the_next(
    web: Web, ada: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.systems.portal.create_product", Dies(create_nothing, after=True))
    assert ada.post(PRODUCTS, NEW, key="k1").status_code == 500
    monkeypatch.undo()
    later(web, seconds=31)
    assert ada.post(PRODUCTS, NEW, key="k1").status_code == 201
    assert names(web) == ["Plan"]


def create_nothing(*told: Any, **more: Any) -> Steps[None]:
    return
    yield


def test_what_cannot_be_repeated_exactly_is_not_done_twice(
    web: Web, ada: Program, forgets: None
) -> None:
    """The product has another price by now, so the transaction would be another one."""
    product = new_product(web)
    body = {
        "code": "SUMMER2026",
        "description": "Summer",
        "discountPercentage": 20,
        "productId": product.id,
        "termsConditionsLink": "https://example.com/terms",
        "fromDate": "2026-06-01",
        "toDate": "2026-08-31",
    }
    assert ada.post("/v1.0/campaigns", body, key="k1").status_code == 500
    web.run(update_product(product.id, {"price": "100"}, by=ADMIN))
    later(web, seconds=31)
    again = ada.post("/v1.0/campaigns", body, key="k1")
    assert (again.status_code, again.json()["error"]) == (409, "may-be-done-already")
    assert len(web.run(list_campaigns())) == 1


def test_who_takes_over_and_is_refused_frees_nothing(
    web: Web, ada: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the next one might make what the first has made already."""
    body = {"email": "new@example.com"}
    monkeypatch.setattr("bigtime.systems.portal.create_tenant", Dies(create_nothing, after=True))
    assert ada.post(TENANTS, body, key="k1").status_code == 500
    monkeypatch.undo()
    new_tenant(web, "new@example.com")
    later(web, seconds=31)
    assert ada.post(TENANTS, body, key="k1").json()["error"] == "email-taken"
    assert ada.post(TENANTS, {"email": "b@example.com"}, key="k1").json()["error"] == "key-reused"
    assert len(web.run(list_tenants())) == 1
