"""Requests with an Idempotency-Key are carried out once."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.systems.deals.deals import fetch_brand_deals
from bigtime.web.api.v1_routes import ENDPOINTS
from tests.web.api_v1.calling import Caller, problem
from tests.web.browsing import Web
from tests.web.conftest import PostDeal
from tests.web.editor.noted import told

LAMP = {
    "title": "A lamp",
    "link": "https://shop.example/lamp",
    "price": 19.99,
    "brandName": "Apple",
    "categoryName": "Home",
}


def test_every_route_that_creates_takes_a_key() -> None:
    created = [row for rows in ENDPOINTS.values() for row in rows if row.status == 201]
    without = {row.path for row in created if not row.once}
    assert without == {"/sessions"}  # a token is shown once, and kept nowhere
    assert len(created) == 12


def test_the_same_request_gets_the_same_answer(web: Web, edith: Caller) -> None:
    first = edith.post("/deals", LAMP, key="k-1")
    again = edith.post("/deals", dict(reversed(LAMP.items())), key="k-1")
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert len(web.run(fetch_brand_deals("Apple"))) == len(told(web)) == 1


def test_without_a_key_each_request_is_another(web: Web, edith: Caller) -> None:
    for key in (None, None, "k-1", "k-2"):
        assert edith.post("/deals", LAMP, key=key).status_code == 201
    assert len(web.run(fetch_brand_deals("Apple"))) == 4


def test_a_key_is_for_one_request_of_one_caller(edith: Caller, sam: Caller, bo: Caller) -> None:
    edith.post("/deals", LAMP, key="k-1")
    other = edith.post("/deals", {**LAMP, "title": "A rug"}, key="k-1")
    assert problem(other) == (422, "key-reused")
    assert problem(edith.post("/brands", {"name": "Sony"}, key="k-1")) == (422, "key-reused")
    for somebody in (sam, bo):
        assert somebody.post("/me/customer", {"name": "S"}, key="k-1").status_code == 201


def test_what_was_refused_may_be_tried_again_with_its_key(edith: Caller) -> None:
    assert problem(edith.post("/deals", {**LAMP, "brandName": "Sony"}, key="k-1"))[0] == 404
    edith.post("/brands", {"name": "Sony"})
    assert edith.post("/deals", {**LAMP, "brandName": "Sony"}, key="k-1").status_code == 201


@pytest.mark.parametrize("key", ["with space", "x" * 201, "ö"])
def test_a_key_that_will_not_do_is_refused(key: str, web: Web, edith: Caller) -> None:
    answer = edith.ask("POST", "/deals", LAMP, headers={"idempotency-key": key.encode()})
    assert problem(answer) == (400, "invalid-request")
    assert len(web.run(fetch_brand_deals("Apple"))) == 0


def test_each_kind_of_thing_is_made_once(edith: Caller, sam: Caller, post_deal: PostDeal) -> None:
    deal = post_deal()
    catalog_deal = {
        "dealId": "d-1",
        "title": "T",
        "description": "D",
        "price": 5,
        "brandId": "b",
        "brandName": "B",
        "categoryId": "c",
        "categoryName": "C",
    }
    cases: list[tuple[Caller, str, Any]] = [
        (edith, "/brands", {"name": "Sony"}),
        (edith, "/catalog/deals", catalog_deal),
        (edith, "/catalog/brands", {"brandId": "b", "brandName": "B"}),
        (edith, "/catalog/deals/d-1/trending", {"discountPercentage": 5}),
        (edith, "/catalog/categories/c/trending/d-1/engagement", {"views": 3}),
        (sam, "/me/catalog/user", {"email": "sam@example.com", "displayName": "Sam"}),
        (sam, "/me/catalog/activities", {"activityId": "a", "activityType": "t"}),
        (sam, "/me/customer", {"name": "Sam"}),
        (sam, "/me/cart/products", {"dealId": deal.deal_id, "count": 2}),
    ]
    for number, (caller, path, body) in enumerate(cases):
        answers = [caller.post(path, body, key=f"k-{number}") for _ in range(3)]
        assert len({one.content for one in answers}) == 1, (path, [a.text for a in answers])
        assert answers[0].status_code in (200, 201), (path, answers[0].text)
    assert sam.get("/me/cart/lines", status="ACTIVE").json()["items"][0]["count"] == 2
