"""Checkout: one tenant for an e-mail address, whoever comes first and however often."""

from __future__ import annotations

import json
import logging

import pytest

from bigtime.model import verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.design import SYSTEM_ACTOR, Action, Audited
from bigtime.systems.portal.errors import EmailRefused, TenantDeleted, TenantSuspended
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import (
    create_tenant,
    list_tenants,
    soft_delete_tenant,
    tenant_at_checkout,
)
from bigtime.systems.portal.values import Status
from bigtime.systems.portal.verification import verify_audit
from tests.store.places import Place
from tests.systems.portal.scenes import ADMIN, EMAIL, contents, registered_tenant


def test_a_new_address_makes_an_unvalidated_tenant(place: Place) -> None:
    tenant = place.run(tenant_at_checkout(EMAIL))

    assert (tenant.email, tenant.status, tenant.last_updated_by) == (
        EMAIL,
        Status.UNVALIDATED,
        SYSTEM_ACTOR,
    )
    (entry,) = place.run(audit_log(Audited.TENANTS, tenant.id))
    assert (entry.action, entry.before) == (Action.CREATED, None)
    assert place.run(verify(SYSTEM)) == []
    assert place.run(verify_audit()) == []


def test_a_known_address_is_its_tenant_in_any_case(place: Place) -> None:
    first = registered_tenant(place)
    before = contents(place)

    assert place.run(tenant_at_checkout(" CUSTOMER@Example.com")) == first

    assert contents(place) == before


def test_an_address_that_an_admin_entered_is_found(alone: Place) -> None:
    made = alone.run(create_tenant(EMAIL, "Example Corp", by=ADMIN))
    assert alone.run(tenant_at_checkout(EMAIL)) == made


def test_a_deleted_tenant_is_not_quietly_used_again(place: Place) -> None:
    tenant = registered_tenant(place)
    place.run(soft_delete_tenant(tenant.id, by=ADMIN))
    before = contents(place)
    with pytest.raises(TenantDeleted):
        place.run(tenant_at_checkout(EMAIL))
    assert contents(place) == before


def test_a_suspended_tenant_cannot_check_out(place: Place) -> None:
    tenant = registered_tenant(place)
    place.run(suspend_tenant(tenant.id, "fraud", by=ADMIN))
    before = contents(place)
    with pytest.raises(TenantSuspended):
        place.run(tenant_at_checkout(EMAIL))
    assert contents(place) == before


@pytest.mark.parametrize(
    "email",
    [
        "",
        "  ",
        "nobody",
        "a@b",
        "@b.example",
        "a@",
        "a b@c.example",
        "a#b@c.example",
        "a@b@c.d",
        "x" * 250 + "@b.example",
        "a\n@b.example",
    ],
    ids=range(11),
)
def test_what_is_no_address_makes_nobody(alone: Place, email: str) -> None:
    with pytest.raises(EmailRefused):
        alone.run(tenant_at_checkout(email))
    assert alone.run(list_tenants(include_inactive=True)).items == []


def test_a_checkout_logs_whether_its_tenant_is_new(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "bigtime.portal"):
        tenant = place.run(tenant_at_checkout(EMAIL))
        assert place.run(tenant_at_checkout(EMAIL)).id == tenant.id
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    assert [line["event"] for line in lines] == ["tenant-created", "tenant-reused"]
    assert {(line["tenant"], line["status"]) for line in lines} == {(tenant.id, "UNVALIDATED")}
    assert "@" not in caplog.text
