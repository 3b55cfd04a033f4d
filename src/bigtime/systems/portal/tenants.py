"""Tenants: the customers of the portal, by id, by e-mail address and by status."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.portal import errors, records, values
from bigtime.systems.portal.design import SYSTEM_ACTOR, EmailMarker, Tenant
from bigtime.systems.portal.values import Status

log = logging.getLogger("bigtime.portal")

CHANGEABLE: Final = frozenset({"organization_name", "destination_email", "active"})
REMINDED: Final = timedelta(days=1)
SINCE: Final = "since"

OF_STATUS: Final = [Tenant.within("TenantStatusIndex", status=status) for status in Status]
ALL_OF_STATUS: Final = [bt.count(tenants) for tenants in OF_STATUS]
ACTIVE_OF_STATUS: Final = [bt.count(tenants, filter=records.IS_ACTIVE) for tenants in OF_STATUS]
ACTIVE: Final = bt.count(Tenant.within("ActiveIndex", active=True))
DELETED: Final = bt.count(Tenant.within("ActiveIndex", active=False))


# Reading


@bt.pattern("Get Tenant by ID", index="Main table")
def get_tenant(tenant_id: values.TenantId, *, include_inactive: bool = False) -> bt.Steps[Tenant]:
    """strongly consistent"""
    tenant = yield from bt.get(Tenant.key(tenant_id), consistent=True, missing=errors.UnknownTenant)
    if not (tenant.active or include_inactive):
        raise errors.UnknownTenant
    return tenant


@bt.pattern("Get Tenant by Email", index="EmailIndex")
def get_tenant_by_email(email: values.Email, *, include_inactive: bool = False) -> bt.Steps[Tenant]:
    """eventually consistent; the address in any case"""
    page = yield from bt.query(
        Tenant.within("EmailIndex", email=values.checked_email(email)), limit=1
    )
    if not page or not (page.items[0].active or include_inactive):
        raise errors.UnknownTenant
    return page.items[0]


@bt.pattern("List All Tenants with Pagination", index="ActiveIndex")
def list_tenants(
    *,
    include_inactive: bool = False,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    limit: int = records.PAGE,
    after: bt.Position | None = None,
    newest_first: bool = True,
) -> bt.Steps[bt.Page[Tenant]]:
    """newest first, paged"""
    return (
        yield from records.activity_page(
            Tenant,
            "ActiveIndex",
            limit,
            after,
            newest_first=newest_first,
            include_inactive=include_inactive,
            **records.created_between(created_from, created_to),
        )
    )


@bt.pattern("List Tenants by Status", index="TenantStatusIndex")
def list_tenants_by_status(
    status: Status,
    *,
    include_inactive: bool = False,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    limit: int = records.PAGE,
    after: bt.Position | None = None,
    newest_first: bool = True,
) -> bt.Steps[bt.Page[Tenant]]:
    """newest first, paged; on demand those created in a range"""
    of_status = Tenant.within(
        "TenantStatusIndex",
        status=values.checked_status(status),
        **records.created_between(created_from, created_to),
    )
    return (
        yield from bt.query(
            of_status,
            limit=records.checked_size(limit),
            after=after,
            newest_first=newest_first,
            filter=None if include_inactive else records.IS_ACTIVE,
        )
    )


@bt.pattern("List Soft Deleted Tenants", index="ActiveIndex")
def list_deleted_tenants(
    *,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    limit: int = records.PAGE,
    after: bt.Position | None = None,
    newest_first: bool = True,
) -> bt.Steps[bt.Page[Tenant]]:
    """what can be restored; newest first, paged"""
    stretch = records.created_between(created_from, created_to)
    deleted = Tenant.within("ActiveIndex", active=False, **stretch)
    size = records.checked_size(limit)
    return (yield from bt.query(deleted, newest_first=newest_first, limit=size, after=after))


@bt.pattern("List Tenants to Remind", index="TenantStatusIndex")
def list_tenants_to_remind(
    *, limit: int = records.PAGE, after: bt.Position | None = None, since: datetime | None = None
) -> bt.Steps[bt.Page[Tenant]]:
    """UNVALIDATED ones of the last day, newest first, paged

    Time passes between pages, so a cursor keeps the moment that the first page began at.
    """
    place = dict(after.place) if after else {}
    if after is not None and SINCE in place:
        since, after = datetime.fromisoformat(place.pop(SINCE)), bt.Position(after.query, place)
    start = values.checked_moment(since or (yield from bt.now()) - REMINDED)
    page = yield from unvalidated_page(start, records.checked_size(limit), after)
    if page.position is None or not (yield from unvalidated_page(start, 1, page.position)):
        return bt.Page(page.items)
    kept = {**page.position.place, SINCE: start.isoformat()}
    return bt.Page(page.items, bt.Position(page.position.query, kept))


def unvalidated_page(
    start: datetime, limit: int, after: bt.Position | None
) -> bt.Op[bt.Page[Tenant]]:
    """Those that are active and were created at that moment or later, newest first."""
    fresh = unvalidated_since(start)
    return bt.query(fresh, newest_first=True, limit=limit, after=after, filter=records.IS_ACTIVE)


def unvalidated_since(start: datetime) -> bt.KeyRange[Tenant]:
    return Tenant.within(
        "TenantStatusIndex", status=Status.UNVALIDATED, date_created=bt.at_least(start)
    )


@bt.pattern("Count Tenants by Status", index="TenantStatusIndex")
def count_tenants_by_status(*, include_inactive: bool = False) -> bt.Steps[dict[Status, int]]:
    """only numbers are read"""
    counts = yield from bt.together(*(ALL_OF_STATUS if include_inactive else ACTIVE_OF_STATUS))
    return dict(zip(Status, counts, strict=True))


@bt.pattern("Count Tenants", index="ActiveIndex")
def count_tenants() -> bt.Steps[records.Counts]:
    """active and soft deleted ones; only numbers are read"""
    return records.Counts(*(yield from bt.together(ACTIVE, DELETED)))


@bt.pattern("Count Soft Deleted Tenants", index="ActiveIndex")
def count_deleted_tenants() -> bt.Steps[int]:
    """only a number is read"""
    return (yield from DELETED)


@bt.pattern("Count Tenants to Remind", index="TenantStatusIndex")
def count_tenants_to_remind() -> bt.Steps[int]:
    """UNVALIDATED ones of the last day; only a number is read"""
    start = values.checked_moment((yield from bt.now()) - REMINDED)
    return (yield from bt.count(unvalidated_since(start), filter=records.IS_ACTIVE))


# Writing


@bt.pattern("Create Tenant", index="Main table", takes="N/A")
def create_tenant(
    email: values.Email,
    organization_name: str | None = None,
    destination_email: values.Email | None = None,
    *,
    by: values.Actor,
) -> bt.Steps[Tenant]:
    """admin; an e-mail address that nobody has, kept by its marker in the same transaction"""
    return (
        yield from new_tenant(
            by,
            email=email,
            organization_name=organization_name,
            destination_email=destination_email,
        )
    )


def new_tenant(by: str, **fields: Any) -> bt.Steps[Tenant]:
    """Creates an UNVALIDATED tenant, its marker, and its first audit entry."""
    moment = yield from bt.now()
    tenant = Tenant(
        **fields,
        id=values.random_id("tenant", (yield from bt.random_bytes(16))),
        date_created=moment,
        date_last_updated=moment,
        last_updated_by=by,
    )
    return (yield from records.create_record(tenant))


@bt.pattern(
    "Update Tenant", index="Main table", sample={"changes": {"organization_name": "Example Corp"}}
)
def update_tenant(
    tenant_id: values.TenantId,
    changes: Mapping[str, Any],
    *,
    by: values.Actor,
    seen: str | None = None,
) -> bt.Steps[Tenant]:
    """its organization and where its forms go; never its e-mail address, which is its identity

    `seen` is the mark of the record that it is changed from: if it is another by now, nothing is
    changed.
    """
    return (yield from edit_tenant(tenant_id, changes, by, seen))


@bt.pattern("Soft Delete Tenant", index="Main table")
def soft_delete_tenant(tenant_id: values.TenantId, *, by: values.Actor) -> bt.Steps[Tenant]:
    """admin; it keeps its e-mail address"""
    return (yield from edit_tenant(tenant_id, {"active": False}, by))


@bt.pattern("Restore Tenant", index="Main table")
def restore_tenant(tenant_id: values.TenantId, *, by: values.Actor) -> bt.Steps[Tenant]:
    """admin; as it was"""
    return (yield from edit_tenant(tenant_id, {"active": True}, by))


def edit_tenant(
    tenant_id: str, changes: Mapping[str, object], by: str, seen: str | None = None
) -> bt.Steps[Tenant]:
    return records.edit(
        Tenant.key(tenant_id),
        changes,
        by=by,
        changeable=CHANGEABLE,
        missing=errors.UnknownTenant,
        deleted=errors.TenantDeleted,
        seen=seen,
    )


# Checkout: gets the tenant of an e-mail address, or creates it

TRIES: Final = 8


@bt.pattern("Get or Create Tenant at Checkout", index="Main table")
def tenant_at_checkout(email: values.Email) -> bt.Steps[Tenant]:
    """an UNVALIDATED one if the address is new; of two at once, one makes it and both get it"""
    address = values.checked_email(email)
    for _ in range(TRIES):
        tenant = yield from tenant_of(address)
        if tenant is not None:
            log_checkout("tenant-reused", orderly(tenant))
            return tenant
        try:
            tenant = yield from new_tenant(SYSTEM_ACTOR, email=address)
        except errors.EmailTaken:
            continue
        log_checkout("tenant-created", tenant)
        return tenant
    raise bt.Conflict


def log_checkout(event: str, tenant: Tenant) -> None:
    """A line of JSON, like those of reactions: nothing else records that a tenant is reused.

    Without the address: logs are kept elsewhere, and longer.
    """
    line = {"event": event, "tenant": tenant.id, "status": tenant.status}
    log.info("%s", json.dumps(line))


def tenant_of(address: str) -> bt.Steps[Tenant | None]:
    """The tenant of an address, by its marker: unlike the index it never lags."""
    marker = yield from bt.get(EmailMarker.key(address), consistent=True)
    if marker is None:
        return None
    return (yield from bt.get(Tenant.key(marker.tenant_id), consistent=True))


def orderly(tenant: Tenant) -> Tenant:
    """The tenant; raises an error if it may not order."""
    if not tenant.active:
        raise errors.TenantDeleted
    if tenant.status == Status.SUSPENDED:
        raise errors.TenantSuspended
    return tenant
