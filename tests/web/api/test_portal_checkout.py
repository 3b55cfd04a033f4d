"""`/v1.0/checkout`: a code, an order, a letter; and nothing told to guessers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.model import verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.design import Product
from bigtime.systems.portal.products import soft_delete_product, update_product
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import list_tenants, soft_delete_tenant
from bigtime.systems.portal.values import Status
from bigtime.systems.portal.verification import verify_audit
from bigtime.web.app import LIMITS
from tests.systems.portal.scenes import ADMIN, NO_PRODUCT, new_product, validated_tenant
from tests.web.api.portal_client import Program, faults, is_problem, program_of
from tests.web.browsing import Web, make_web
from tests.web.portal.scene import (
    EMAIL,
    code_for,
    customer,
    later,
    letters,
    orders_of,
    running_campaign,
    tenant,
    wrong,
)

HERE = "/v1.0/checkout"
CODES = f"{HERE}/codes"


@pytest.fixture
def product(web: Web) -> Product:
    return new_product(web)


def body(product: Product, code: str | None, /, **but: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"items": [{"productId": product.id, "quantity": 2}]}
    if code is not None:
        told |= {"email": EMAIL, "code": code}
    return {**told, **but}


def mailed_code(web: Web, program: Program, email: str = EMAIL) -> str:
    assert program.post(CODES, {"email": email}).status_code == 202
    return code_for(web, email)


def test_a_code_and_an_order(web: Web, nobody: Program, product: Product) -> None:
    running_campaign(web, product.id)
    code = mailed_code(web, nobody)
    assert tenant(web).status == Status.UNVALIDATED
    made = nobody.post(HERE, body(product, code, campaignCode="summer2026", total=479.98))
    told = made.json()
    assert made.status_code == 201, told
    assert (told["total"], told["campaign"]["code"]) == (479.98, "SUMMER2026")
    assert told["campaign"]["lastUpdatedBy"] is None
    (order,) = orders_of(web)
    assert (order.id, order.tenant_id) == (told["id"], told["tenantId"])
    assert tenant(web).status == Status.VALIDATED
    assert "Your order" in letters(web)[0].subject
    assert web.run(verify(SYSTEM)) == []
    assert web.run(verify_audit()) == []


def test_a_customer_who_is_signed_in_needs_no_code(web: Web, product: Product) -> None:
    made, _ = customer(web)
    order = Program(web, made.email).post(HERE, body(product, None))
    assert order.status_code == 201
    assert order.json()["tenantId"] == made.id


def test_who_is_nobody_or_no_customer_gives_an_address(
    web: Web, nobody: Program, product: Product
) -> None:
    assert nobody.post(HERE, body(product, None)).status_code == 401
    refused = program_of(web, "sam").post(HERE, body(product, None))
    assert (refused.status_code, refused.json()["error"]) == (403, "no-customer")


def test_a_cookie_without_its_form_token_orders_nothing(web: Web, product: Product) -> None:
    _, browser = customer(web)
    assert browser.post(HERE, json=body(product, None)).status_code == 401
    assert orders_of(web) == []
    headers = {"x-form-token": browser.token()}
    assert browser.post(HERE, json=body(product, None), headers=headers).status_code == 201


def test_a_code_does_for_whoever_has_it_whatever_cookie_there_is(
    web: Web, nobody: Program, product: Product
) -> None:
    code = mailed_code(web, nobody)
    _, browser = customer(web, "other@example.com", "otto")
    assert browser.post(HERE, json=body(product, code)).status_code == 201
    assert len(orders_of(web)) == 1
    assert orders_of(web, "other@example.com") == []


# Codes


def test_asking_for_a_code_is_answered_in_the_same_words_for_everybody(
    web: Web, nobody: Program
) -> None:
    validated_tenant(web, "known@example.com")
    made = validated_tenant(web, "closed@example.com")
    web.run(suspend_tenant(made.id, "unpaid", by=ADMIN))
    answers = [
        nobody.post(CODES, {"email": f"{name}@example.com"})
        for name in ("known", "closed", "unknown")
    ]
    assert {(answer.status_code, answer.text) for answer in answers} == {
        (202, '{"message":"If this address can be used here, a code is on its way."}')
    }


def test_every_code_that_will_not_do_is_one_error(
    web: Web, nobody: Program, product: Product
) -> None:
    """Wrong, of nobody, used, spent and old: whoever guesses learns nothing."""

    def refusal_of(told: dict[str, Any]) -> tuple[int, str]:
        answer = nobody.post(HERE, told)
        assert is_problem(answer)
        return answer.status_code, answer.text

    code = mailed_code(web, nobody)
    seen = [refusal_of(body(product, wrong(code)))]
    seen.append(refusal_of(body(product, code, email="stranger@example.com")))
    assert nobody.post(HERE, body(product, code)).status_code == 201
    seen.append(refusal_of(body(product, code)))
    code = mailed_code(web, nobody)
    seen += [refusal_of(body(product, wrong(code))) for _ in range(5)]
    seen.append(refusal_of(body(product, code)))
    code = mailed_code(web, nobody)
    later(web, minutes=10, seconds=1)
    seen.append(refusal_of(body(product, code)))
    assert len(set(seen)) == 1
    assert seen[0][0] == 422 and '"code-refused"' in seen[0][1]
    assert len(orders_of(web)) == 1
    assert len(web.run(list_tenants())) == 1


def test_a_closed_account_gets_no_code_and_orders_nothing(
    web: Web, nobody: Program, product: Product
) -> None:
    made = validated_tenant(web)
    web.run(soft_delete_tenant(made.id, by=ADMIN))
    nobody.post(CODES, {"email": EMAIL})
    assert "closed or suspended" in letters(web)[0].text
    assert nobody.post(HERE, body(product, "123456")).json()["error"] == "code-refused"
    assert orders_of(web) == []


def test_who_is_suspended_since_the_code_was_sent_is_told_so(
    web: Web, nobody: Program, product: Product
) -> None:
    code = mailed_code(web, nobody)
    web.run(suspend_tenant(tenant(web).id, "unpaid", by=ADMIN))
    refused = nobody.post(HERE, body(product, code))
    assert (refused.status_code, refused.json()["error"]) == (403, "tenant-suspended")
    assert orders_of(web) == []


@pytest.mark.parametrize("told", [{}, {"email": "x"}, {"email": None}, {"email": "a#b@c.de"}])
def test_a_code_for_no_address_is_refused(web: Web, nobody: Program, told: Any) -> None:
    refused = nobody.post(CODES, told)
    assert refused.status_code in (400, 422)
    assert faults(refused).keys() == {"email"}
    assert web.run(list_tenants()).items == []


# What can be wrong with an order


@pytest.mark.parametrize(
    ("but", "status", "field"),
    [
        ({"items": []}, 422, "items"),
        ({"items": None}, 400, "items"),
        ({"items": [{"productId": "x"}]}, 422, "items.0.productId"),
        ({"items": [{"quantity": 1}]}, 400, "items.0.productId"),
        ({"campaignCode": "x"}, 422, "campaignCode"),
        ({"total": -1}, 422, "total"),
        ({"colour": "red"}, 400, "colour"),
        ({"code": 123456}, 400, "code"),
        ({"code": "1" * 21}, 422, "code"),
        ({"email": "x"}, 422, "email"),
        ({"email": None}, 422, ""),
        ({"code": None}, 422, ""),
    ],
)
def test_a_wrong_field_is_told_and_uses_no_code_up(
    web: Web, nobody: Program, product: Product, but: dict[str, Any], status: int, field: str
) -> None:
    code = mailed_code(web, nobody)
    refused = nobody.post(HERE, body(product, code, **but))
    assert (refused.status_code, set(faults(refused))) == (status, {field})
    assert nobody.post(HERE, body(product, code)).status_code == 201


@pytest.mark.parametrize(
    ("quantity", "status"),
    [(0, 422), (1001, 422), (-1, 422), (1.5, 400), ("2", 400), (True, 400), (None, 400)],
)
def test_a_quantity_is_a_whole_number(
    web: Web, nobody: Program, product: Product, quantity: Any, status: int
) -> None:
    items = [{"productId": product.id, "quantity": quantity}]
    refused = nobody.post(HERE, body(product, "123456", items=items))
    assert (refused.status_code, set(faults(refused))) == (status, {"items.0.quantity"})


def test_what_cannot_be_ordered_is_told_before_the_code_is_used_up(
    web: Web, nobody: Program, product: Product
) -> None:
    other = new_product(web, name="Other")
    running_campaign(web, other.id)
    gone = new_product(web, name="Gone")
    web.run(soft_delete_product(gone.id, by=ADMIN))
    code = mailed_code(web, nobody)
    twice = [{"productId": product.id}, {"productId": product.id}]
    for but, error, status in (
        ({"campaignCode": "SUMMER2026"}, "campaign-elsewhere", 422),
        ({"campaignCode": "NOSUCH"}, "campaign-not-valid", 422),
        ({"items": [{"productId": gone.id}]}, "product-unavailable", 422),
        ({"items": [{"productId": NO_PRODUCT}]}, "product-unavailable", 422),
        ({"items": twice}, "lines-refused", 422),
        ({"total": 1}, "total-moved", 409),
    ):
        refused = nobody.post(HERE, body(product, code, **but))
        assert (refused.status_code, refused.json()["error"]) == (status, error)
        assert is_problem(refused)
    assert nobody.post(HERE, body(product, code)).status_code == 201


# Once


def test_the_same_checkout_again_is_the_same_order_though_the_code_is_used_up(
    web: Web, nobody: Program, product: Product
) -> None:
    told = body(product, mailed_code(web, nobody))
    first, second = (nobody.post(HERE, told, key="k1") for _ in range(2))
    assert (first.status_code, first.text) == (second.status_code, second.text)
    assert second.headers["idempotent-replayed"] == "true"
    assert len(orders_of(web)) == 1
    web.run(update_product(product.id, {"price": "1"}, by=ADMIN))
    assert nobody.post(HERE, told, key="k1").text == first.text


def test_checkouts_at_once_with_one_key_are_one_order(
    web: Web, nobody: Program, product: Product
) -> None:
    told = body(product, mailed_code(web, nobody))
    with ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(lambda _: nobody.post(HERE, told, key="k1"), range(5)))
    assert {(answer.status_code, answer.text) for answer in answers} == {(201, answers[0].text)}
    assert len(orders_of(web)) == 1
    assert sum("order" in letter.subject for letter in letters(web)) == 1


def test_checkouts_at_once_with_one_code_are_one_order(
    web: Web, nobody: Program, product: Product
) -> None:
    told = body(product, mailed_code(web, nobody))
    with ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(lambda _: nobody.post(HERE, told), range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 422, 422, 422, 422]
    assert len(orders_of(web)) == 1


def test_codes_at_once_for_one_new_address_make_one_tenant(web: Web, nobody: Program) -> None:
    with ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(lambda _: nobody.post(CODES, {"email": EMAIL}), range(5)))
    assert {answer.status_code for answer in answers} == {202}
    assert len(web.run(list_tenants())) == 1


def test_customers_without_an_account_have_keys_of_their_own(
    web: Web, nobody: Program, product: Product
) -> None:
    other = "other@example.com"
    first = nobody.post(HERE, body(product, mailed_code(web, nobody)), key="order-1")
    told = body(product, mailed_code(web, nobody, other), email=other)
    second = nobody.post(HERE, told, key="order-1")
    assert (first.status_code, second.status_code) == (201, 201)
    assert len(orders_of(web)) == len(orders_of(web, other)) == 1
    again = nobody.post(HERE, body(product, "123456"), key="order-1")
    assert (again.status_code, again.json()["error"]) == (422, "key-reused")


def test_a_key_of_an_account_is_not_that_of_a_mailbox(
    web: Web, nobody: Program, product: Product
) -> None:
    made, _ = customer(web)
    code = mailed_code(web, nobody)
    assert Program(web, made.email).post(HERE, body(product, None), key="k").status_code == 201
    assert nobody.post(HERE, body(product, code), key="k").status_code == 201


def test_a_stranger_with_a_wrong_code_leaves_the_key_free(
    web: Web, nobody: Program, product: Product
) -> None:
    code = mailed_code(web, nobody)
    assert nobody.post(HERE, body(product, wrong(code)), key="order-1").status_code == 422
    assert nobody.post(HERE, body(product, code), key="order-1").status_code == 201


# Strangers and codes


@pytest.fixture
def web_behind_proxy(engine: Engine, tmp_path: Path) -> Iterator[Web]:
    front, store = make_web(engine, tmp_path, limits=LIMITS, proxies=1)
    with TestClient(front, follow_redirects=False) as served:
        yield Web(front, served.app.application.state.context, store, served)  # type: ignore[attr-defined]


def program_at(web: Web, address: str) -> Program:
    program = Program(web)
    program.client.headers["x-forwarded-for"] = address
    return program


def test_a_stranger_burns_no_code_of_another(web_behind_proxy: Web) -> None:
    product = new_product(web_behind_proxy)
    owner, stranger = (
        program_at(web_behind_proxy, "1.2.3.4"),
        program_at(web_behind_proxy, "6.6.6.6"),
    )
    code = mailed_code(web_behind_proxy, owner)
    for _ in range(8):
        assert stranger.post(HERE, body(product, wrong(code))).status_code == 422
    assert stranger.post(HERE, body(product, code)).json()["error"] == "code-refused"
    mailed_code(web_behind_proxy, stranger)  # a code of the stranger's own, in the owner's mailbox
    for _ in range(1):
        assert stranger.post(HERE, body(product, wrong(code))).status_code == 422
    assert owner.post(HERE, body(product, code)).status_code == 201


def test_a_code_works_from_another_network_with_its_id(web_behind_proxy: Web) -> None:
    product = new_product(web_behind_proxy)
    at_home, on_the_way = (
        program_at(web_behind_proxy, "1.2.3.4"),
        program_at(web_behind_proxy, "5.5.5.5"),
    )
    asked = at_home.post(CODES, {"email": EMAIL})
    told = body(product, code_for(web_behind_proxy))
    assert on_the_way.post(HERE, told).json()["error"] == "code-refused"
    code_id = asked.headers["x-code-id"]
    elsewhere = {**told, "email": "other@example.com", "codeId": code_id}
    assert on_the_way.post(HERE, elsewhere).json()["error"] == "code-refused"
    assert on_the_way.post(HERE, {**told, "codeId": code_id}).status_code == 201


def test_the_id_of_a_code_says_nothing_of_its_address(web: Web, nobody: Program) -> None:
    validated_tenant(web, "known@example.com")
    ids = [
        nobody.post(CODES, {"email": f"{name}@example.com"}).headers["x-code-id"]
        for name in ("known", "unknown")
    ]
    assert len(set(ids)) == 2 and {len(code_id) for code_id in ids} == {32}


def test_an_id_needs_its_code(nobody: Program, product: Product) -> None:
    refused = nobody.post(HERE, body(product, None, codeId="x"))
    assert (refused.status_code, set(faults(refused))) == (422, {""})


def test_five_tries_are_all_that_a_code_has_wherever_they_come_from(web_behind_proxy: Web) -> None:
    product = new_product(web_behind_proxy)
    owner = program_at(web_behind_proxy, "1.2.3.4")
    code_id = owner.post(CODES, {"email": EMAIL}).headers["x-code-id"]
    code = code_for(web_behind_proxy)
    for number in range(5):
        guesser = program_at(web_behind_proxy, f"6.6.6.{number}")
        guess = body(product, wrong(code), codeId=code_id)
        assert guesser.post(HERE, guess).status_code == 422
    assert owner.post(HERE, body(product, code, codeId=code_id)).status_code == 422
    assert owner.post(HERE, body(product, code)).status_code == 422


def test_strangers_get_so_many_codes_for_a_mailbox_and_leave_the_owner_theirs(
    web_behind_proxy: Web,
) -> None:
    product = new_product(web_behind_proxy)
    owner = program_at(web_behind_proxy, "1.2.3.4")
    assert owner.post(HERE, body(product, mailed_code(web_behind_proxy, owner))).status_code == 201
    asked = [
        program_at(web_behind_proxy, f"6.6.{number}.6").post(CODES, {"email": EMAIL}).status_code
        for number in range(25)
    ]
    most = LIMITS["any one-time code to"].tries
    assert asked == [202] * (most - 1) + [429] * (26 - most)
    assert owner.post(HERE, body(product, mailed_code(web_behind_proxy, owner))).status_code == 201


# Limits


def test_codes_and_checkouts_are_limited(limited_web: Web) -> None:
    program = Program(limited_web)
    asked = [program.post(CODES, {"email": f"c{n}@example.com"}) for n in range(6)]
    assert [each.status_code for each in asked] == [202] * 5 + [429]
    assert int(asked[-1].headers["retry-after"]) > 0
    assert is_problem(asked[-1])
    told = body(new_product(limited_web), "000000")
    tried = [program.post(HERE, told).status_code for _ in range(11)]
    assert tried == [422] * 10 + [429]


def test_codes_are_limited_by_the_mailbox_too(limited_web: Web) -> None:
    limited_web.site.limits.limits = {**LIMITS, "one-time code": LIMITS["like"]}
    program = Program(limited_web)
    asked = [program.post(CODES, {"email": EMAIL}).status_code for _ in range(6)]
    assert asked == [202] * 5 + [429]
    assert program.post(CODES, {"email": "other@example.com"}).status_code == 202
