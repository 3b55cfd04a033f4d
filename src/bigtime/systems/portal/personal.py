"""What belongs to a tenant: its record, its orders, and the audit entries of both."""

from __future__ import annotations

from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.portal import design, erasure, succession, tenants
from bigtime.systems.portal.design import Audited, AuditEntry

REASON: Final = "The account was deleted by its owner."
KEPT: Final = (
    "Your hosting orders and their history, for our books: with your customer number, but without"
    " your e-mail address and organization."
)
AUDIT_KEPT: Final = (
    "The audit log tells who changed a record of a customer, and is kept as evidence."
)


def anonymise(tenant: design.Tenant, pseudonym: str) -> bt.Steps[None]:
    """Deletes a tenant softly, and takes from it and its history what tells who it was.

    First those before it, the earliest first: the history that names one goes with the next.
    """
    for each in (*reversed((yield from tenants_before(tenant.id))), tenant):
        if each.active:
            yield from tenants.soft_delete_tenant(each.id, by=each.id)
        yield from erasure.anonymise_tenant(each.id, REASON, by=each.id)


def tenants_before(tenant_id: str) -> bt.Steps[list[design.Tenant]]:
    """Those that a tenant took over from, when the account had other e-mail addresses."""
    found: dict[str, design.Tenant] = {}
    left = [tenant_id]
    while left:
        for former in (yield from succession.former_tenants(left.pop())):
            if former.id not in (tenant_id, *found):
                found[former.id] = former
                left.append(former.id)
    return [*found.values()]


def find_tenant(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[design.Tenant]]:
    return (yield from page_at(tenant_keys(person)))


def find_former(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[design.Tenant]]:
    if person.tenant_id is None:
        return bt.Page([])
    return bt.Page((yield from tenants_before(person.tenant_id)))


def all_tenants(person: bt.Person) -> bt.Steps[list[design.Tenant]]:
    present = yield from find_tenant(person, None)
    return [*present, *(yield from find_former(person, None))]


def find_marker(
    person: bt.Person, after: bt.Position | None
) -> bt.Steps[bt.Page[design.EmailMarker]]:
    """The markers of the tenants' addresses."""
    found = yield from all_tenants(person)
    return (yield from page_at([design.EmailMarker.key(tenant.email) for tenant in found]))


def find_codes(
    person: bt.Person, after: bt.Position | None
) -> bt.Steps[bt.Page[design.OneTimeCode]]:
    """The codes that were mailed to the tenant."""
    ids = [] if person.tenant_id is None else [person.tenant_id]
    keys = [design.OneTimeCode.key(purpose, id) for id in ids for purpose in design.Purpose]
    return (yield from page_at(keys))


def find_orders(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[design.Order]]:
    owned = [
        design.Order.within("main", tenant_id=each.id) for each in (yield from all_tenants(person))
    ]
    found = yield from bt.together(*(bt.all_of(orders, consistent=True) for orders in owned))
    return bt.Page([order for orders in found for order in orders])


def find_entries(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[AuditEntry]]:
    """The history of the tenants, and then that of their orders."""
    owned = [(Audited.TENANTS, tenant.id) for tenant in (yield from all_tenants(person))]
    owned += [(Audited.ORDERS, order.id) for order in (yield from find_orders(person, None))]
    chains = [AuditEntry.within("main", table=table, id=id) for table, id in owned]
    found = yield from bt.together(*(bt.all_of(chain, consistent=True) for chain in chains))
    return bt.Page([entry for entries in found for entry in entries])


def tenant_keys(person: bt.Person) -> list[bt.Key[design.Tenant]]:
    return [] if person.tenant_id is None else [design.Tenant.key(person.tenant_id)]


def page_at(keys: list[bt.Key[Any]]) -> bt.Steps[bt.Page[Any]]:
    found = yield from bt.get_many(keys, consistent=True)
    return bt.Page([item for item in found if item is not None])


PERSONAL: Final = (
    bt.personal(design.OneTimeCode, "id", of="tenant_id", find=find_codes),
    bt.personal(
        design.EmailMarker,
        "tenant_id",
        of="tenant_id",
        find=find_marker,
        goes_with=design.Tenant,
    ),
    bt.personal(
        AuditEntry,
        "id",
        of="tenant_id",
        find=find_entries,
        stays=True,
        kept=KEPT,
    ),
    bt.personal(
        design.Tenant,
        "id",
        of="tenant_id",
        find=find_tenant,
        erase=anonymise,
        kept=KEPT,
    ),
    bt.personal(design.Tenant, "id", of="tenant_id", find=find_former, goes_with=design.Tenant),
    bt.personal(
        design.Order,
        "tenant_id",
        of="tenant_id",
        find=find_orders,
        stays=True,
        kept=KEPT,
    ),
    *bt.personal_ids(AuditEntry, "actor", kept=AUDIT_KEPT),
    *bt.personal_ids(design.Tenant, "last_updated_by", kept=AUDIT_KEPT),
    *bt.personal_ids(design.Product, "last_updated_by", kept=AUDIT_KEPT),
    *bt.personal_ids(design.Campaign, "last_updated_by", kept=AUDIT_KEPT),
    *bt.personal_ids(design.Order, "last_updated_by", kept=AUDIT_KEPT),
)
