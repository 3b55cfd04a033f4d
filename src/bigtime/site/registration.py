"""Registration: a tenant whose mailbox is verified opens an account, or connects one.

The account and the tenant's new status are one transaction over the tables of both.

Anybody can sign up with any address, and no mail is sent to confirm it. So where there is an
account with the tenant's address, its password connects it; and without the password, a verified
mailbox is enough to set a new one. That ends every session that began with the old password, and a
mail says so. An account with more roles than a shopper's cannot be had in that way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bigtime.model import Write, create, now, pattern, random_bytes, transact
from bigtime.site.letters import password_letter
from bigtime.site.mail import draft_mail
from bigtime.site.members import member_writes
from bigtime.systems import accounts, deals, portal
from bigtime.wire import Steps


@dataclass(frozen=True, slots=True)
class Details:
    """What a tenant may say about itself."""

    organization_name: str | None = None
    destination_email: str | None = None

    def given_fields(self) -> Mapping[str, str]:
        fields = {
            "organization_name": self.organization_name,
            "destination_email": self.destination_email,
        }
        return {name: value for name, value in fields.items() if value is not None}


SAMPLE: Final = {"details": Details("Acme"), "password": "a long enough password"}


@pattern("Open Account of Tenant", index="Main table", sample={**SAMPLE, "name": "Alex"})
def open_account(
    tenant_id: portal.TenantId,
    username: deals.Username,
    password: str,
    details: Details,
    *,
    name: str,
) -> Steps[accounts.Identity]:
    """One transaction: a new member with the tenant's address, and the tenant's status."""
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    identity, writes = yield from member_writes(
        tenant.email, password, username, name=name, tenant_id=tenant.id
    )
    yield from register(tenant, details, writes)
    return identity


@pattern("Connect Account to Tenant", index="Main table", sample={"details": SAMPLE["details"]})
def connect_account(
    tenant_id: portal.TenantId, login: accounts.Login, details: Details
) -> Steps[None]:
    """One transaction: the account's tenant, and the tenant's status."""
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    yield from register(tenant, details, (accounts.link_write(login, tenant.id),))


@pattern("Regain Account by Mailbox", index="Main table", sample=SAMPLE)
def regain_account(
    tenant_id: portal.TenantId, password: str, details: Details
) -> Steps[accounts.Identity]:
    """One transaction: a new password, the account's tenant, its status, and a mail about it."""
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    identity, write = yield from accounts.prepare_password_reset(tenant.email, password, tenant.id)
    mail_id = f"password {identity.login} {identity.password_version}"
    mail = yield from draft_mail(mail_id, tenant.email, *password_letter(tenant))
    yield from register(tenant, details, (write, create(mail)))
    return identity


def register(
    tenant: portal.Tenant, details: Details, writes: tuple[Write[Any], ...]
) -> Steps[None]:
    """Does the writes together with the tenant's move to registered, unless it is registered."""
    if portal.orderly(tenant).status != portal.Status.REGISTERED:
        yield from portal.register_tenant(
            tenant.id, details.organization_name, details.destination_email, along=writes
        )
        return
    moment = yield from now()
    yield from transact(*writes, token=(yield from random_bytes(16)).hex(), at=moment)
    if details.given_fields():
        yield from portal.update_tenant(tenant.id, details.given_fields(), by=tenant.id)


def form_values(tenant: portal.Tenant) -> dict[str, str]:
    """A tenant's details as the values of a form."""
    return {
        "organization_name": tenant.organization_name or "",
        "destination_email": tenant.destination_email or "",
    }
