"""`/v1.0/tenants`: for admins, and for the customer itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bigtime.systems.accounts.design import Role
from bigtime.systems.portal.design import Audited, Tenant
from bigtime.systems.portal.orders import place_order
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import get_tenant, list_tenants, soft_delete_tenant
from bigtime.systems.portal.values import Status
from tests.systems.portal.scenes import (
    ADMIN,
    NO_ORDER,
    NOBODY,
    new_product,
    new_tenant,
    validated_tenant,
)
from tests.web.api.portal_client import Program, faults, is_problem, program_of
from tests.web.browsing import Web
from tests.web.portal.scene import customer, running_campaign

HERE = "/v1.0/tenants"


@pytest.fixture
def tenant(web: Web) -> Tenant:
    """A registered customer."""
    return customer(web)[0]


@pytest.fixture
def cara(web: Web, tenant: Tenant) -> Program:
    """The customer's own program."""
    return Program(web, tenant.email)


def now_is(web: Web, tenant: Tenant) -> Tenant:
    found: Tenant = web.run(get_tenant(tenant.id, include_inactive=True))
    return found


# Admins


def test_an_admin_makes_and_reads_a_tenant(ada: Program) -> None:
    made = ada.post(HERE, {"email": "New@Example.com", "organizationName": "Corp"})
    told = made.json()
    assert made.status_code == 201
    assert (told["email"], told["status"]) == ("new@example.com", "UNVALIDATED")
    assert (told["organizationName"], told["destinationEmail"]) == ("Corp", None)
    assert told["previousStatus"] is None
    assert ada.get(f"{HERE}/{told['id']}").json() == told
    assert ada.get(HERE).json()["items"] == [told]


def test_an_address_that_is_somebodys_is_a_conflict(web: Web, ada: Program) -> None:
    new_tenant(web)
    refused = ada.post(HERE, {"email": "customer@example.com"})
    assert (refused.status_code, refused.json()["error"]) == (409, "email-taken")
    assert is_problem(refused)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "email"),
        ({"email": "x"}, 422, "email"),
        ({"email": 5}, 400, "email"),
        ({"email": "a@b.co", "organizationName": ""}, 422, "organizationName"),
        ({"email": "a@b.co", "destinationEmail": "x"}, 422, "destinationEmail"),
        ({"email": "a@b.co", "status": "REGISTERED"}, 400, "status"),
        ({"email": "a@b.co", "active": False}, 400, "active"),
    ],
)
def test_a_wrong_field_makes_nothing(
    web: Web, ada: Program, body: dict[str, Any], status: int, field: str
) -> None:
    refused = ada.post(HERE, body)
    assert (refused.status_code, set(faults(refused))) == (status, {field})
    assert web.run(list_tenants()).items == []


def test_lists_are_by_status_by_time_and_with_archived_ones(web: Web, ada: Program) -> None:
    new, proven = new_tenant(web, "new@example.com"), validated_tenant(web, "proven@example.com")
    gone = new_tenant(web, "gone@example.com")
    web.run(soft_delete_tenant(gone.id, by=ADMIN))

    def ids(**query: str) -> set[str]:
        return {item["id"] for item in ada.get(HERE, params=query).json()["items"]}

    tomorrow = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    assert ids() == {new.id, proven.id}
    assert ids(status="UNVALIDATED") == {new.id}
    assert ids(status="UNVALIDATED", includeInactive="true") == {new.id, gone.id}
    assert ids(includeInactive="true") == {new.id, proven.id, gone.id}
    assert ids(status="SUSPENDED") == set()
    assert ids(createdFrom=tomorrow) == set()
    assert ids(createdTo=tomorrow, status="VALIDATED") == {proven.id}


