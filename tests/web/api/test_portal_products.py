"""`/v1.0/products`."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.systems.portal.products import get_product, soft_delete_product
from tests.systems.portal.scenes import ADMIN, NO_PRODUCT, new_product
from tests.web.api.portal_client import Program, faults, is_problem
from tests.web.browsing import Web

HERE = "/v1.0/products"
NEW = {
    "name": "WordPress Professional Plan",
    "description": "Professional WordPress hosting",
    "price": 299.99,
    "features": ["Up to 10 sites"],
    "billingCycle": "monthly",
}


def test_an_admin_makes_a_product_and_everybody_reads_it(ada: Program, nobody: Program) -> None:
    made = ada.post(HERE, NEW)
    assert made.status_code == 201
    told = made.json()
    assert {name: told[name] for name in NEW} == NEW
    assert (told["active"], told["lastUpdatedBy"]) == (True, "ada@example.com")
    assert told["id"].startswith("prod_") and told["dateCreated"].endswith("Z")
    assert "." not in told["dateCreated"]
    read = nobody.get(f"{HERE}/{told['id']}")
    assert (read.status_code, read.json()) == (200, {**told, "lastUpdatedBy": None})
    listed = nobody.get(HERE).json()
    assert listed == {
        "items": [{**told, "lastUpdatedBy": None}],
        "startAt": None,
        "moreAvailable": False,
    }
    assert ada.get(HERE).json()["items"] == [told]


def test_an_archived_product_is_for_admins_alone(web: Web, ada: Program, nobody: Program) -> None:
    kept, gone = new_product(web), new_product(web, name="Gone")
    web.run(soft_delete_product(gone.id, by=ADMIN))
    assert [item["id"] for item in nobody.get(HERE).json()["items"]] == [kept.id]
    assert nobody.get(f"{HERE}/{gone.id}").status_code == 404
    assert nobody.get(f"{HERE}?includeInactive=true").status_code == 401
    assert ada.get(f"{HERE}/{gone.id}").json()["active"] is False
    assert len(ada.get(HERE).json()["items"]) == 1
    assert len(ada.get(f"{HERE}?includeInactive=true").json()["items"]) == 2


def test_archived_products_are_listed_by_themselves(web: Web, ada: Program) -> None:
    new_product(web)
    gone = new_product(web)
    web.run(soft_delete_product(gone.id, by=ADMIN))
    listed = ada.get(f"{HERE}?inactiveOnly=true").json()["items"]
    assert [told["id"] for told in listed] == [gone.id]
    assert ada.get(f"{HERE}?inactiveOnly=true&includeInactive=true").status_code == 400


def test_put_active_archives_and_restores(web: Web, ada: Program, nobody: Program) -> None:
    made = new_product(web)
    nobody.client.get("/pricing")
    for active, status in ((False, 404), (False, 404), (True, 200)):
        changed = ada.put(f"{HERE}/{made.id}", {"active": active})
        assert (changed.status_code, changed.json()["active"]) == (200, active)
        assert nobody.get(f"{HERE}/{made.id}").status_code == status
        assert (made.name in nobody.client.get("/pricing").text) is active


def test_put_changes_what_it_says_and_nothing_else(web: Web, ada: Program) -> None:
    made = new_product(web)
    changed = ada.put(f"{HERE}/{made.id}", {"price": 9.99, "billingCycle": "yearly"}).json()
    assert (changed["price"], changed["billingCycle"]) == (9.99, "yearly")
    assert (changed["name"], changed["features"]) == (made.name, made.features)
    assert ada.put(f"{HERE}/{made.id}", {"features": []}).json()["features"] == []
    before = web.run(get_product(made.id))
    assert ada.put(f"{HERE}/{made.id}", {}).status_code == 200
    assert web.run(get_product(made.id)) == before


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"id": "prod_x"}, 422, "id"),
        ({"dateCreated": "2025-12-19T10:30:00Z"}, 422, "dateCreated"),
        ({"lastUpdatedBy": "me"}, 422, "lastUpdatedBy"),
        ({"colour": "red"}, 400, "colour"),
        ({"active": "false"}, 400, "active"),
        ({"active": None}, 400, "active"),
        ({"active": 0}, 400, "active"),
        ({"price": 0}, 422, "price"),
        ({"price": None}, 400, "price"),
        ({"name": ""}, 422, "name"),
        ({"name": None}, 400, "name"),
        ({"description": " "}, 422, "description"),
        ({"billingCycle": "weekly"}, 422, "billingCycle"),
        ({"features": "one"}, 400, "features"),
        ({"features": [1]}, 400, "features"),
    ],
)
def test_a_wrong_change_is_told_beside_its_field(
    web: Web, ada: Program, body: dict[str, Any], status: int, field: str
) -> None:
    made = new_product(web)
    refused = ada.put(f"{HERE}/{made.id}", {**body})
    assert (refused.status_code, set(faults(refused))) == (status, {field})
    assert is_problem(refused)
    assert web.run(get_product(made.id)) == made


def test_a_deleted_product_is_restored_before_it_is_changed(web: Web, ada: Program) -> None:
    made = new_product(web)
    web.run(soft_delete_product(made.id, by=ADMIN))
    refused = ada.put(f"{HERE}/{made.id}", {"price": 1})
    assert (refused.status_code, refused.json()["error"]) == (409, "product-deleted")
    assert ada.put(f"{HERE}/{made.id}", {"price": 1, "active": True}).json()["price"] == 1


@pytest.mark.parametrize("product_id", [NO_PRODUCT, "x", "%00", "prod_" + "x" * 3000])
def test_a_product_that_is_none_is_unknown(ada: Program, product_id: str) -> None:
    assert ada.get(f"{HERE}/{product_id}").status_code == 404
    assert ada.put(f"{HERE}/{product_id}", {"price": 1}).status_code == 404


# Pages


def test_pages_join_up_to_the_whole(web: Web, nobody: Program) -> None:
    made = {new_product(web, name=f"Plan {number}").id for number in range(7)}
    found: list[str] = []
    query = "pageSize=3"
    while True:
        page = nobody.get(f"{HERE}?{query}").json()
        found += [item["id"] for item in page["items"]]
        assert page["moreAvailable"] is (page["startAt"] is not None)
        if not page["moreAvailable"]:
            break
        assert len(page["items"]) == 3
        query = f"pageSize=3&startAt={page['startAt']}"
    assert (len(found), set(found)) == (7, made)


@pytest.mark.parametrize("size", ["0", "101", "-1", "x", "1.5", "", "9" * 5000])
def test_a_page_has_1_to_100_items(nobody: Program, size: str) -> None:
    refused = nobody.get(f"{HERE}?pageSize={size}")
    assert (refused.status_code, set(faults(refused))) == (400, {"pageSize"})


def test_a_page_has_50_items_unless_told(web: Web, nobody: Program) -> None:
    for number in range(51):
        new_product(web, name=f"Plan {number}")
    assert len(nobody.get(HERE).json()["items"]) == 50
    assert len(nobody.get(f"{HERE}?pageSize=100").json()["items"]) == 51


def test_a_cursor_is_ours_unchanged_and_of_this_list(web: Web, ada: Program) -> None:
    for number in range(3):
        new_product(web, name=f"Plan {number}")
    cursor = ada.get(f"{HERE}?pageSize=1").json()["startAt"]
    assert ada.get(f"{HERE}?pageSize=1&startAt={cursor}").status_code == 200
    changed = cursor[:-2] + ("AA" if cursor[-2:] != "AA" else "BB")
    for tampered in (changed, cursor[1:], "x", "", "é", "%00", cursor + "A", "A" * 4001):
        refused = ada.get(f"{HERE}?startAt={tampered}")
        assert refused.status_code == 400, tampered
        assert is_problem(refused)
    assert ada.get(f"{HERE}?includeInactive=true&startAt={cursor}").status_code == 400
    assert ada.get(f"/v1.0/tenants?startAt={cursor}").status_code == 400


@pytest.mark.parametrize("flag", ["yes please", "2", ""])
def test_a_flag_is_true_or_false(ada: Program, flag: str) -> None:
    assert ada.get(f"{HERE}?includeInactive={flag}").status_code == 400
