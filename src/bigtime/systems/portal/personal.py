"""Personal data of a tenant: anonymising it, archiving it, and finding it for its person.

The law may require data to be erased, though no record is ever deleted here. Anonymising a tenant
is an extension, which is part of the system only with `portal(anonymise=True)`. It removes from a
deleted tenant what identifies it: its e-mail address, which is then free again, its organization,
and the content of its earlier audit entries, which contain both. What happened, when and by whom
stays, and so do the orders, which have only the tenant's id. The chain stays intact: the last entry
says that the missing content was erased.

Backups, and the stream for a day, still have the erased data.

Tenants that were deleted long ago are archived, each with its marker, its orders, and the audit
chains of all of these. An archive is a copy: nothing is deleted.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.portal import design, succession, tenants, values
from bigtime.systems.portal.chain import entries_of
from bigtime.systems.portal.design import Action, Audited, AuditEntry, EmailMarker, Order, Tenant
from bigtime.systems.portal.errors import AnonymiseForbidden, UnknownTenant
from bigtime.systems.portal.records import Change, RecordChange
from bigtime.systems.portal.values import Actor, Reason, TenantId, checked_reason

# Anonymising

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
    """Erases the contents of the entries before the last ANONYMISED one; idempotent."""
    entries = yield from entries_of(Audited.TENANTS, tenant.id)
    last = max(entry.sequence for entry in entries if entry.action == Action.ANONYMISED)
    entries_before = [
        entry for entry in entries if entry.sequence < last and entry.salt is not None
    ]
    yield from bt.together(*map(erase_entry, entries_before))


def erase_entry(entry: AuditEntry) -> bt.Steps[AuditEntry]:
    return (yield from bt.update(entry.own_key(), before=None, after=None, reason=None, salt=None))


# Archiving

ARCHIVED_AT_ONCE: Final = 100


def list_archivable(before: datetime, after: bt.Position | None) -> bt.Steps[bt.Page[Tenant]]:
    """Deleted tenants that nobody has changed since a moment; oldest first, paged."""
    moment = values.checked_moment(before)
    deleted = Tenant.within("ActiveIndex", active=False, date_created=bt.at_most(moment))
    unchanged = bt.attr("date_last_updated") < moment
    return (yield from bt.query(deleted, limit=ARCHIVED_AT_ONCE, after=after, filter=unchanged))


def collect_tenant(tenant_id: str, before: datetime) -> bt.Steps[list[bt.Entity]]:
    """A tenant and everything that belongs to it, the tenant first; nothing if it has changed."""
    tenant = yield from bt.get(Tenant.key(tenant_id), consistent=True)
    if tenant is None or tenant.active or tenant.date_last_updated >= before:
        return []
    marker = yield from bt.get(EmailMarker.key(tenant.email), consistent=True)
    orders = yield from bt.all_of(Order.within("main", tenant_id=tenant.id), consistent=True)
    owned = [(Audited.TENANTS, tenant.id), *((Audited.ORDERS, order.id) for order in orders)]
    chains: list[AuditEntry] = []
    for table, id in owned:
        chains += yield from entries_of(table, id)
    return [tenant, *([marker] if marker else []), *orders, *chains]


def anonymise_archived(tenant_id: str, archived: datetime, reason: str, by: str) -> bt.Steps[bool]:
    """Anonymises a tenant if it is as it was archived; False if it was changed since."""
    tenant = yield from bt.get(Tenant.key(tenant_id), consistent=True)
    if tenant is None or tenant.active:
        return False
    if tenant.date_last_updated != archived and not is_anonymous(tenant):
        return False
    yield from anonymise_tenant(tenant_id, reason, by=by)
    return True


def last_change(record: bt.Entity) -> datetime:
    assert isinstance(record, Tenant)
    return record.date_last_updated


RETENTION: Final = bt.Retention(list_archivable, collect_tenant, last_change, anonymise_archived)


# A person's data: the tenant, its orders, and the audit entries of both

REASON: Final = "The account was deleted by its owner."
KEPT: Final = (
    "Your hosting orders and their history, for our books: with your customer number, but without"
    " your e-mail address and organization."
)
AUDIT_KEPT: Final = (
    "The audit log tells who changed a record of a customer, and is kept as evidence."
)


def anonymise(tenant: Tenant, pseudonym: str) -> bt.Steps[None]:
    """Soft-deletes a tenant, and removes from it and its history what identifies it.

    Its predecessors come first, from the earliest on: the history that names one is erased with the
    next.
    """
    for each in (*reversed((yield from tenants_before(tenant.id))), tenant):
        if each.active:
            yield from tenants.soft_delete_tenant(each.id, by=each.id)
        yield from anonymise_tenant(each.id, REASON, by=each.id)


def tenants_before(tenant_id: str) -> bt.Steps[list[Tenant]]:
    """The tenants it took over from, when the account had other e-mail addresses."""
    found: dict[str, Tenant] = {}
    left = [tenant_id]
    while left:
        for former in (yield from succession.former_tenants(left.pop())):
            if former.id not in (tenant_id, *found):
                found[former.id] = former
                left.append(former.id)
    return [*found.values()]


def find_tenant(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[Tenant]]:
    return (yield from page_at([Tenant.key(person.tenant_id)] if person.tenant_id else []))


def find_former(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[Tenant]]:
    if person.tenant_id is None:
        return bt.Page([])
    return bt.Page((yield from tenants_before(person.tenant_id)))


def all_tenants(person: bt.Person) -> bt.Steps[list[Tenant]]:
    present = yield from find_tenant(person, None)
    return [*present, *(yield from find_former(person, None))]


def find_marker(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[EmailMarker]]:
    """The markers of the tenants' addresses."""
    found = yield from all_tenants(person)
    return (yield from page_at([EmailMarker.key(tenant.email) for tenant in found]))


