"""Checkout: whoever gives an e-mail address is its tenant, the one there is or a new one."""

from __future__ import annotations

from typing import Final

from bigtime.model import Conflict, get, pattern
from bigtime.systems.portal.design import SYSTEM_ACTOR, EmailMarker, Tenant
from bigtime.systems.portal.errors import EmailTaken, TenantDeleted, TenantSuspended
from bigtime.systems.portal.tenants import new_tenant
from bigtime.systems.portal.values import Email, Status, checked_email
from bigtime.wire import Steps

TRIES: Final = 8


@pattern("Get or Create Tenant at Checkout", index="Main table")
def tenant_at_checkout(email: Email) -> Steps[Tenant]:
    """an UNVALIDATED one if the address is new; of two at once, one makes it and both get it"""
    address = checked_email(email)
    for _ in range(TRIES):
        tenant = yield from tenant_of(address)
        if tenant is not None:
            return orderly(tenant)
        try:
            return (yield from new_tenant(SYSTEM_ACTOR, email=address))
        except EmailTaken:
            continue
    raise Conflict


def tenant_of(address: str) -> Steps[Tenant | None]:
    """Whose an address is, by its marker: unlike the index, it never lags."""
    marker = yield from get(EmailMarker.key(address), consistent=True)
    if marker is None:
        return None
    return (yield from get(Tenant.key(marker.tenant_id), consistent=True))


def orderly(tenant: Tenant) -> Tenant:
    """The tenant, if it may order."""
    if not tenant.active:
        raise TenantDeleted
    if tenant.status == Status.SUSPENDED:
        raise TenantSuspended
    return tenant
