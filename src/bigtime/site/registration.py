"""Registration: new members, and tenants that open an account or connect one.

An account is a login; a user of `deals` likes, watches and gets messages, and its table keeps
usernames unique; a customer of `shop` has orders and addresses. The three are created in one
transaction: if the login or the name is taken, or anything fails, nothing is created, and no name
is left without an owner. A customer may exist without an account, from an import or from demo data:
nobody else can sign up under that name or address and see that customer's orders.

A tenant whose mailbox is verified opens an account, or connects an existing one: one transaction
writes the account and the tenant's new status.

A shopper who signs up is sent a code, and becomes a member by entering it. Until then there is no
account and no name is taken, and a sign-up with an address that has an account looks the same.

A verified mailbox is enough to set a new password for the account with its address. That ends every
session that began with the old password, and a mail says so. An account with more roles than a
shopper's cannot be regained in that way.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import Any, Final

from bigtime import model as bt
from bigtime.site import mailbox_check
from bigtime.site.design import Mail, PendingCheck, transact_once
from bigtime.site.letters import password_letter
from bigtime.site.mail import draft_mail
from bigtime.site.mailbox_check import SAMPLE_CODES, Codes, UnknownCheck
from bigtime.systems import accounts, deals, portal, shop
from bigtime.wire import Steps


@bt.pattern(
    "Join",
    index="Main table",
    sample={"login": "alex@example.com", "password": "a long enough password"},
)
def join(
    login: accounts.Login,
    password: str,
    username: deals.Username,
    *,
    name: str | None = None,
    roles: AbstractSet[accounts.Role] = frozenset({accounts.Role.SHOPPER}),
    tenant_id: str | None = None,
) -> Steps[accounts.Identity]:
    """One transaction: an account, its user and its customer.

    The login is an e-mail address that is known to be theirs; `name` is the name to show.
    """
    moment = yield from bt.now()
    account = yield from accounts.new_account(
        login, password, username, roles=roles, tenant_id=tenant_id, confirmed_at=moment
    )
    yield from transact_once(*member_writes(account, name), at=moment)
    return account.identity


def member_writes(account: accounts.Account, name: str | None) -> tuple[bt.Write[Any], ...]:
    """The writes that create a member, for a transaction."""
    user = deals.new_user(account.username, name=name, email=account.login)
    customer = shop.Customer(username=account.username, email=account.login, name=user.name)
    return (
        bt.create(account, unless_exists=accounts.LoginTaken),
        bt.create(user, unless_exists=deals.UsernameTaken),
        bt.create(customer, unless_exists=deals.UsernameTaken),
    )


# Shoppers who sign up, confirm their address, or forgot their password


@bt.pattern(
    "Begin Sign-Up",
    index="Main table",
    sample={"login": "alex@example.com", "password": "a long enough password", "then": "/"},
)
def begin_sign_up(
    login: accounts.Login,
    password: str,
    username: deals.Username,
    *,
    name: str | None = None,
    then: str,
) -> Steps[PendingCheck]:
    """A page that asks for the code of a new member; the address is not looked up."""
    account = yield from accounts.new_account(login, password, username)
    user, customer = yield from bt.together(
        bt.get(deals.User.key(account.username), consistent=True),
        bt.get(shop.Customer.key(account.username), consistent=True),
    )
    if user is not None or customer is not None:
        raise deals.UsernameTaken
    check = yield from mailbox_check.new_check(
        account.login,
        then,
        username=account.username,
        name=name,
        password_hash=account.password_hash,
    )
    return (yield from bt.create(check))


@bt.pattern("Confirm E-Mail", index="Main table", sample={"codes": SAMPLE_CODES, "code": "123456"})
def confirm_email(codes: Codes, check_id: str, code: str) -> Steps[accounts.Identity]:
    """Uses the code up: creates the member who signs up, or confirms the login of an account."""
    check = yield from mailbox_check.check_shopper_code(codes, check_id, code)
    used = bt.delete(check.own_key(), if_exists=UnknownCheck)
    if check.username is None or check.password_hash is None:
        yield from used
        return (yield from accounts.confirm_login(check.email))
    moment = yield from bt.now()
    account = accounts.Account(
        login=check.email,
        password_hash=check.password_hash,
        username=check.username,
        roles={accounts.Role.SHOPPER},
        confirmed_at=moment,
    )
    yield from transact_once(*member_writes(account, check.name), used, at=moment)
    return account.identity


@bt.pattern(
    "Reset Password",
    index="Main table",
    sample={"codes": SAMPLE_CODES, "code": "123456", "password": "a long enough password"},
)
def reset_password(
    codes: Codes, check_id: str, code: str, password: str
) -> Steps[accounts.Identity]:
    """One transaction: uses the code up, sets a new password, and a mail about it."""
    check = yield from mailbox_check.check_shopper_code(codes, check_id, code)
    identity, write = yield from accounts.prepare_password_reset(check.email, password)
    mail = yield from draft_password_mail(identity)
    used = bt.delete(check.own_key(), if_exists=UnknownCheck)
    yield from transact_once(write, bt.create(mail), used, at=(yield from bt.now()))
    return identity


def draft_password_mail(identity: accounts.Identity) -> Steps[Mail]:
    """The mail that says that the password was reset."""
    mail_id = f"password {identity.login} {identity.password_version}"
    return (yield from draft_mail(mail_id, identity.login, *password_letter()))


# Tenants


@dataclass(frozen=True, slots=True)
class Details:
    """A tenant's name and the address for its mail."""

    organization_name: str | None = None
    destination_email: str | None = None

    def given_fields(self) -> Mapping[str, str]:
        return {name: value for name, value in asdict(self).items() if value is not None}