def find_codes(
    person: bt.Person, after: bt.Position | None
) -> bt.Steps[bt.Page[design.OneTimeCode]]:
    """The codes that were mailed to the tenant."""
    ids = [] if person.tenant_id is None else [person.tenant_id]
    keys = [design.OneTimeCode.key(purpose, id) for id in ids for purpose in design.Purpose]
    return (yield from page_at(keys))


def find_orders(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[Order]]:
    owned = [Order.within("main", tenant_id=each.id) for each in (yield from all_tenants(person))]
    found = yield from bt.together(*(bt.all_of(orders, consistent=True) for orders in owned))
    return bt.Page([order for orders in found for order in orders])


def find_entries(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[AuditEntry]]:
    """The audit entries of the tenants, and then those of their orders."""
    owned = [(Audited.TENANTS, tenant.id) for tenant in (yield from all_tenants(person))]
    owned += [(Audited.ORDERS, order.id) for order in (yield from find_orders(person, None))]
    found = yield from bt.together(*(entries_of(table, id) for table, id in owned))
    return bt.Page([entry for entries in found for entry in entries])


def page_at(keys: list[bt.Key[Any]]) -> bt.Steps[bt.Page[Any]]:
    found = yield from bt.get_many(keys, consistent=True)
    return bt.Page([item for item in found if item is not None])


PERSONAL: Final = (
    bt.personal(design.OneTimeCode, "id", of="tenant_id", find=find_codes),
    bt.personal(EmailMarker, "tenant_id", of="tenant_id", find=find_marker, goes_with=Tenant),
    bt.personal(AuditEntry, "id", of="tenant_id", find=find_entries, stays=True, kept=KEPT),
    bt.personal(Tenant, "id", of="tenant_id", find=find_tenant, erase=anonymise, kept=KEPT),
    bt.personal(Tenant, "id", of="tenant_id", find=find_former, goes_with=Tenant),
    bt.personal(Order, "tenant_id", of="tenant_id", find=find_orders, stays=True, kept=KEPT),
    *bt.personal_ids(AuditEntry, "actor", kept=AUDIT_KEPT),
    *bt.personal_ids(Tenant, "last_updated_by", kept=AUDIT_KEPT),
    *bt.personal_ids(design.Product, "last_updated_by", kept=AUDIT_KEPT),
    *bt.personal_ids(design.Campaign, "last_updated_by", kept=AUDIT_KEPT),
    *bt.personal_ids(Order, "last_updated_by", kept=AUDIT_KEPT),
)
