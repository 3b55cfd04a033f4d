"""Status moves: the system's table, the admin's override, and what a suspended tenant was."""

from __future__ import annotations

from itertools import product

import pytest

from bigtime.model import verify
from bigtime.systems.portal import SYSTEM
from bigtime.systems.portal.design import Action, Audited
from bigtime.systems.portal.errors import MoveRefused, ReasonRefused, StatusMoved, TenantDeleted
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import (
    MOVES,
    override_tenant_status,
    reinstate_tenant,
    suspend_tenant,
    update_tenant_status,
)
from bigtime.systems.portal.tenants import get_tenant, soft_delete_tenant
from bigtime.systems.portal.values import Status
from bigtime.systems.portal.verification import verify_audit
from tests.store.places import Place
from tests.systems.portal.scenes import ADMIN, contents, new_tenant

WHY = "asked for by phone"


def test_the_systems_moves_are_the_seeds() -> None:
    assert {each: {*MOVES[each]} for each in Status} == {
        Status.UNVALIDATED: {Status.VALIDATED},
        Status.VALIDATED: {Status.REGISTERED},
        Status.REGISTERED: {Status.SUSPENDED},
        Status.SUSPENDED: {Status.REGISTERED},
    }


@pytest.mark.parametrize(
    ("start", "target"), list(product(Status, Status)), ids=lambda one: str(one).lower()
)
def test_the_system_moves_along_its_table_only(alone: Place, start: Status, target: Status) -> None:
    tenant = new_tenant(alone)
    alone.run(override_tenant_status(tenant.id, start, WHY, by=ADMIN))
    before = contents(alone)
    # A suspended tenant may also go back to what it was: UNVALIDATED, here.
    allowed = MOVES[start] | ({Status.UNVALIDATED} if start == Status.SUSPENDED else set())

    if target in allowed:
        moved = alone.run(update_tenant_status(tenant.id, target, by=ADMIN))
        assert moved == alone.run(get_tenant(tenant.id))
        assert moved.status == target
    else:
        with pytest.raises(MoveRefused):
            alone.run(update_tenant_status(tenant.id, target, by=ADMIN))
        assert contents(alone) == before
    assert alone.run(verify_audit()) == []


@pytest.mark.parametrize(
    ("start", "target"), list(product(Status, Status)), ids=lambda one: str(one).lower()
)
def test_an_admin_moves_anywhere_with_a_reason(alone: Place, start: Status, target: Status) -> None:
    tenant = new_tenant(alone)
    alone.run(override_tenant_status(tenant.id, start, "the start", by=ADMIN))

    moved = alone.run(override_tenant_status(tenant.id, target, WHY, by=ADMIN))

    assert moved.status == target
    last = alone.run(audit_log(Audited.TENANTS, tenant.id)).items[0]
    if start != target:
        assert (last.action, last.actor, last.reason) == (Action.STATUS_OVERRIDDEN, ADMIN, WHY)
        assert (last.before or {})["status"] == start
        assert (last.after or {})["status"] == target


@pytest.mark.parametrize("status", [each for each in Status if each != Status.SUSPENDED])
def test_a_suspended_tenant_goes_back_to_what_it_was(place: Place, status: Status) -> None:
    tenant = new_tenant(place)
    place.run(override_tenant_status(tenant.id, status, WHY, by=ADMIN))
    suspended = place.run(suspend_tenant(tenant.id, "fraud", by=ADMIN))
    assert (suspended.status, suspended.previous_status) == (Status.SUSPENDED, status)

    back = place.run(reinstate_tenant(tenant.id, "a mistake", by=ADMIN))

    assert (back.status, back.previous_status) == (status, None)
    assert place.run(verify(SYSTEM)) == []


def test_a_suspended_tenant_may_be_registered_though_it_never_was(alone: Place) -> None:
    tenant = new_tenant(alone)
    alone.run(suspend_tenant(tenant.id, "fraud", by=ADMIN))
    with pytest.raises(MoveRefused):
        alone.run(reinstate_tenant(tenant.id, WHY, Status.VALIDATED, by=ADMIN))
    back = alone.run(reinstate_tenant(tenant.id, WHY, Status.REGISTERED, by=ADMIN))
    assert back.status == Status.REGISTERED
    with pytest.raises(MoveRefused):
        alone.run(reinstate_tenant(tenant.id, WHY, by=ADMIN))


def test_suspending_twice_remembers_the_first(alone: Place) -> None:
    tenant = new_tenant(alone)
    alone.run(suspend_tenant(tenant.id, "fraud", by=ADMIN))
    again = alone.run(suspend_tenant(tenant.id, "more fraud", by=ADMIN))
    assert again.previous_status == Status.UNVALIDATED


def test_a_status_moves_only_from_the_status_it_was_seen_in(place: Place) -> None:
    tenant = new_tenant(place)
    place.run(update_tenant_status(tenant.id, Status.VALIDATED, by=ADMIN))
    before = contents(place)

    with pytest.raises(StatusMoved):
        place.run(
            update_tenant_status(
                tenant.id, Status.REGISTERED, by=ADMIN, expected=Status.UNVALIDATED
            )
        )
    with pytest.raises(StatusMoved):
        place.run(
            override_tenant_status(
                tenant.id, Status.SUSPENDED, WHY, by=ADMIN, expected=Status.REGISTERED
            )
        )

    assert contents(place) == before


def test_a_deleted_tenant_does_not_move(alone: Place) -> None:
    tenant = new_tenant(alone)
    alone.run(soft_delete_tenant(tenant.id, by=ADMIN))
    for steps in (
        update_tenant_status(tenant.id, Status.VALIDATED, by=ADMIN),
        override_tenant_status(tenant.id, Status.REGISTERED, WHY, by=ADMIN),
        suspend_tenant(tenant.id, WHY, by=ADMIN),
    ):
        with pytest.raises(TenantDeleted):
            alone.run(steps)


def test_an_override_without_a_reason_is_refused(alone: Place) -> None:
    tenant = new_tenant(alone)
    before = contents(alone)
    for reason in ("", "   ", "x" * 501, "a\x00b"):
        with pytest.raises(ReasonRefused):
            alone.run(suspend_tenant(tenant.id, reason, by=ADMIN))
    assert contents(alone) == before
