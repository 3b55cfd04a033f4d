"""Registration: a tenant proves its e-mail address, and then opens an account.

The orders that it made before are its own already: they lie under the tenant that checkout made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bigtime.model import Write, now, pattern
from bigtime.systems.portal.checkout import orderly
from bigtime.systems.portal.codes import try_code, use_write
from bigtime.systems.portal.design import Purpose, Tenant
from bigtime.systems.portal.errors import UnknownTenant
from bigtime.systems.portal.history import Change, Changing
from bigtime.systems.portal.statuses import system_move
from bigtime.systems.portal.values import Email, Status, TenantId
from bigtime.wire import Steps


@pattern("Validate Tenant with One-time Code", index="Main table", sample={"code": "123456"})
def validate_tenant(tenant_id: TenantId, code: str, *, pepper: bytes = b"") -> Steps[Tenant]:
    """UNVALIDATED to VALIDATED; the code is used up in the same transaction"""
    sent = yield from try_code(Purpose.VALIDATE, tenant_id, code, pepper)
    used = use_write(sent, (yield from now()))

    def decide(tenant: Tenant) -> Steps[Change | None]:
        return replace(status_change(tenant, Status.VALIDATED), checks=(used,))
        yield

    return (yield from Changing(Tenant.key(tenant_id), tenant_id, UnknownTenant).run(decide))


@pattern("Register Tenant", index="Main table", takes="TenantId")
def register_tenant(
    tenant_id: TenantId,
    organization_name: str | None = None,
    destination_email: Email | None = None,
    *,
    along: tuple[Write[Any], ...] = (),
) -> Steps[Tenant]:
    """VALIDATED to REGISTERED; the orders made before are its own already

    `along` are writes of other tables that belong to it, such as the account: done with it, or
    nothing is.
    """
    fields = {"organization_name": organization_name, "destination_email": destination_email}
    given = {name: value for name, value in fields.items() if value is not None}

    def decide(tenant: Tenant) -> Steps[Change | None]:
        change = status_change(tenant, Status.REGISTERED)
        return replace(change, fields={**change.fields, **given}, checks=along)
        yield

    return (yield from Changing(Tenant.key(tenant_id), tenant_id, UnknownTenant).run(decide))


def status_change(tenant: Tenant, target: Status) -> Change:
    """A move that a tenant makes itself; out of suspension only an admin helps."""
    return system_move(orderly(tenant), target)
