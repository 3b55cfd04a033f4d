"""The caller's cart, and who else has a product."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest

from bigtime.systems.deals.deals import update_deal
from bigtime.systems.deals.design import Deal
from tests.web.api_v1.calling import Caller, faulty, problem
from tests.web.browsing import Web
from tests.web.conftest import PostDeal


@pytest.fixture
def lamp(post_deal: PostDeal) -> Deal:
    return post_deal()


def add(caller: Caller, deal: Deal, count: int = 1) -> Any:
    return caller.post("/me/cart/products", {"dealId": deal.deal_id, "count": count})


def lines(caller: Caller, status: str = "ACTIVE") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = caller.get("/me/cart/lines", status=status).json()["items"]
    return found


def at(line: dict[str, Any]) -> str:
    return f"/me/cart/lines/{quote(line['sk'], safe='')}"


def test_a_product_is_put_in_at_the_price_of_its_deal(
    web: Web, sam: Caller, bo: Caller, lamp: Deal
) -> None:
    made = add(sam, lamp, 2)
    assert made.status_code == 201
    assert (made.json()["price"], made.json()["count"]) == (19.99, 2)
    web.run(update_deal(lamp.deal_id, price=Decimal("15.00")))
    more = add(sam, lamp).json()
    assert (more["price"], more["count"], more["sk"]) == (15, 3, made.json()["sk"])
    assert lines(sam) == [more] and lines(bo) == []


def test_nobody_says_what_a_product_costs(sam: Caller, lamp: Deal) -> None:
    body = {"dealId": lamp.deal_id, "price": 0.01}
    assert faulty(sam.post("/me/cart/products", body)) == {"price"}
    add(sam, lamp)
    answer = sam.put(f"/me/cart/products/{lamp.deal_id}/price", {"price": 0.01})
    assert answer.json()["price"] == 19.99
    assert lines(sam)[0]["price"] == 19.99


def test_what_is_no_deal_or_no_count_is_refused(sam: Caller, lamp: Deal) -> None:
    assert problem(sam.post("/me/cart/products", {"dealId": "x"})) == (404, "unknown-deal")
    for count in (0, -1, 10_000, 1.5, "2 pieces", None):
        assert faulty(sam.post("/me/cart/products", {"dealId": lamp.deal_id, "count": count}))
    assert problem(sam.put("/me/cart/products/x/count", {"count": 2})) == (404, "unknown-line")
    assert lines(sam) == []


def test_the_count_and_the_price_are_changed(web: Web, sam: Caller, lamp: Deal) -> None:
    add(sam, lamp)
    path = f"/me/cart/products/{lamp.deal_id}"
    assert sam.put(f"{path}/count", {"count": 7}).json()["count"] == 7
    before = sam.get("/me/cart").json()
    web.run(update_deal(lamp.deal_id, price=Decimal("15.00")))
    cart = sam.get("/me/cart").json()
    assert cart["lines"][0]["newPrice"] == 15 and cart["total"] == 105
    assert sam.put(f"{path}/price").json()["price"] == 15
    after = sam.get("/me/cart").json()
    assert after["lines"][0]["newPrice"] is None and after["total"] == 105
    assert (
        after["lines"][0]["title"] == "A lamp" and after["mark"] == cart["mark"] != before["mark"]
    )


def test_a_line_is_saved_for_later_and_moved_back(sam: Caller, bo: Caller, lamp: Deal) -> None:
    line = add(sam, lamp).json()
    assert problem(bo.put(f"{at(line)}/status", {"status": "SAVED"})) == (404, "unknown-line")
    saved = sam.put(f"{at(line)}/status", {"status": "SAVED"}).json()
    assert (lines(sam), lines(sam, "SAVED")) == ([], [saved])
    back = sam.put(f"{at(saved)}/status", {"status": "ACTIVE"}).json()
    assert lines(sam) == [back]
    bought = sam.put(f"{at(back)}/status", {"status": "PURCHASED"})
    assert problem(bought) == (422, "not-purchased-by-moving")
    assert faulty(sam.put(f"{at(back)}/status", {"status": "GONE"})) == {"status"}
    assert problem(sam.put("/me/cart/lines/x/status", {"status": "SAVED"})) == (422, "invalid-line")
    assert faulty(sam.get("/me/cart/lines")) == {"status"}


def test_what_was_removed_can_be_put_back_by_whoever_removed_it(
    sam: Caller, bo: Caller, lamp: Deal
) -> None:
    line = add(sam, lamp, 3).json()
    assert problem(bo.delete(at(line))) == (404, "unknown-line")
    removed = sam.delete(at(line)).json()
    assert removed["line"] == line and lines(sam) == []
    assert problem(sam.delete(at(line))) == (404, "unknown-line")

    undo = {"undo": removed["undo"]}
    assert problem(bo.post("/me/cart/lines/undo", undo)) == (422, "no-undo")
    tampered = {"undo": removed["undo"][:-2] + "AA"}
    assert problem(sam.post("/me/cart/lines/undo", tampered)) == (422, "no-undo")
    assert sam.post("/me/cart/lines/undo", undo).json() == line
    assert sam.post("/me/cart/lines/undo", undo).json() == line
    assert lines(sam) == [line] and lines(bo) == []


def test_admins_see_whose_carts_a_product_is_in(
    sam: Caller, bo: Caller, ada: Caller, lamp: Deal
) -> None:
    add(sam, lamp, 2)
    entered = add(bo, lamp).json()["enteredAt"]
    path = f"/skus/{lamp.deal_id}"
    found = ada.get(f"{path}/carts", status="ACTIVE")
    counts = {item["accountId"]: item["count"] for item in found.json()["items"]}
    assert counts == {"sam": 2, "bo": 1}
    assert "orderId" not in found.text
    of_day = ada.get(f"{path}/carts-of-day", status="ACTIVE", day=entered[:10])
    assert len(of_day.json()["items"]) == 2
    before = ada.get(f"{path}/carts-of-day", status="ACTIVE", day="2020-01-01")
    assert before.json()["items"] == []
    assert faulty(ada.get(f"{path}/carts-of-day", status="ACTIVE", day="x")) == {"day"}
    first = ada.get(f"{path}/carts", status="ACTIVE", pageSize=1).json()
    rest = ada.get(f"{path}/carts", status="ACTIVE", pageSize=1, startAt=first["startAt"]).json()
    assert first["items"] != rest["items"]