@pytest.mark.parametrize(
    "query",
    [
        "status=HAPPY",
        "status=",
        "createdFrom=yesterday",
        "createdFrom=0.5",
        "createdTo=1765000000",
        "createdFrom=2026-03-10T12:00:00",
        "createdFrom=0001-01-01T00:00:00%2B23:59",
        "createdTo=9999-12-31T23:59:59-23:59",
        "createdFrom=2026-03-10T12:00:00Z&createdTo=2026-03-09T12:00:00Z",
        "pageSize=0",
        "startAt=x",
    ],
)
def test_a_query_that_cannot_be_is_malformed(ada: Program, query: str) -> None:
    refused = ada.get(f"{HERE}?{query}")
    assert refused.status_code == 400
    assert is_problem(refused)


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("createdFrom=9999-12-31T23:59:59-23:59", {"createdFrom"}),
        ("createdTo=2026-03-10T12:00:00", {"createdTo"}),
        (
            "createdFrom=2026-03-10T12:00:00Z&createdTo=2026-03-09T12:00:00Z",
            {"createdFrom", "createdTo"},
        ),
    ],
)
def test_a_time_that_cannot_be_is_named(ada: Program, query: str, fields: set[str]) -> None:
    refused = ada.get(f"{HERE}?{query}")
    assert (refused.status_code, set(faults(refused))) == (400, fields)


def test_an_admin_finds_a_tenant_by_its_address(web: Web, ada: Program, tenant: Tenant) -> None:
    found = ada.get(f"{HERE}/by-email/{tenant.email.upper()}")
    assert (found.status_code, found.json()["id"]) == (200, tenant.id)
    web.run(soft_delete_tenant(tenant.id, by=ADMIN))
    assert ada.get(f"{HERE}/by-email/{tenant.email}").json()["active"] is False
    assert ada.get(f"{HERE}/by-email/nobody@example.com").status_code == 404
    assert ada.get(f"{HERE}/by-email/orders").status_code == 422


def test_tenants_are_counted_by_status(web: Web, ada: Program, tenant: Tenant) -> None:
    new_tenant(web, "new@example.com")
    gone = new_tenant(web, "gone@example.com")
    web.run(soft_delete_tenant(gone.id, by=ADMIN))
    counts = {"UNVALIDATED": 1, "VALIDATED": 0, "REGISTERED": 1, "SUSPENDED": 0}
    assert ada.get(f"{HERE}/counts").json() == {"total": 2, "byStatus": counts, "inactive": 1}
    counts["UNVALIDATED"] = 2
    told = ada.get(f"{HERE}/counts?includeInactive=true").json()
    assert told == {"total": 3, "byStatus": counts, "inactive": 1}


def test_archived_tenants_are_listed_by_themselves(web: Web, ada: Program, tenant: Tenant) -> None:
    gone = new_tenant(web, "gone@example.com")
    web.run(soft_delete_tenant(gone.id, by=ADMIN))
    listed = ada.get(f"{HERE}?inactiveOnly=true").json()["items"]
    assert [told["id"] for told in listed] == [gone.id]
    refused = ada.get(f"{HERE}?inactiveOnly=true&status=VALIDATED")
    assert refused.status_code == 400 and faults(refused).keys() == {"status"}


def test_an_admin_archives_and_restores(web: Web, ada: Program, tenant: Tenant) -> None:
    assert ada.put(f"{HERE}/{tenant.id}", {"active": False}).json()["active"] is False
    assert ada.get(f"{HERE}/{tenant.id}").status_code == 200
    refused = ada.put(f"{HERE}/{tenant.id}", {"organizationName": "x"})
    assert (refused.status_code, refused.json()["error"]) == (409, "tenant-deleted")
    assert ada.put(f"{HERE}/{tenant.id}", {"active": True}).json()["active"] is True


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"email": "other@example.com"}, 422, "email"),
        ({"previousStatus": "VALIDATED"}, 422, "previousStatus"),
        ({"id": NOBODY}, 422, "id"),
        ({"active": "no"}, 400, "active"),
        ({"destinationEmail": "x"}, 422, "destinationEmail"),
        ({"status": "HAPPY"}, 422, "status"),
        ({"reason": ""}, 422, "reason"),
    ],
)
def test_a_wrong_change_is_told_beside_its_field(
    web: Web, ada: Program, tenant: Tenant, body: dict[str, Any], status: int, field: str
) -> None:
    refused = ada.put(f"{HERE}/{tenant.id}", body)
    assert (refused.status_code, set(faults(refused))) == (status, {field})
    assert now_is(web, tenant) == tenant


def test_null_takes_away_what_need_not_be_there(web: Web, ada: Program, tenant: Tenant) -> None:
    ada.put(f"{HERE}/{tenant.id}", {"organizationName": "Corp", "destinationEmail": "f@x.org"})
    changed = ada.put(f"{HERE}/{tenant.id}", {"organizationName": None}).json()
    assert (changed["organizationName"], changed["destinationEmail"]) == (None, "f@x.org")


