"""Registration: a customer who has shown whose mailbox it is opens an account, or connects theirs.

The account and the tenant's new status are one transaction, over the tables of both: nobody ends
up with one and not the other.

Anybody can sign up with any address, and nobody asks whose it is. So where there is an account of
the tenant's address, who knows its password connects it; and who does not, but has shown that the
mailbox is theirs, sets a new password. That ends every session of whoever knew the old one, and a
letter says so. An account that may do more than shop is not to be had in that way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bigtime.model import Write, create, now, random_bytes, transact
from bigtime.site.letters import password_letter
from bigtime.site.mail import letter
from bigtime.site.members import joining
from bigtime.site.visitor import Visitor
from bigtime.systems import accounts, portal
from bigtime.wire import Steps


@dataclass(frozen=True, slots=True)
class Details:
    """What a customer tells of itself, if it does."""

    organization_name: str | None = None
    destination_email: str | None = None

    def said(self) -> Mapping[str, str]:
        told = {
            "organization_name": self.organization_name,
            "destination_email": self.destination_email,
        }
        return {name: value for name, value in told.items() if value is not None}


def open_account(
    tenant_id: str, username: str, password: str, details: Details, *, name: str
) -> Steps[accounts.Identity]:
    """A new account for a tenant: its login is the tenant's address."""
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    identity, writes = yield from joining(
        tenant.email, password, username, name=name, tenant_id=tenant.id
    )
    yield from registering(tenant, details, writes)
    return identity


def connect_account(tenant_id: str, visitor: Visitor, details: Details) -> Steps[None]:
    """An account that is there becomes the tenant's."""
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    yield from registering(tenant, details, (accounts.linking(visitor.login, tenant.id),))


def regain_account(tenant_id: str, password: str, details: Details) -> Steps[accounts.Identity]:
    """An account with the tenant's address becomes theirs who have shown that it is."""
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    identity, write = yield from accounts.regaining(tenant.email, password, tenant.id)
    told = password_letter(tenant)
    mail_id = f"password {identity.login} {identity.password_version}"
    mail = yield from letter(mail_id, tenant.email, told.subject, told.text)
    yield from registering(tenant, details, (write, create(mail)))
    return identity


def registering(
    tenant: portal.Tenant, details: Details, writes: tuple[Write[Any], ...]
) -> Steps[None]:
    """Does the writes with the tenant's move; an admin may have moved it before."""
    if portal.orderly(tenant).status != portal.Status.REGISTERED:
        yield from portal.register_tenant(
            tenant.id, details.organization_name, details.destination_email, along=writes
        )
        return
    moment = yield from now()
    yield from transact(*writes, token=(yield from random_bytes(16)).hex(), at=moment)
    if details.said():
        yield from portal.update_tenant(tenant.id, details.said(), by=tenant.id)


def as_typed(tenant: portal.Tenant) -> dict[str, str]:
    """What a tenant tells of itself, as its forms have it."""
    return {
        "organization_name": tenant.organization_name or "",
        "destination_email": tenant.destination_email or "",
    }
