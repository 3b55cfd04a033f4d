"""Customers, addresses and orders: each caller's own."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.systems.deals.design import Deal
from tests.web.api_v1.calling import Caller, faulty, problem
from tests.web.conftest import PostDeal

HOME = {
    "recipient": "Sam Doe",
    "street": "1 Main Street",
    "city": "Omaha",
    "region": "NE",
    "postalCode": "68102",
    "country": "USA",
}
NO_ORDER = "2" * 27


@pytest.fixture
def lamp(post_deal: PostDeal) -> Deal:
    return post_deal()


def fill(caller: Caller, deal: Deal, count: int = 1) -> str:
    """Puts something in the cart, and tells the mark of all that is in it."""
    caller.post("/me/cart/products", {"dealId": deal.deal_id, "count": count})
    mark: str = caller.get("/me/cart").json()["mark"]
    return mark


def order(caller: Caller, deal: Deal, key: str | None = None, **told: Any) -> Any:
    wanted = {"mark": fill(caller, deal), "shipTo": HOME, **told}
    return caller.post("/me/orders", wanted, key=key)


def test_a_customer_is_the_caller(sam: Caller) -> None:
    assert problem(sam.get("/me/customer")) == (404, "unknown-customer")
    made = sam.post("/me/customer", {"name": "Sam Doe"})
    assert made.status_code == 201
    assert made.json() == {
        "username": "sam",
        "email": "sam@example.com",
        "name": "Sam Doe",
        "addresses": {},
    }
    assert problem(sam.post("/me/customer", {"name": "Sam"})) == (409, "username-taken")
    assert faulty(sam.post("/me/customer", {"name": "Sam", "email": "bo@example.com"})) == {"email"}
    assert sam.get("/me/customer").json()["customer"] == made.json()


def test_addresses_are_kept_changed_and_removed(sam: Caller, bo: Caller) -> None:
    kept = sam.put("/me/addresses/at home", HOME).json()
    assert kept["addresses"] == {"at home": HOME}
    moved = sam.put("/me/addresses/at home", {**HOME, "city": "Lincoln", "region": None}).json()
    assert moved["addresses"]["at home"]["city"] == "Lincoln"
    assert problem(bo.delete("/me/addresses/at home"))[0] == 404
    assert sam.delete("/me/addresses/at home").status_code == 204
    assert problem(sam.delete("/me/addresses/at home")) == (404, "unknown-address")
    assert faulty(sam.put("/me/addresses/x", {**HOME, "city": " "})) == {"city"}
    assert problem(sam.put("/me/addresses/a%23b", HOME)) == (422, "invalid-address-name")


def test_what_is_in_the_cart_is_ordered(sam: Caller, lamp: Deal) -> None:
    mark = fill(sam, lamp, 3)
    answer = sam.post("/me/orders", {"mark": mark, "shipTo": HOME})
    made = answer.json()
    assert answer.status_code == 201
    assert (made["status"], made["itemCount"], made["total"]) == ("PLACED", 1, 59.97)
    assert made["shipTo"] == HOME

    path = f"/me/orders/{made['orderId']}"
    assert sam.get(path).json() == made
    whole = sam.get(f"{path}/items").json()
    item = {"itemId": lamp.deal_id, "title": "A lamp", "price": 19.99, "count": 3}
    assert whole == {"order": made, "items": [item]}
    assert sam.get("/me/cart").json()["lines"] == []
    (bought,) = sam.get(f"/me/purchases/{made['orderId']}").json()["items"]
    assert (bought["status"], bought["orderId"]) == ("PURCHASED", made["orderId"])
    last = sam.post("/me/purchases/completion").json()
    assert (last["orderId"], last["isOpen"]) == (made["orderId"], False)
    assert sam.get("/me/customer", consistent="true").json()["orders"]["items"] == [made]


def test_an_order_may_go_to_an_address_that_is_kept(sam: Caller, lamp: Deal) -> None:
    sam.put("/me/addresses/home", HOME)
    assert order(sam, lamp, shipTo=None, addressName="home").json()["shipTo"] == HOME


def test_an_order_that_will_not_do_orders_nothing(sam: Caller, lamp: Deal) -> None:
    nothing = sam.post("/me/orders", {"mark": "x", "shipTo": HOME})
    assert problem(nothing) == (422, "empty-cart")
    assert sam.post("/me/purchases/completion").json() == {
        "orderId": None,
        "begunAt": None,
        "isOpen": False,
    }
    assert problem(order(sam, lamp, mark="another")) == (422, "not-as-reviewed")
    assert problem(order(sam, lamp, shipTo=None)) == (422, "no-address")
    assert problem(order(sam, lamp, addressName="home")) == (422, "no-address")
    gone = order(sam, lamp, shipTo=None, addressName="gone")
    assert problem(gone) == (404, "unknown-address")
    assert faulty(order(sam, lamp, shipTo={**HOME, "city": ""})) == {"shipTo.city"}
    assert faulty(order(sam, lamp, total=1)) == {"total"}
    assert sam.get("/me/customer").json()["orders"]["items"] == []
    assert len(sam.get("/me/cart").json()["lines"]) == 1


def test_to_order_again_with_one_key_makes_one_order(sam: Caller, lamp: Deal) -> None:
    wanted = {"mark": fill(sam, lamp), "shipTo": HOME}
    first = sam.post("/me/orders", wanted, key="order-1")
    again = sam.post("/me/orders", wanted, key="order-1")
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert len(sam.get("/me/customer").json()["orders"]["items"]) == 1


def test_orders_are_the_callers_own(sam: Caller, bo: Caller, lamp: Deal) -> None:
    path = f"/me/orders/{order(sam, lamp).json()['orderId']}"
    for asked in (path, f"{path}/items"):
        assert problem(bo.get(asked)) == (404, "unknown-order")
    change = {"seen": "PLACED", "status": "CANCELLED"}
    assert problem(bo.put(f"{path}/status", change)) == (404, "unknown-order")
    assert bo.get(path.replace("orders", "purchases")).json() == {"items": []}
    assert sam.get(path).json()["status"] == "PLACED"


def test_a_caller_can_cancel_and_nothing_else(sam: Caller, lamp: Deal) -> None:
    path = f"/me/orders/{order(sam, lamp).json()['orderId']}/status"
    picked = sam.put(path, {"seen": "PLACED", "status": "PICKED"})
    assert problem(picked) == (403, "only-cancelled")
    cancelled = sam.put(path, {"seen": "PLACED", "status": "CANCELLED"})
    assert cancelled.json()["status"] == "CANCELLED"
    again = sam.put(path, {"seen": "PLACED", "status": "CANCELLED"})
    assert problem(again) == (409, "order-moved-on")
    assert (
        problem(
            sam.put(f"/me/orders/{NO_ORDER}/status", {"seen": "PLACED", "status": "CANCELLED"})
        )[0]
        == 404
    )


def test_admins_move_orders_on_without_seeing_them(sam: Caller, ada: Caller, lamp: Deal) -> None:
    made = order(sam, lamp).json()
    path = f"/customers/sam/orders/{made['orderId']}/status"
    for seen, status in (("PLACED", "PICKED"), ("PICKED", "SHIPPED"), ("SHIPPED", "DELIVERED")):
        answer = ada.put(path, {"seen": seen, "status": status})
        assert (answer.status_code, answer.content) == (204, b"")
    assert sam.get(f"/me/orders/{made['orderId']}").json()["status"] == "DELIVERED"
    back = ada.put(path, {"seen": "DELIVERED", "status": "PLACED"})
    assert problem(back) == (422, "status-out-of-order")
    other = path.replace("sam", "bo")
    assert problem(ada.put(other, {"seen": "PLACED", "status": "PICKED"})) == (404, "unknown-order")


def test_a_list_of_orders_goes_on(sam: Caller, lamp: Deal) -> None:
    ids = [order(sam, lamp).json()["orderId"] for _ in range(3)]
    first = sam.get("/me/customer", pageSize=2).json()
    rest = sam.get("/me/customer", pageSize=2, startAt=first["orders"]["startAt"]).json()
    seen = [item["orderId"] for page in (first, rest) for item in page["orders"]["items"]]
    assert sorted(seen) == sorted(ids) and first["customer"] and rest["customer"] is None
    wrong = sam.get("/me/customer", startAt=first["orders"]["startAt"][:-1])
    assert problem(wrong) == (400, "cursor-error")