# Statuses


def test_a_status_moves_along_the_lifecycle(web: Web, ada: Program) -> None:
    made = new_tenant(web)
    for status in ("VALIDATED", "REGISTERED", "SUSPENDED", "REGISTERED"):
        assert ada.put(f"{HERE}/{made.id}", {"status": status}).json()["status"] == status
    refused = ada.put(f"{HERE}/{made.id}", {"status": "UNVALIDATED"})
    assert (refused.status_code, refused.json()["error"]) == (409, "move-refused")


def test_with_a_reason_a_status_moves_anywhere(web: Web, ada: Program) -> None:
    made = new_tenant(web)
    body = {"status": "SUSPENDED", "reason": "fraud"}
    changed = ada.put(f"{HERE}/{made.id}", body).json()
    assert (changed["status"], changed["previousStatus"]) == ("SUSPENDED", "UNVALIDATED")
    entry = web.run(audit_log(Audited.TENANTS, made.id, limit=1)).items[0]
    assert (entry.action, entry.reason) == ("STATUS_OVERRIDDEN", "fraud")
    assert entry.actor == "ada@example.com"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"status": "VALIDATED", "organizationName": "x"}, "status-not-alone"),
        ({"status": "VALIDATED", "active": False}, "status-not-alone"),
        ({"reason": "fraud"}, "reason-not-asked"),
        ({"reason": "fraud", "organizationName": "x"}, "reason-not-asked"),
    ],
)
def test_a_status_changes_by_itself(
    web: Web, ada: Program, body: dict[str, Any], error: str
) -> None:
    made = new_tenant(web)
    refused = ada.put(f"{HERE}/{made.id}", body)
    assert (refused.status_code, refused.json()["error"]) == (422, error)
    assert now_is(web, made) == made


# The customer itself


def test_a_customer_reads_itself_without_who_changed_it(
    web: Web, cara: Program, tenant: Tenant
) -> None:
    web.run(suspend_tenant(tenant.id, "unpaid", by=ADMIN))
    told = cara.get(f"{HERE}/{tenant.id}").json()
    assert (told["email"], told["status"]) == (tenant.email, "SUSPENDED")
    assert told["lastUpdatedBy"] is None


def test_a_customer_tells_of_itself_and_changes_nothing_else(
    web: Web, cara: Program, tenant: Tenant
) -> None:
    body = {"organizationName": "Corp", "destinationEmail": "forms@example.com"}
    changed = cara.put(f"{HERE}/{tenant.id}", body)
    assert changed.status_code == 200
    assert {name: changed.json()[name] for name in body} == body
    before = now_is(web, tenant)
    for other in (
        {"active": False},
        {"status": "VALIDATED"},
        {"status": "VALIDATED", "reason": "x"},
    ):
        assert cara.put(f"{HERE}/{tenant.id}", other).status_code == 403
    assert now_is(web, tenant) == before


def test_a_suspended_customer_changes_nothing(web: Web, cara: Program, tenant: Tenant) -> None:
    web.run(suspend_tenant(tenant.id, "unpaid", by=ADMIN))
    refused = cara.put(f"{HERE}/{tenant.id}", {"organizationName": "x"})
    assert (refused.status_code, refused.json()["error"]) == (403, "tenant-suspended")


def test_an_archived_customer_does_not_find_itself(web: Web, cara: Program, tenant: Tenant) -> None:
    web.run(soft_delete_tenant(tenant.id, by=ADMIN))
    assert cara.get(f"{HERE}/{tenant.id}").status_code == 404
    assert cara.get(f"{HERE}/{tenant.id}/orders").status_code == 404
    assert cara.put(f"{HERE}/{tenant.id}", {"organizationName": "x"}).status_code == 404


def test_nobody_else_reads_or_changes_a_customer(web: Web, tenant: Tenant) -> None:
    customer(web, "other@example.com", "otto")
    others = (
        Program(web, "other@example.com"),
        program_of(web, "sam"),
        program_of(web, "erin", Role.EDITOR),
    )
    for other in others:
        for tenant_id in (tenant.id, NOBODY, "x"):
            assert other.get(f"{HERE}/{tenant_id}").status_code == 403
            assert other.get(f"{HERE}/{tenant_id}/orders").status_code == 403
            assert other.get(f"{HERE}/{tenant_id}/orders/{NO_ORDER}").status_code == 403
            body = {"organizationName": "Evil"}
            assert other.put(f"{HERE}/{tenant_id}", body).status_code == 403
    assert now_is(web, tenant) == tenant


