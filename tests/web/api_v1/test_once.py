"""Requests with an Idempotency-Key are carried out once."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant

from bigtime.store import AsyncStore
from bigtime.systems.deals.deals import fetch_brand_deals
from bigtime.web.api import idempotency
from tests.web.api_v1.calling import Caller, again, problem
from tests.web.api_v1.routes import ROUTES
from tests.web.browsing import Web
from tests.web.conftest import PostDeal
from tests.web.editor.noted import noted_changes
from tests.web.portal.scene import later

LAMP = {
    "title": "A lamp",
    "link": "https://shop.example/lamp",
    "price": 19.99,
    "brandName": "Apple",
    "categoryName": "Home",
}

CATALOG_DEAL = {
    "dealId": "d-1",
    "title": "T",
    "description": "D",
    "price": 5,
    "brandId": "b",
    "brandName": "B",
    "categoryId": "c",
    "categoryName": "C",
}


def takes_key(dependant: Dependant) -> bool:
    names = {parameter.alias for parameter in dependant.header_params}
    return "Idempotency-Key" in names or any(map(takes_key, dependant.dependencies))


def test_every_route_that_creates_takes_a_key() -> None:
    created = [route for route in ROUTES if route.status_code == 201]
    without = {route.path for route in created if not takes_key(route.dependant)}
    assert without == {"/api/v1/sessions"}  # a token is shown once, and kept nowhere
    assert len(created) == 12


def test_the_same_request_gets_the_same_answer(web: Web, edith: Caller) -> None:
    first = edith.post("/deals", LAMP, key="k-1")
    again = edith.post("/deals", dict(reversed(LAMP.items())), key="k-1")
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert len(web.run(fetch_brand_deals("Apple"))) == len(noted_changes(web)) == 1


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
    cases: list[tuple[Caller, str, Any]] = [
        (edith, "/brands", {"name": "Sony"}),
        (edith, "/catalog/deals", CATALOG_DEAL),
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
        assert len({answer.content for answer in answers}) == 1, (path, [a.text for a in answers])
        assert answers[0].status_code in (200, 201), (path, answers[0].text)
    assert sam.get("/me/cart/lines", status="ACTIVE").json()["items"][0]["count"] == 2


# Who dies on the way


def die(*told: Any, **more: Any) -> Any:
    raise OSError("the machine is gone")


@pytest.mark.parametrize("minutes", [1, 11, 23 * 60])
@pytest.mark.parametrize("before", [0, 3])
def test_a_product_is_put_in_a_cart_once_though_somebody_dies(
    web: Web,
    sam: Caller,
    post_deal: PostDeal,
    monkeypatch: pytest.MonkeyPatch,
    minutes: int,
    before: int,
) -> None:
    """DynamoDB knows a token for ten minutes; the key is good for a day."""
    deal = post_deal()
    wanted = {"dealId": deal.deal_id, "count": 2}
    if before:
        sam.post("/me/cart/products", {**wanted, "count": before})
    with monkeypatch.context() as dying:
        dying.setattr("bigtime.site.record_answer", die)
        assert sam.post("/me/cart/products", wanted, key="k-1").status_code == 500
    later(web, minutes=minutes)
    for _ in range(2):
        again = sam.post("/me/cart/products", wanted, key="k-1")
        assert (again.status_code, again.json()["count"]) == (201, before + 2)
        assert again.headers["idempotent-replayed"] == "true"
    (line,) = sam.get("/me/cart/lines", status="ACTIVE").json()["items"]
    assert line["count"] == before + 2


def test_who_dies_before_the_product_is_in_the_cart_is_carried_out_by_the_next(
    web: Web, sam: Caller, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {"dealId": post_deal().deal_id, "count": 2}
    with monkeypatch.context() as dying:
        dying.setattr("bigtime.model.transact", die)
        assert sam.post("/me/cart/products", wanted, key="k-1").status_code == 500
    later(web, minutes=1)
    assert sam.post("/me/cart/products", wanted, key="k-1").status_code == 201
    (line,) = sam.get("/me/cart/lines", status="ACTIVE").json()["items"]
    assert line["count"] == 2


def test_who_is_slow_and_was_overtaken_has_the_answer_of_the_other(
    web: Web, sam: Caller, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one's time runs out before it has looked, and another carries it out."""
    wanted = {"dealId": post_deal().deal_id, "count": 2}
    has_begun, is_overtaken = Event(), Event()

    repeat = idempotency.replaying_store

    class Slow:
        """A store that waits before it carries a request out."""

        def __init__(self, store: AsyncStore) -> None:
            self.store = store

        async def run(self, steps: Any) -> Any:
            if not has_begun.is_set():
                has_begun.set()
                while not is_overtaken.is_set():
                    await asyncio.sleep(0.01)
            return await self.store.run(steps)

    monkeypatch.setattr(idempotency, "replaying_store", lambda *told: Slow(repeat(*told)))
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(sam.post, "/me/cart/products", wanted, "k-1")
        has_begun.wait()
        later(web, minutes=1)
        faster = again(web, "sam").post("/me/cart/products", wanted, key="k-1")
        is_overtaken.set()
        slow = first.result()
    assert slow.status_code == faster.status_code == 201
    assert slow.content == faster.content
    assert slow.headers["idempotent-replayed"] == "true"
    (line,) = sam.get("/me/cart/lines", status="ACTIVE").json()["items"]
    assert line["count"] == 2


@pytest.mark.parametrize("minutes", [1, 11])
def test_engagement_counts_once_though_somebody_dies(
    web: Web, edith: Caller, monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    edith.post("/catalog/deals", CATALOG_DEAL)
    edith.post("/catalog/deals/d-1/trending", {"discountPercentage": 5})
    path, seen = "/catalog/categories/c/trending/d-1/engagement", {"views": 3, "clicks": 1}
    noted = len(noted_changes(web))
    with monkeypatch.context() as dying:
        dying.setattr("bigtime.site.record_answer", die)
        assert edith.post(path, seen, key="k-1").status_code == 500
    later(web, minutes=minutes)
    repeated = edith.post(path, seen, key="k-1")
    assert (repeated.status_code, repeated.json()["views"]) == (200, 3)
    assert edith.get("/catalog/categories/c/trending/d-1").json()["clicks"] == 1
    assert len(noted_changes(web)) == noted + 1
