"""Accounts: sign up, verify and change a password, grant roles; and the demo's accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import datetime
from random import Random
from typing import Any

from bigtime import model as bt
from bigtime.systems.accounts import design
from bigtime.systems.accounts import password as passwords
from bigtime.systems.accounts.design import Account, Identity, Role


@bt.pattern("Sign Up", index="Main table", sample={"password": "a long enough password"})
def sign_up(
    login: design.Login,
    password: str,
    username: design.Username,
    *,
    roles: AbstractSet[Role] = frozenset({Role.SHOPPER}),
    tenant_id: design.TenantId | None = None,
) -> bt.Steps[Identity]:
    """Condition on the login; what is kept of the password is its Argon2id hash."""
    account = yield from new_account(login, password, username, roles=roles, tenant_id=tenant_id)
    created = yield from bt.create(account, unless_exists=design.LoginTaken)
    return created.identity


@bt.pattern("Verify Password", index="Main table")
def verify_password(login: design.Login, password: str) -> bt.Steps[Identity]:
    """As much work for a login that nobody has; a hash of other parameters is made anew."""
    account = yield from account_with_password(login, password)
    if passwords.is_outdated(account.password_hash):
        yield from rehash(account, password)
    return account.identity


@bt.pattern(
    "Change Password", index="Main table", sample={"new_password": "a long enough password"}
)
def change_password(login: design.Login, password: str, new_password: str) -> bt.Steps[Identity]:
    """Only from the password that was shown.

    The version of the password changes in the same write, so a session that began with the old
    password can be told from one that began with the new one.
    """
    account = yield from account_with_password(login, password)
    passwords.check_new(new_password, account.login, account.username)
    later = account.identity.password_version + 1
    changed = yield from replace_hash(account, new_password, password_version=later)
    return changed.identity


@bt.pattern("View Account", index="Main table")
def view_account(login: design.Login) -> bt.Steps[Identity]:
    """Who it is, and the roles."""
    account = yield from bt.get(Account.key(login), missing=design.UnknownLogin, consistent=True)
    return account.identity


@bt.pattern("Grant Role", index="Main table")
def grant_role(login: design.Login, role: Role) -> bt.Steps[Identity]:
    """Once is as good as twice."""
    account = yield from bt.update(
        Account.key(login), roles=bt.Add({role}), if_exists=design.UnknownLogin
    )
    return account.identity


@bt.pattern("Revoke Role", index="Main table")
def revoke_role(login: design.Login, role: Role) -> bt.Steps[Identity]:
    """Once is as good as twice."""
    account = yield from bt.update(
        Account.key(login), roles=bt.Discard({role}), if_exists=design.UnknownLogin
    )
    return account.identity


@bt.pattern("Confirm Login", index="Main table")
def confirm_login(login: design.Login) -> bt.Steps[Identity]:
    """The owner has shown that the login is their e-mail address."""
    moment = yield from bt.now()
    account = yield from bt.update(
        Account.key(login), confirmed_at=moment, if_exists=design.UnknownLogin
    )
    return account.identity


def new_account(
    login: str,
    password: str,
    username: str,
    *,
    roles: AbstractSet[Role] = frozenset({Role.SHOPPER}),
    tenant_id: str | None = None,
    confirmed_at: datetime | None = None,
) -> bt.Steps[Account]:
    """An account that is not stored yet, for a transaction with other writes."""
    passwords.check_new(password, login, username)
    return Account(
        login=login,
        password_hash=(yield from hash_with_new_salt(password)),
        username=username,
        roles=set(roles),
        tenant_id=tenant_id,
        confirmed_at=confirmed_at,
    )


def link_write(
    login: str, tenant_id: str, *, confirmed_at: datetime | None = None
) -> bt.Write[Account]:
    """The write that gives an account to a tenant, for a transaction with other writes.

    With `confirmed_at` it also confirms the login: the tenant's mailbox was verified then.
    """
    confirmed: dict[str, Any] = {} if confirmed_at is None else {"confirmed_at": confirmed_at}
    free = bt.attr("tenant_id").missing() | (bt.attr("tenant_id") == tenant_id)
    return bt.update(
        Account.key(login),
        tenant_id=tenant_id,
        **confirmed,
        if_exists=design.UnknownLogin,
        when=free,
        otherwise=design.OtherTenant,
    )


def prepare_password_reset(
    login: str, password: str, tenant_id: str | None = None
) -> bt.Steps[tuple[Identity, bt.Write[Account]]]:
    """The write that sets a new password and links a tenant, after the mailbox was verified.

    Without a tenant, the account keeps the one it has. It is for a transaction with other writes.
    The version of the password changes, which ends the sessions of a user who signed up with the
    address and never verified it. An account with more roles than SHOPPER cannot be reset through
    its mailbox.
    """
    account = yield from bt.get(Account.key(login), missing=design.UnknownLogin, consistent=True)
    passwords.check_new(password, account.login, account.username)
    if account.roles - {Role.SHOPPER}:
        raise design.MailboxNotEnough
    tenant_id = tenant_id or account.tenant_id
    if account.tenant_id not in (None, tenant_id):
        raise design.OtherTenant
    changed: dict[str, Any] = {
        "password_hash": (yield from hash_with_new_salt(password)),
        "password_version": account.identity.password_version + 1,
        "tenant_id": tenant_id,
        "confirmed_at": (yield from bt.now()),
    }
    write = bt.update(
        account.own_key(),
        **changed,
        if_exists=design.UnknownLogin,
        when=bt.attr("password_hash") == account.password_hash,
        otherwise=design.PasswordChanged,
    )
    return account.model_copy(update=changed).identity, write


def account_with_password(login: str, password: str) -> bt.Steps[Account]:
    """The account whose password this is; the same error, and the same work, if there is none."""
    account = yield from account_of(login)
    password_hash = passwords.NOBODY if account is None else account.password_hash
    if not passwords.is_match(password_hash, password) or account is None:
        raise design.WrongCredentials
    return account


def account_of(login: str) -> bt.Steps[Account | None]:
    """The account of a login; None also if the text cannot be a login."""
    try:
        name = design.LOGIN(login)
    except design.InvalidLogin:
        return None
    return (yield from bt.get(Account.key(name), consistent=True))


def rehash(account: Account, password: str) -> bt.Steps[None]:
    """Replaces an outdated hash, unless the password has changed meanwhile."""
    with suppress(design.PasswordChanged):
        yield from replace_hash(account, password)


def replace_hash(account: Account, password: str, **changed: Any) -> bt.Steps[Account]:
    return (
        yield from bt.update(
            account.own_key(),
            password_hash=(yield from hash_with_new_salt(password)),
            **changed,
            if_exists=design.PasswordChanged,
            when=bt.attr("password_hash") == account.password_hash,
            otherwise=design.PasswordChanged,
        )
    )


def hash_with_new_salt(password: str) -> bt.Steps[str]:
    salt = yield from bt.random_bytes(passwords.SALT_BYTES)
    return passwords.hash_password(password, salt)


# Demo accounts: one of each role. A hash takes 30 ms, so they are three at every scale.

ROLES: Mapping[str, frozenset[Role]] = {
    "shopper": frozenset({Role.SHOPPER}),
    "editor": frozenset({Role.SHOPPER, Role.EDITOR}),
    "admin": frozenset(Role),
}
WORDS = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "indigo", "jasper",
    "kelp", "linden", "maple", "north", "opal", "pebble", "quartz", "river", "slate", "tundra",
)  # fmt: skip


def login_of(username: str) -> str:
    return f"{username}@example.com"


def drawn_passwords(random: Random) -> dict[str, str]:
    """A password for each demo username; the same ones that `DEMO` draws from the same seed."""
    return {name: "-".join(random.choices(WORDS, k=4)) for name in ROLES}


def demo_accounts(
    given: Mapping[str, str], random: Random, until: datetime = bt.UNTIL
) -> Iterator[Account]:
    """The accounts with these passwords, by username."""
    for username, roles in ROLES.items():
        salt = random.randbytes(passwords.SALT_BYTES)
        yield Account(
            login=login_of(username),
            password_hash=passwords.hash_password(given[username], salt),
            username=username,
            roles=set(roles),
            confirmed_at=until,
            created_at=until,
            changed_at=until,
        )


def drawn_accounts(
    scale: bt.Scale, random: Random, until: datetime = bt.UNTIL
) -> Iterator[Account]:
    return demo_accounts(drawn_passwords(random), random, until)


def sign_ins(random: Random) -> Iterator[str]:
    for username, password in drawn_passwords(random).items():
        yield f"{login_of(username)} signs in with {password}"


DEMO = bt.Demo(entities=drawn_accounts, count=lambda scale: len(ROLES), notes=sign_ins)
