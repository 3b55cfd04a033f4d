"""How a tenant comes along: UNVALIDATED, VALIDATED, REGISTERED, and SUSPENDED.

The system moves a tenant only along `MOVES`. An admin may move it anywhere, and must say why. A
suspended tenant remembers what it was, and goes back to that, or to REGISTERED.

A move is judged on the status that it meets, and goes through only if that is still so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bigtime.model import pattern
from bigtime.systems.portal.design import Action, Tenant
from bigtime.systems.portal.errors import MoveRefused, StatusMoved, TenantDeleted, UnknownTenant
from bigtime.systems.portal.history import Change, Changing
from bigtime.systems.portal.values import (
    Actor,
    Reason,
    Status,
    TenantId,
    checked_reason,
    checked_status,
)
from bigtime.wire import Steps

MOVES: Final[Mapping[Status, frozenset[Status]]] = {
    Status.UNVALIDATED: frozenset({Status.VALIDATED}),
    Status.VALIDATED: frozenset({Status.REGISTERED}),
    Status.REGISTERED: frozenset({Status.SUSPENDED}),
    Status.SUSPENDED: frozenset({Status.REGISTERED}),
}


@pattern("Update Tenant Status", index="Main table", sample={"status": Status.VALIDATED})
def update_tenant_status(
    tenant_id: TenantId, status: Status, *, by: Actor, expected: Status | None = None
) -> Steps[Tenant]:
    """along the lifecycle only, and from the status it was seen in"""
    target = checked_status(status)

    def decide(tenant: Tenant) -> Steps[Change | None]:
        check_expected(tenant, expected)
        return system_move(tenant, target)
        yield

    return (yield from Changing(Tenant.key(tenant_id), by, UnknownTenant).run(decide))


@pattern("Override Tenant Status", index="Main table", sample={"status": Status.REGISTERED})
def override_tenant_status(
    tenant_id: TenantId,
    status: Status,
    reason: Reason,
    *,
    by: Actor,
    expected: Status | None = None,
) -> Steps[Tenant]:
    """admin; to any status, with the reason in the audit log"""
    target, why = checked_status(status), checked_reason(reason)

    def decide(tenant: Tenant) -> Steps[Change | None]:
        check_expected(tenant, expected)
        if target == tenant.status:
            return None
        return move(tenant, target, Action.STATUS_OVERRIDDEN, why)
        yield

    return (yield from Changing(Tenant.key(tenant_id), by, UnknownTenant).run(decide))


@pattern("Suspend Tenant", index="Main table")
def suspend_tenant(tenant_id: TenantId, reason: Reason, *, by: Actor) -> Steps[Tenant]:
    """admin; from any status, which it remembers"""
    return (yield from override_tenant_status(tenant_id, Status.SUSPENDED, reason, by=by))


@pattern("Reinstate Tenant", index="Main table", takes="TenantId, Reason")
def reinstate_tenant(
    tenant_id: TenantId, reason: Reason, to: Status | None = None, *, by: Actor
) -> Steps[Tenant]:
    """admin; a suspended one back to what it was, or to REGISTERED"""
    target, why = None if to is None else checked_status(to), checked_reason(reason)

    def decide(tenant: Tenant) -> Steps[Change | None]:
        if tenant.status != Status.SUSPENDED:
            raise MoveRefused("Only a suspended tenant can be reinstated.")
        check_move(tenant, target or earlier(tenant))
        return move(tenant, target or earlier(tenant), Action.STATUS_CHANGED, why)
        yield

    return (yield from Changing(Tenant.key(tenant_id), by, UnknownTenant).run(decide))


# Rules


def system_move(tenant: Tenant, target: Status) -> Change:
    """A step of the lifecycle, with nothing more to say of it."""
    check_move(tenant, target)
    return move(tenant, target, Action.STATUS_CHANGED)


def onward(tenant: Tenant) -> list[Status]:
    """What a tenant can become next along the lifecycle."""
    allowed = MOVES[tenant.status]
    if tenant.status == Status.SUSPENDED:
        allowed |= {earlier(tenant)}
    return [one for one in Status if one in allowed]


def check_move(tenant: Tenant, target: Status) -> None:
    allowed = onward(tenant)
    if target not in allowed:
        told = ", ".join(allowed)
        raise MoveRefused(f"A tenant that is {tenant.status} can become {told}, not {target}.")


def earlier(tenant: Tenant) -> Status:
    """What a suspended tenant was; REGISTERED, where nobody has noted it."""
    return tenant.previous_status or Status.REGISTERED


def check_expected(tenant: Tenant, expected: Status | None) -> None:
    if expected is not None and tenant.status != checked_status(expected):
        raise StatusMoved(f"The tenant is {tenant.status} by now; look at it again.")


def move(tenant: Tenant, target: Status, action: Action, reason: str | None = None) -> Change:
    if not tenant.active:
        raise TenantDeleted
    before = tenant.status if target == Status.SUSPENDED else None
    return Change({"status": target, "previous_status": before}, action, reason)
