"""Anonymising a tenant: what law may want, though nothing here is ever deleted.

An extension, and not part of the system unless it is asked for: `portal(anonymise=True)`. It takes
from a deleted tenant what tells who it was: its e-mail address, which is free again then, its
organization, and the content of its earlier audit entries, which say the same. What happened,
when and by whom stays, and so do the orders, which know a tenant by its id alone. The chain holds:
the last entry says that what is missing was erased.

Backups, and the stream for a day, still have what was there before.
"""

from __future__ import annotations

from typing import Final

from bigtime import model as bt
from bigtime.systems.portal.design import Action, Audited, AuditEntry, Tenant
from bigtime.systems.portal.errors import AnonymiseForbidden, UnknownTenant
from bigtime.systems.portal.records import Change, RecordChange
from bigtime.systems.portal.values import Actor, Reason, TenantId, checked_reason

ERASED: Final = "@erased.invalid"


@bt.pattern("Anonymise Tenant", index="Main table")
def anonymise_tenant(tenant_id: TenantId, reason: Reason, *, by: Actor) -> bt.Steps[Tenant]:
    """admin; a deleted one, for good, with the reason in the audit log"""
    why = checked_reason(reason)

    def decide(tenant: Tenant) -> Change | None:
        if tenant.active:
            raise AnonymiseForbidden
        return None if is_anonymous(tenant) else anonymise_change(tenant, why)

    tenant = yield from RecordChange(Tenant.key(tenant_id), by, UnknownTenant).apply(decide)
    yield from erase_contents(tenant)
    return tenant


def is_anonymous(tenant: Tenant) -> bool:
    return tenant.email.endswith(ERASED)


def anonymise_change(tenant: Tenant, reason: str) -> Change:
    return Change(
        {"email": f"{tenant.id}{ERASED}", "organization_name": None, "destination_email": None},
        Action.ANONYMISED,
        reason,
        tells_before=False,
    )


def erase_contents(tenant: Tenant) -> bt.Steps[None]:
    """Erases the contents of the entries before the last anonymising; idempotent."""
    chain = AuditEntry.within("main", table=Audited.TENANTS, id=tenant.id)
    entries = yield from bt.all_of(chain, consistent=True)
    last = max(entry.sequence for entry in entries if entry.action == Action.ANONYMISED)
    entries_before = [
        entry for entry in entries if entry.sequence < last and entry.salt is not None
    ]
    yield from bt.together(*map(erase_entry, entries_before))


def erase_entry(entry: AuditEntry) -> bt.Steps[AuditEntry]:
    return (yield from bt.update(entry.own_key(), before=None, after=None, reason=None, salt=None))
