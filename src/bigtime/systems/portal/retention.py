"""What is archived of the portal: tenants that were deleted long ago, and what belongs to them.

A tenant goes with its marker, its orders, and the audit chains of all of these. Nothing is deleted
here; an archive is a copy.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bigtime import model as bt
from bigtime.systems.portal import erasure, values
from bigtime.systems.portal.design import Audited, AuditEntry, EmailMarker, Order, Tenant

PAGE: Final = 100


def list_archivable(before: datetime, after: bt.Position | None) -> bt.Steps[bt.Page[Tenant]]:
    """Deleted tenants that nobody has changed since a moment; oldest first, paged."""
    moment = values.checked_moment(before)
    deleted = Tenant.within("ActiveIndex", active=False, date_created=bt.at_most(moment))
    unchanged = bt.attr("date_last_updated") < moment
    return (yield from bt.query(deleted, limit=PAGE, after=after, filter=unchanged))


def collect_tenant(tenant_id: str, before: datetime) -> bt.Steps[list[bt.Entity]]:
    """A tenant and all that belongs to it, the tenant first; nothing if it has changed by now."""
    tenant = yield from bt.get(Tenant.key(tenant_id), consistent=True)
    if tenant is None or tenant.active or tenant.date_last_updated >= before:
        return []
    marker = yield from bt.get(EmailMarker.key(tenant.email), consistent=True)
    orders = yield from bt.all_of(Order.within("main", tenant_id=tenant.id), consistent=True)
    owned = [(Audited.TENANTS, tenant.id), *((Audited.ORDERS, order.id) for order in orders)]
    chains: list[AuditEntry] = []
    for table, id in owned:
        chain = AuditEntry.within("main", table=table, id=id)
        chains += yield from bt.all_of(chain, consistent=True)
    return [tenant, *([marker] if marker else []), *orders, *chains]


def anonymise(tenant_id: str, archived: datetime, reason: str, by: str) -> bt.Steps[bool]:
    """Anonymises a tenant that is as it was archived; False if it was changed since."""
    tenant = yield from bt.get(Tenant.key(tenant_id), consistent=True)
    if tenant is None or tenant.active:
        return False
    if tenant.date_last_updated != archived and not erasure.is_anonymous(tenant):
        return False
    yield from erasure.anonymise_tenant(tenant_id, reason, by=by)
    return True


def last_change(record: bt.Entity) -> datetime:
    assert isinstance(record, Tenant)
    return record.date_last_updated


RETENTION: Final = bt.Retention(list_archivable, collect_tenant, last_change, anonymise)
