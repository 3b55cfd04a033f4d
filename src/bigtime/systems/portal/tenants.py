"""Tenants: the customers of the portal, found by id, by e-mail address, by status."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from bigtime.model import (
    Op,
    Page,
    Position,
    at_least,
    count,
    get,
    now,
    pattern,
    query,
    random_bytes,
    together,
)
from bigtime.systems.portal.design import Tenant
from bigtime.systems.portal.errors import TenantDeleted, UnknownTenant
from bigtime.systems.portal.history import create_record, edit
from bigtime.systems.portal.paging import (
    IS_ACTIVE,
    PAGE,
    Counts,
    activity_page,
    checked_size,
    created_between,
)
from bigtime.systems.portal.values import (
    Actor,
    Email,
    Status,
    TenantId,
    checked_email,
    checked_moment,
    checked_status,
    made_id,
)
from bigtime.wire import Steps

CHANGEABLE: Final = frozenset({"organization_name", "destination_email", "active"})
REMINDED: Final = timedelta(days=1)

OF_STATUS: Final = [Tenant.within("TenantStatusIndex", status=one) for one in Status]
ALL_OF_STATUS: Final = [count(one) for one in OF_STATUS]
ACTIVE_OF_STATUS: Final = [count(one, filter=IS_ACTIVE) for one in OF_STATUS]
ACTIVE: Final = count(Tenant.within("ActiveIndex", active=True))
DELETED: Final = count(Tenant.within("ActiveIndex", active=False))


# Reading


@pattern("Get Tenant by ID", index="Main table")
def get_tenant(tenant_id: TenantId, *, include_inactive: bool = False) -> Steps[Tenant]:
    """strongly consistent"""
    tenant = yield from get(Tenant.key(tenant_id), consistent=True, missing=UnknownTenant)
    if not (tenant.active or include_inactive):
        raise UnknownTenant
    return tenant


@pattern("Get Tenant by Email", index="EmailIndex")
def get_tenant_by_email(email: Email, *, include_inactive: bool = False) -> Steps[Tenant]:
    """eventually consistent; the address in any case"""
    page = yield from query(Tenant.within("EmailIndex", email=checked_email(email)), limit=1)
    if not page or not (page.items[0].active or include_inactive):
        raise UnknownTenant
    return page.items[0]


@pattern("List All Tenants with Pagination", index="ActiveIndex")
def list_tenants(
    *,
    include_inactive: bool = False,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    limit: int = PAGE,
    after: Position | None = None,
    newest_first: bool = True,
) -> Steps[Page[Tenant]]:
    """newest first, paged"""
    return (
        yield from activity_page(
            Tenant,
            "ActiveIndex",
            include_inactive=include_inactive,
            limit=limit,
            after=after,
            newest_first=newest_first,
            **created_between(created_from, created_to),
        )
    )


@pattern("List Tenants by Status", index="TenantStatusIndex")
def list_tenants_by_status(
    status: Status,
    *,
    include_inactive: bool = False,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    limit: int = PAGE,
    after: Position | None = None,
    newest_first: bool = True,
) -> Steps[Page[Tenant]]:
    """newest first, paged; on demand those created in a range"""
    of_status = Tenant.within(
        "TenantStatusIndex",
        status=checked_status(status),
        **created_between(created_from, created_to),
    )
    return (
        yield from query(
            of_status,
            limit=checked_size(limit),
            after=after,
            newest_first=newest_first,
            filter=None if include_inactive else IS_ACTIVE,
        )
    )


@pattern("List Soft Deleted Tenants", index="ActiveIndex")
def list_deleted_tenants(
    *,
    created_from: datetime | None = None,
    created_to: datetime | None = None,
    limit: int = PAGE,
    after: Position | None = None,
) -> Steps[Page[Tenant]]:
    """what can be restored; newest first, paged"""
    stretch = created_between(created_from, created_to)
    deleted = Tenant.within("ActiveIndex", active=False, **stretch)
    return (yield from query(deleted, newest_first=True, limit=checked_size(limit), after=after))


@pattern("List Tenants to Remind", index="TenantStatusIndex")
def list_tenants_to_remind(
    *, limit: int = PAGE, after: Position | None = None, since: datetime | None = None
) -> Steps[Page[Tenant]]:
    """UNVALIDATED ones of the last day, newest first, paged

    The day moves on while somebody reads; so a page is cut where it begins, and a cursor holds.
    """
    start = checked_moment(since or (yield from now()) - REMINDED)
    page = yield from unvalidated_page(checked_size(limit), after)
    fresh = [one for one in page if one.date_created >= start]
    if page.position is None or len(fresh) < len(page):
        return Page(fresh)
    following = yield from unvalidated_page(1, page.position)
    is_last = any(one.date_created < start for one in following)
    return Page(fresh, None if is_last else page.position)


def unvalidated_page(limit: int, after: Position | None) -> Op[Page[Tenant]]:
    """Those that are active, newest first."""
    return query(
        Tenant.within("TenantStatusIndex", status=Status.UNVALIDATED),
        newest_first=True,
        limit=limit,
        after=after,
        filter=IS_ACTIVE,
    )


@pattern("Count Tenants by Status", index="TenantStatusIndex")
def count_tenants_by_status(*, include_inactive: bool = False) -> Steps[dict[Status, int]]:
    """only numbers are read"""
    counts = yield from together(*(ALL_OF_STATUS if include_inactive else ACTIVE_OF_STATUS))
    return dict(zip(Status, counts, strict=True))


@pattern("Count Tenants", index="ActiveIndex")
def count_tenants() -> Steps[Counts]:
    """active and soft deleted ones; only numbers are read"""
    return Counts(*(yield from together(ACTIVE, DELETED)))


@pattern("Count Soft Deleted Tenants", index="ActiveIndex")
def count_deleted_tenants() -> Steps[int]:
    """only a number is read"""
    return (yield from DELETED)


@pattern("Count Tenants to Remind", index="TenantStatusIndex")
def count_tenants_to_remind() -> Steps[int]:
    """UNVALIDATED ones of the last day; only a number is read"""
    start = checked_moment((yield from now()) - REMINDED)
    fresh = Tenant.within(
        "TenantStatusIndex", status=Status.UNVALIDATED, date_created=at_least(start)
    )
    return (yield from count(fresh, filter=IS_ACTIVE))


# Writing


@pattern("Create Tenant", index="Main table", takes="N/A")
def create_tenant(
    email: Email,
    organization_name: str | None = None,
    destination_email: Email | None = None,
    *,
    by: Actor,
) -> Steps[Tenant]:
    """admin; an e-mail address that nobody has, kept by its marker in the same transaction"""
    return (
        yield from new_tenant(
            by,
            email=email,
            organization_name=organization_name,
            destination_email=destination_email,
        )
    )


def new_tenant(by: str, **fields: Any) -> Steps[Tenant]:
    """Makes an UNVALIDATED tenant, its marker, and its first audit entry."""
    moment = yield from now()
    tenant = Tenant(
        **fields,
        id=made_id("tenant", (yield from random_bytes(16))),
        date_created=moment,
        date_last_updated=moment,
        last_updated_by=by,
    )
    return (yield from create_record(tenant))


@pattern(
    "Update Tenant", index="Main table", sample={"changes": {"organization_name": "Example Corp"}}
)
def update_tenant(
    tenant_id: TenantId, changes: Mapping[str, Any], *, by: Actor, seen: str | None = None
) -> Steps[Tenant]:
    """its organization and where its forms go; never its e-mail address, which is its identity

    `seen` is the mark of the record that it is changed from: if it is another by now, nothing is
    changed.
    """
    return (yield from edit_tenant(tenant_id, changes, by, seen))


@pattern("Soft Delete Tenant", index="Main table")
def soft_delete_tenant(tenant_id: TenantId, *, by: Actor) -> Steps[Tenant]:
    """admin; it keeps its e-mail address"""
    return (yield from edit_tenant(tenant_id, {"active": False}, by))


@pattern("Restore Tenant", index="Main table")
def restore_tenant(tenant_id: TenantId, *, by: Actor) -> Steps[Tenant]:
    """admin; as it was"""
    return (yield from edit_tenant(tenant_id, {"active": True}, by))


def edit_tenant(
    tenant_id: str, changes: Mapping[str, Any], by: str, seen: str | None = None
) -> Steps[Tenant]:
    return edit(
        Tenant.key(tenant_id),
        changes,
        by=by,
        changeable=CHANGEABLE,
        missing=UnknownTenant,
        deleted=TenantDeleted,
        seen=seen,
    )