SAMPLE: Final = {"details": Details("Acme"), "password": "a long enough password"}


@bt.pattern("Open Account of Tenant", index="Main table", sample={**SAMPLE, "name": "Alex"})
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
    account = yield from accounts.new_account(
        tenant.email,
        password,
        username,
        tenant_id=tenant.id,
        confirmed_at=(yield from bt.now()),
    )
    yield from register(tenant, details, member_writes(account, name))
    return account.identity


@bt.pattern("Connect Account to Tenant", index="Main table", sample={"details": SAMPLE["details"]})
def connect_account(
    tenant_id: portal.TenantId, login: accounts.Login, details: Details
) -> Steps[None]:
    """One transaction: the account's tenant, and the tenant's status."""
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    moment = (yield from bt.now()) if login == tenant.email else None
    write = accounts.link_write(login, tenant.id, confirmed_at=moment)
    yield from register(tenant, details, (write,))


@bt.pattern("Regain Account by Mailbox", index="Main table", sample=SAMPLE)
def regain_account(
    tenant_id: portal.TenantId, password: str, details: Details
) -> Steps[accounts.Identity]:
    """One transaction: a new password, the account's tenant, its status, and a mail about it."""
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    identity, write = yield from accounts.prepare_password_reset(tenant.email, password, tenant.id)
    mail = yield from draft_password_mail(identity)
    yield from register(tenant, details, (write, bt.create(mail)))
    return identity


def register(
    tenant: portal.Tenant, details: Details, writes: tuple[bt.Write[Any], ...]
) -> Steps[None]:
    """One transaction: the writes, and the tenant's move to REGISTERED unless it already is."""
    if portal.orderly(tenant).status != portal.Status.REGISTERED:
        yield from portal.register_tenant(
            tenant.id, details.organization_name, details.destination_email, along=writes
        )
        return
    yield from transact_once(*writes, at=(yield from bt.now()))
    if details.given_fields():
        yield from portal.update_tenant(tenant.id, details.given_fields(), by=tenant.id)


def form_values(tenant: portal.Tenant) -> dict[str, str]:
    """A tenant's details as the values of a form."""
    return {
        "organization_name": tenant.organization_name or "",
        "destination_email": tenant.destination_email or "",
    }
