"""Accounts: made, verified, changed, given roles."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from bigtime.model import Add, Discard, Write, attr, create, get, pattern, random_bytes, update
from bigtime.systems.accounts.design import (
    LOGIN,
    Account,
    Identity,
    Login,
    Role,
    TenantId,
    Username,
)
from bigtime.systems.accounts.errors import (
    InvalidLogin,
    LoginTaken,
    MailboxNotEnough,
    OtherTenant,
    PasswordChanged,
    UnknownLogin,
    WrongCredentials,
)
from bigtime.systems.accounts.password import (
    NOBODY,
    SALT_BYTES,
    check_new,
    hash_password,
    is_match,
    is_outdated,
)
from bigtime.wire import Steps


@pattern("Sign Up", index="Main table")
def sign_up(
    login: Login,
    password: str,
    username: Username,
    *,
    roles: AbstractSet[Role] = frozenset({Role.SHOPPER}),
    tenant_id: TenantId | None = None,
) -> Steps[Identity]:
    """Condition on the login; what is kept of the password is its Argon2id hash."""
    account = yield from new_account(login, password, username, roles=roles, tenant_id=tenant_id)
    made = yield from create(account, unless_exists=LoginTaken)
    return made.identity


@pattern("Verify Password", index="Main table")
def verify_password(login: Login, password: str) -> Steps[Identity]:
    """As much work for a login that nobody has; a hash of other parameters is made anew."""
    account = yield from account_with_password(login, password)
    if is_outdated(account.password_hash):
        yield from rehash(account, password)
    return account.identity


@pattern("Change Password", index="Main table")
def change_password(login: Login, password: str, new_password: str) -> Steps[Identity]:
    """Only from the password that was shown.

    The version of the password changes with it, in one write: what was let in with the old
    password can be told from what was let in with the new one, whatever happens next.
    """
    check_new(new_password)
    account = yield from account_with_password(login, password)
    later = account.identity.password_version + 1
    changed = yield from replace_hash(account, new_password, password_version=later)
    return changed.identity


@pattern("View Account", index="Main table")
def view_account(login: Login) -> Steps[Identity]:
    """Who it is, and the roles."""
    account = yield from get(Account.key(login), missing=UnknownLogin, consistent=True)
    return account.identity


@pattern("Grant Role", index="Main table")
def grant_role(login: Login, role: Role) -> Steps[Identity]:
    """Once is as good as twice."""
    account = yield from update(Account.key(login), roles=Add({role}), if_exists=UnknownLogin)
    return account.identity


@pattern("Revoke Role", index="Main table")
def revoke_role(login: Login, role: Role) -> Steps[Identity]:
    """Once is as good as twice."""
    account = yield from update(Account.key(login), roles=Discard({role}), if_exists=UnknownLogin)
    return account.identity


def new_account(
    login: str,
    password: str,
    username: str,
    *,
    roles: AbstractSet[Role] = frozenset({Role.SHOPPER}),
    tenant_id: str | None = None,
) -> Steps[Account]:
    """An account that is not stored yet, for whoever stores it together with something else."""
    check_new(password)
    return Account(
        login=login,
        password_hash=(yield from hash_with_new_salt(password)),
        username=username,
        roles=set(roles),
        tenant_id=tenant_id,
    )


def link_write(login: str, tenant_id: str) -> Write[Account]:
    """The write that gives an account to a tenant, for a transaction with other writes."""
    free = attr("tenant_id").missing() | (attr("tenant_id") == tenant_id)
    return update(
        Account.key(login),
        tenant_id=tenant_id,
        if_exists=UnknownLogin,
        when=free,
        otherwise=OtherTenant,
    )


def prepare_password_reset(
    login: str, password: str, tenant_id: str
) -> Steps[tuple[Identity, Write[Account]]]:
    """A new password for whoever has shown that the login is their mailbox, and a tenant's account.

    For whoever decides it together with something else. Whoever signed up with the address and
    has not shown that is out by it: the version of the password changes. Who may do more than shop
    is not let in by a mailbox.
    """
    check_new(password)
    account = yield from get(Account.key(login), missing=UnknownLogin, consistent=True)
    if account.roles - {Role.SHOPPER}:
        raise MailboxNotEnough
    if account.tenant_id not in (None, tenant_id):
        raise OtherTenant
    changed: dict[str, Any] = {
        "password_hash": (yield from hash_with_new_salt(password)),
        "password_version": account.identity.password_version + 1,
        "tenant_id": tenant_id,
    }
    write = update(
        account.own_key(),
        **changed,
        if_exists=UnknownLogin,
        when=attr("password_hash") == account.password_hash,
        otherwise=PasswordChanged,
    )
    return account.model_copy(update=changed).identity, write


def account_with_password(login: str, password: str) -> Steps[Account]:
    """The account whose password this is; the same error, and the same work, if there is none."""
    account = yield from account_of(login)
    password_hash = NOBODY if account is None else account.password_hash
    if not is_match(password_hash, password) or account is None:
        raise WrongCredentials
    return account


def account_of(login: str) -> Steps[Account | None]:
    """The account of a login; None also if the text cannot be a login."""
    try:
        name = LOGIN(login)
    except InvalidLogin:
        return None
    return (yield from get(Account.key(name), consistent=True))


def rehash(account: Account, password: str) -> Steps[None]:
    """Replaces an outdated hash, unless the password has changed meanwhile."""
    try:
        yield from replace_hash(account, password)
    except PasswordChanged:
        return


def replace_hash(account: Account, password: str, **changed: Any) -> Steps[Account]:
    return (
        yield from update(
            account.own_key(),
            password_hash=(yield from hash_with_new_salt(password)),
            **changed,
            if_exists=PasswordChanged,
            when=attr("password_hash") == account.password_hash,
            otherwise=PasswordChanged,
        )
    )


def hash_with_new_salt(password: str) -> Steps[str]:
    salt = yield from random_bytes(SALT_BYTES)
    return hash_password(password, salt)
