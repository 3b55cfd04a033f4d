"""Tenants for an admin: found, made, changed, moved, archived, restored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bigtime.model import Position
from bigtime.systems.portal.design import Audited, Product, Tenant
from bigtime.systems.portal.orders import place_order
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import (
    get_tenant,
    list_tenants,
    soft_delete_tenant,
    update_tenant,
)
from bigtime.systems.portal.values import Status
from tests.systems.portal.scenes import (
    ADMIN,
    NOBODY,
    new_tenant,
    registered_tenant,
    validated_tenant,
)
from tests.web.browsing import Browser, Reader, Web, words
from tests.web.portal.waiting import eventually

HERE = "/admin/tenants"
ADA = "ada@example.com"


def now_is(web: Web, tenant: Tenant) -> Tenant:
    found: Tenant = web.run(get_tenant(tenant.id, include_inactive=True))
    return found


def listed_ids(ada: Browser, query: str = "") -> list[str]:
    """The addresses on a page of the list."""
    page = ada.get(f"{HERE}{query}")
    assert page.status_code == 200
    found = [link for link in Reader(page.text).links if link.startswith(f"{HERE}/tenant_")]
    return [each.removeprefix(f"{HERE}/") for each in found]


# Lists


def test_tenants_are_listed_by_status_and_whether_they_are_archived(web: Web, ada: Browser) -> None:
    new, proven = new_tenant(web, "new@example.com"), validated_tenant(web, "proven@example.com")
    gone = new_tenant(web, "gone@example.com")
    web.run(soft_delete_tenant(gone.id, by=ADMIN))
    assert sorted(listed_ids(ada)) == sorted([new.id, proven.id])
    assert listed_ids(ada, "?which=UNVALIDATED") == [new.id]
    assert sorted(listed_ids(ada, "?which=UNVALIDATED&archived=yes")) == sorted([new.id, gone.id])
    assert listed_ids(ada, "?which=VALIDATED") == [proven.id]
    assert listed_ids(ada, "?which=deleted") == [gone.id]
    assert len(listed_ids(ada, "?archived=yes")) == 3
    assert listed_ids(ada, "?which=SUSPENDED") == []
    told = words(ada.get(HERE).text)
    assert "1 unvalidated, 1 validated, 0 registered, 0 suspended" in told
    new_tenant(web, "another@example.com")
    eventually(lambda: "2 unvalidated, 1 validated" in words(ada.get(HERE).text))


@pytest.mark.parametrize("which", ["", "UNVALIDATED", "deleted"])
def test_tenants_are_listed_by_when_they_came(web: Web, ada: Browser, which: str) -> None:
    made = new_tenant(web)
    if which == "deleted":
        web.run(soft_delete_tenant(made.id, by=ADMIN))
    today = datetime.now(UTC).date()
    tomorrow, yesterday = today + timedelta(days=1), today - timedelta(days=1)
    assert listed_ids(ada, f"?which={which}&since={today}&until={today}") == [made.id]
    assert listed_ids(ada, f"?which={which}&since={tomorrow}") == []
    assert listed_ids(ada, f"?which={which}&until={yesterday}") == []


def test_a_list_goes_on_with_the_same_filters(web: Web, ada: Browser) -> None:
    made = {new_tenant(web, f"t{number}@example.com").id for number in range(30)}
    validated_tenant(web, "other@example.com")
    first = listed_ids(ada, "?which=UNVALIDATED")
    (more,) = [link for link in ada.links(f"{HERE}?which=UNVALIDATED") if "after=" in link]
    assert "which=UNVALIDATED" in more
    second = listed_ids(ada, more.removeprefix(HERE))
    assert (len(first), len(second), {*first, *second}) == (20, 10, made)
    assert ada.get(f"{HERE}?after={more.rpartition('=')[2]}").status_code == 400


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?which=NONE", "which"),
        ("?since=yesterday", "since"),
        ("?until=2026-13-01", "until"),
        ("?since=2026-03-02&until=2026-03-01", "until"),
    ],
)
def test_a_filter_that_is_none_is_told_beside_it(ada: Browser, query: str, field: str) -> None:
    page = ada.get(f"{HERE}{query}")
    assert page.status_code == 422
    assert f'id="{field}-fault"' in page.text


def test_a_cursor_that_was_tampered_with_is_refused(web: Web, ada: Browser) -> None:
    for number in range(26):
        new_tenant(web, f"t{number}@example.com")
    (more,) = [link for link in ada.links(HERE) if "after=" in link]
    assert ada.get(more).status_code == 200
    assert ada.get(f"{more[:-1]}{'A' if more[-1] != 'A' else 'B'}").status_code == 400
    forged = web.site.cursors.write(Position("x", {"key": {}}))
    assert ada.get(f"{HERE}?after={forged}").status_code == 400


def test_a_tenant_is_found_by_its_address(web: Web, ada: Browser) -> None:
    made = new_tenant(web)
    web.run(soft_delete_tenant(made.id, by=ADMIN))
    found = ada.get(f"{HERE}/find?email=Customer@example.com")
    assert found.headers["location"] == f"{HERE}/{made.id}"
    for email, status in (("nobody@example.com", 404), ("x", 422), ("", 422)):
        missing = ada.get(f"{HERE}/find?email={email}")
        assert missing.status_code == status
        assert 'id="email-fault"' in missing.text


# Making and changing


def make(ada: Browser, **told: str) -> Any:
    return ada.submit(f"{HERE}/new", f"{HERE}/new", **told)


def test_an_admin_makes_a_tenant(web: Web, ada: Browser) -> None:
    done = make(ada, email="New@example.com", organization_name="Corp")
    (made,) = web.run(list_tenants())
    assert (done.status_code, done.headers["location"]) == (303, f"{HERE}/{made.id}?done=made")
    assert (made.email, made.organization_name, made.last_updated_by) == (
        "new@example.com",
        "Corp",
        ADA,
    )
    assert "Created." in words(ada.get(done.headers["location"]).text)


def test_an_address_that_is_somebodys_is_told_beside_it(web: Web, ada: Browser) -> None:
    new_tenant(web)
    taken = make(ada, email="CUSTOMER@example.com", organization_name="Corp")
    assert taken.status_code == 409
    assert 'id="email-fault"' in taken.text and 'value="Corp"' in taken.text
    assert len(web.run(list_tenants())) == 1


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"email": "x"}, "email"),
        ({}, "email"),
        ({"email": "a@example.com", "destination_email": "x"}, "destination_email"),
        ({"email": "a@example.com", "organization_name": "x" * 201}, "organization_name"),
    ],
)
def test_a_wrong_field_makes_nothing(
    web: Web, ada: Browser, told: dict[str, str], field: str
) -> None:
    refused = make(ada, **told)
    assert refused.status_code == 422
    assert f'id="{field}-fault"' in refused.text
    assert web.run(list_tenants()).items == []


def test_an_admin_changes_what_is_told_of_a_tenant(web: Web, ada: Browser) -> None:
    made = new_tenant(web)
    page = f"{HERE}/{made.id}"
    done = ada.submit(page, page, organization_name="Corp")
    assert done.headers["location"] == f"{page}?done=changed"
    assert now_is(web, made).organization_name == "Corp"
    refused = ada.submit(page, page, destination_email="x")
    assert refused.status_code == 422 and 'id="destination_email-fault"' in refused.text


def test_two_admins_do_not_write_over_each_other(web: Web, ada: Browser) -> None:
    made = new_tenant(web)
    page = f"{HERE}/{made.id}"
    form = ada.form(page, page)
    web.run(update_tenant(made.id, {"organization_name": "First"}, by=ADMIN))
    moved = ada.post(page, data={**form.fields, "organization_name": "Second"})
    assert moved.status_code == 409
    assert 'value="Second"' in moved.text
    assert now_is(web, made).organization_name == "First"


def test_a_tenant_is_archived_and_restored_and_its_history_tells(web: Web, ada: Browser) -> None:
    made = new_tenant(web)
    page = f"{HERE}/{made.id}"
    form = ada.form(page, page)
    assert ada.submit(page, f"{page}/archive").headers["location"] == f"{page}?done=archived"
    assert not now_is(web, made).active
    shown = ada.get(page)
    assert "Archived." in words(shown.text) and f'action="{page}"' not in shown.text
    assert ada.post(page, data={**form.fields, "organization_name": "x"}).status_code == 409
    assert ada.submit(page, f"{page}/restore").headers["location"] == f"{page}?done=restored"
    assert now_is(web, made).active
    told = words(ada.get(f"/admin/history/tenants/{made.id}").text)
    assert f"{ADA} restored it Active: was no is yes" in told
    assert f"{ADA} archived it Active: was yes is no" in told
    assert "created it" in told


def test_a_change_by_the_tenant_itself_is_the_customers(web: Web, ada: Browser) -> None:
    made = registered_tenant(web)
    web.run(update_tenant(made.id, {"organization_name": "Moyo"}, by=made.id))
    assert "by the customer" in words(ada.get(f"{HERE}/{made.id}").text)
    web.run(update_tenant(made.id, {"organization_name": "Moyo Ltd"}, by=ADA))
    assert f"by {ADA}" in words(ada.get(f"{HERE}/{made.id}").text)


def test_the_page_of_a_tenant_shows_its_orders(web: Web, ada: Browser, product: Product) -> None:
    made = new_tenant(web)
    for _ in range(27):
        web.run(place_order(made.id, {product.id: 1}))
    assert words(ada.get(f"{HERE}/{made.id}").text).count("R 299.99") == 5
    first = ada.get(f"{HERE}/{made.id}/orders")
    assert first.text.count("/admin/history/orders/") == 25
    (more,) = [link for link in Reader(first.text).links if "after=" in link]
    assert ada.get(more).text.count("/admin/history/orders/") == 2
    (order, *_) = [link for link in Reader(first.text).links if "/history/orders/" in link]
    assert "created it" in words(ada.get(order).text)


@pytest.mark.parametrize("tenant_id", [NOBODY, "x", "prod_550e8400-e29b-41d4-a716-446655440000"])
def test_a_tenant_that_is_none_is_unknown(ada: Browser, tenant_id: str) -> None:
    token = ada.token()
    for method, path in (
        ("GET", ""),
        ("POST", ""),
        ("POST", "/archive"),
        ("POST", "/restore"),
        ("POST", "/status"),
        ("POST", "/override"),
        ("GET", "/orders"),
    ):
        data = {
            "form_token": token,
            "status": "VALIDATED",
            "expected": "UNVALIDATED",
            "reason": "x",
            "seen": "",
        }
        answer = ada.request(
            method, f"{HERE}/{tenant_id}{path}", data=data if method == "POST" else None
        )
        assert answer.status_code == 404, (method, path)


# Statuses


def offered_moves(ada: Browser, tenant: Tenant) -> list[str]:
    text = ada.get(f"{HERE}/{tenant.id}").text
    return [each.value for each in Status if f'name="status" value="{each.value}"' in text]


def test_only_moves_along_the_lifecycle_are_offered(web: Web, ada: Browser) -> None:
    assert offered_moves(ada, new_tenant(web, "a@example.com")) == ["VALIDATED"]
    assert offered_moves(ada, validated_tenant(web, "b@example.com")) == ["REGISTERED"]
    assert offered_moves(ada, registered_tenant(web, "c@example.com")) == ["SUSPENDED"]
    suspended = validated_tenant(web, "d@example.com")
    web.run(suspend_tenant(suspended.id, "unpaid", by=ADMIN))
    assert offered_moves(ada, suspended) == ["VALIDATED", "REGISTERED"]
    web.run(soft_delete_tenant(suspended.id, by=ADMIN))
    assert offered_moves(ada, suspended) == []


def move(ada: Browser, tenant: Tenant, status: str, **but: str) -> Any:
    page = f"{HERE}/{tenant.id}"
    return ada.submit(page, f"{page}/status", status=status, **but)


def test_a_tenant_is_moved_along(web: Web, ada: Browser) -> None:
    made = new_tenant(web)
    assert move(ada, made, "VALIDATED").headers["location"].endswith("?done=moved")
    assert move(ada, made, "REGISTERED").status_code == 303
    assert move(ada, made, "SUSPENDED").status_code == 303
    assert now_is(web, made).status == Status.SUSPENDED
    assert move(ada, made, "REGISTERED").status_code == 303
    entry = web.run(audit_log(Audited.TENANTS, made.id, limit=1)).items[0]
    assert (entry.action, entry.actor) == ("STATUS_CHANGED", ADA)


@pytest.mark.parametrize(("status", "answer"), [("SUSPENDED", 409), ("UNVALIDATED", 409)])
def test_a_move_that_is_not_allowed_is_refused(
    web: Web, ada: Browser, status: str, answer: int
) -> None:
    made = new_tenant(web)
    refused = move(ada, made, status)
    assert refused.status_code == answer
    assert "A tenant that is UNVALIDATED can become VALIDATED" in words(refused.text)
    assert now_is(web, made) == made


def test_a_move_from_a_status_that_it_no_longer_has_is_refused(web: Web, ada: Browser) -> None:
    made = validated_tenant(web)
    refused = move(ada, made, "REGISTERED", expected="UNVALIDATED")
    assert refused.status_code == 409
    assert now_is(web, made).status == Status.VALIDATED


@pytest.mark.parametrize("status", ["", "HAPPY"])
def test_a_status_that_is_none_is_a_wrong_field(web: Web, ada: Browser, status: str) -> None:
    made = new_tenant(web)
    assert move(ada, made, status).status_code == 422
    assert now_is(web, made) == made


def override(ada: Browser, tenant: Tenant, **told: str) -> Any:
    page = f"{HERE}/{tenant.id}"
    return ada.submit(page, f"{page}/override", **told)


def test_with_a_reason_any_status_can_be_set(web: Web, ada: Browser) -> None:
    made = new_tenant(web)
    assert override(ada, made, status="SUSPENDED", reason="fraud").status_code == 303
    assert now_is(web, made).status == Status.SUSPENDED
    told = words(ada.get(f"{HERE}/{made.id}").text)
    assert f"{ADA} set its status: fraud" in told
    assert "Suspended , before Unvalidated" in told


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({"status": "SUSPENDED"}, "reason"),
        ({"status": "SUSPENDED", "reason": "x" * 501}, "reason"),
        ({"status": "SUSPENDED", "reason": "a\x07b"}, "reason"),
        ({"reason": "fraud"}, "status"),
        ({"status": "HAPPY", "reason": "fraud"}, "status"),
    ],
)
def test_an_override_without_reason_or_status_changes_nothing(
    web: Web, ada: Browser, told: dict[str, str], field: str
) -> None:
    made = new_tenant(web)
    refused = override(ada, made, **told)
    assert refused.status_code == 422
    assert f'id="{field}-fault"' in refused.text
    assert "<details open>" in refused.text
    assert now_is(web, made) == made


def test_an_override_from_another_status_is_refused(web: Web, ada: Browser) -> None:
    made = new_tenant(web)
    told = {"status": "SUSPENDED", "reason": "fraud", "expected": "VALIDATED"}
    assert override(ada, made, **told).status_code == 409
    assert now_is(web, made) == made