# Orders


def test_orders_are_the_customers_with_what_was_paid(
    web: Web, ada: Program, cara: Program, tenant: Tenant
) -> None:
    product = new_product(web)
    running_campaign(web, product.id)
    order = web.run(place_order(tenant.id, {product.id: 2}, "SUMMER2026"))
    told = cara.get(f"{HERE}/{tenant.id}/orders/{order.id}").json()
    assert told["items"] == [
        {
            "productId": product.id,
            "productName": product.name,
            "quantity": 2,
            "unitPrice": 239.99,
        }
    ]
    assert (told["total"], told["campaign"]["code"]) == (479.98, "SUMMER2026")
    assert (told["lastUpdatedBy"], told["campaign"]["lastUpdatedBy"]) == (None, None)
    assert cara.get(f"{HERE}/{tenant.id}/orders").json()["items"] == [told]
    seen = ada.get(f"{HERE}/{tenant.id}/orders/{order.id}").json()
    assert (seen["lastUpdatedBy"], seen["campaign"]["lastUpdatedBy"]) == (tenant.id, ADMIN)


def test_orders_come_page_by_page_and_a_cursor_is_one_customers(
    web: Web, cara: Program, tenant: Tenant
) -> None:
    product = new_product(web)
    made = {web.run(place_order(tenant.id, {product.id: 1})).id for _ in range(5)}
    here = f"{HERE}/{tenant.id}/orders"
    first = cara.get(f"{here}?pageSize=3").json()
    second = cara.get(f"{here}?pageSize=3&startAt={first['startAt']}").json()
    assert {each["id"] for each in [*first["items"], *second["items"]]} == made
    other, _ = customer(web, "other@example.com", "otto")
    otto = Program(web, other.email)
    theirs = f"{HERE}/{other.id}/orders?startAt={first['startAt']}"
    assert otto.get(theirs).status_code == 400


def test_the_orders_of_a_customer_who_is_archived_are_for_admins(
    web: Web, ada: Program, cara: Program, tenant: Tenant
) -> None:
    order = web.run(place_order(tenant.id, {new_product(web).id: 1}))
    web.run(soft_delete_tenant(tenant.id, by=ADMIN))
    for path in ("", "/orders", f"/orders/{order.id}"):
        assert cara.get(f"{HERE}/{tenant.id}{path}").status_code == 404, path
        assert ada.get(f"{HERE}/{tenant.id}{path}").status_code == 200, path


def test_what_a_customer_changes_it_changes_as_itself(
    web: Web, ada: Program, cara: Program, tenant: Tenant
) -> None:
    cara.put(f"{HERE}/{tenant.id}", {"organizationName": "By program"})
    assert now_is(web, tenant).last_updated_by == tenant.id
    browser = web.session_of(tenant.email, "a-browser-of-cara")
    changed = browser.submit("/portal", "/portal/details", organization_name="By page")
    assert changed.status_code == 303
    assert now_is(web, tenant).last_updated_by == tenant.id
    ada.put(f"{HERE}/{tenant.id}", {"organizationName": "By admin"})
    assert now_is(web, tenant).last_updated_by == "ada@example.com"


@pytest.mark.parametrize("order_id", [NO_ORDER, "x", "%00"])
def test_an_order_that_is_none_is_unknown(
    ada: Program, cara: Program, tenant: Tenant, order_id: str
) -> None:
    for somebody in (ada, cara):
        assert somebody.get(f"{HERE}/{tenant.id}/orders/{order_id}").status_code == 404
    assert ada.get(f"{HERE}/{NOBODY}/orders").status_code == 404


@pytest.mark.parametrize("tenant_id", [NOBODY, "x", "%00"])
def test_a_tenant_that_is_none_is_unknown(ada: Program, tenant_id: str) -> None:
    assert ada.get(f"{HERE}/{tenant_id}").status_code == 404
    assert ada.put(f"{HERE}/{tenant_id}", {"active": False}).status_code == 404
    assert ada.put(f"{HERE}/{tenant_id}", {"status": Status.VALIDATED}).status_code == 404
