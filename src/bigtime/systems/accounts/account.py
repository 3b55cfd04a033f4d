"""Accounts: sign up, verify and change a password, grant roles; and the demo's accounts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.accounts import design
from bigtime.systems.accounts import password as passwords
from bigtime.systems.accounts.design import Account, AccountEntry, Identity, Role

PAGE = 25
TRIES = 10


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
    """As much work for an unknown login; a hash with other parameters is replaced."""
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
    return (yield from open_account(login)).identity


@bt.pattern("Grant Role", index="Main table")
def grant_role(
    login: design.Login, role: Role, *, along: tuple[bt.Write[Any], ...] = ()
) -> bt.Steps[Identity]:
    """Once is as good as twice.

    `along` is done in one transaction with it, and only if the account did not have the role.
    """

    def decide(account: Account) -> bt.Steps[RoleChange | None]:
        return None if role in account.roles else RoleChange(account.roles | {role})
        yield

    return (yield from change_roles(login, decide, along))


@bt.pattern("Revoke Role", index="Main table")
def revoke_role(
    login: design.Login, role: Role, *, along: tuple[bt.Write[Any], ...] = ()
) -> bt.Steps[Identity]:
    """Once is as good as twice; the last admin stays one.

    `along` is done in one transaction with it, and only if the account had the role. So is the
    check that another account is an admin: of two admins who demote each other, one succeeds.
    """

    def decide(account: Account) -> bt.Steps[RoleChange | None]:
        if role not in account.roles:
            return None
        checks = (yield from check_other_admin(account.login)) if role is Role.ADMIN else ()
        return RoleChange(account.roles - {role}, checks)

    return (yield from change_roles(login, decide, along))


@dataclass(frozen=True, slots=True)
class RoleChange:
    """The new roles of an account, and the conditions under which they are written."""

    roles: AbstractSet[Role]
    checks: tuple[bt.Write[Any], ...] = ()


def change_roles(
    login: str,
    decide: Callable[[Account], bt.Steps[RoleChange | None]],
    along: tuple[bt.Write[Any], ...],
) -> bt.Steps[Identity]:
    """Changes the roles to what `decide` returns for the current ones; None changes nothing."""
    for _ in range(TRIES):
        account = yield from open_account(login)
        change = yield from decide(account)
        if change is None:
            return account.identity
        token = (yield from bt.random_bytes(16)).hex()
        moment = yield from bt.now()
        writes = (role_write(account, change.roles), *change.checks, *along)
        with suppress(design.RolesChanged):
            yield from bt.transact(*writes, token=token, at=moment)
            return account.model_copy(update={"roles": {*change.roles}}).identity
    raise design.RolesChanged


def role_write(account: Account, roles: AbstractSet[Role]) -> bt.Write[Account]:
    """The write that changes an account's roles, if they are still those that were read."""
    return bt.update(
        account,
        roles={*roles},
        is_staff=design.are_staff(roles),
        if_exists=design.UnknownLogin,
        when=bt.unchanged(account, "roles"),
        otherwise=design.RolesChanged,
    )


def check_other_admin(login: str) -> bt.Steps[tuple[bt.Write[Any], ...]]:
    """A ConditionCheck that another account is an admin; raises LastAdmin."""
    staff = yield from staff_accounts()
    others = [
        each
        for each in staff
        if Role.ADMIN in each.roles and each.closed_at is None and each.login != login
    ]
    if not others:
        raise design.LastAdmin
    is_admin = bt.attr("roles").contains(Role.ADMIN) & bt.attr("closed_at").missing()
    return (
        bt.check(
            others[0].own_key(),
            if_exists=design.RolesChanged,
            when=is_admin,
            otherwise=design.RolesChanged,
        ),
    )


@bt.pattern("List Accounts", index="NewestIndex, then Main table")
def list_accounts(
    *, limit: int = PAGE, after: bt.Position | None = None, newest_first: bool = True
) -> bt.Steps[bt.Page[AccountEntry]]:
    """Newest first, paged; the index has shards."""
    shards = (design.NewestAccount.within(shard=shard) for shard in range(design.SHARDS))
    found = yield from bt.merge(*shards, limit=limit, after=after, newest_first=newest_first)
    accounts = yield from accounts_with([each.login for each in found])
    return bt.Page([each.entry for each in accounts], found.position)


@bt.pattern("Count Accounts", index="NewestIndex")
def count_accounts() -> bt.Steps[int]:
    """Only numbers are read."""
    shards = (design.NewestAccount.within(shard=shard) for shard in range(design.SHARDS))
    return sum((yield from bt.together(*map(bt.count, shards))))


@bt.pattern("List Staff", index="StaffIndex, then Main table")
def list_staff(role: Role | None = None) -> bt.Steps[list[AccountEntry]]:
    """Accounts with more roles than SHOPPER, by login: all of them, or those with a role."""
    staff = yield from staff_accounts()
    return [each.entry for each in staff if role is None or role in each.roles]


def staff_accounts() -> bt.Steps[list[Account]]:
    listed = yield from bt.all_of(design.StaffAccount.within())
    return (yield from accounts_with([each.login for each in listed]))


def accounts_with(logins: Sequence[str]) -> bt.Steps[list[Account]]:
    """The accounts that still exist, in the order of `logins`."""
    found = yield from bt.get_many([Account.key(login) for login in logins], consistent=True)
    return [account for account in found if account is not None]


@bt.pattern("View Account Entry", index="Main table")
def view_entry(login: design.Login) -> bt.Steps[AccountEntry]:
    """Who it is, since when, and whether the login is confirmed."""
    account = yield from bt.get(Account.key(login), missing=design.UnknownLogin, consistent=True)
    return account.entry


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
    """An account that is not yet stored, for a transaction with other writes."""
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
    """The write that links an account to a tenant, for a transaction with other writes.

    With `confirmed_at` it also confirms the login: the tenant's mailbox was verified then.
    """
    confirmed: dict[str, Any] = {} if confirmed_at is None else {"confirmed_at": confirmed_at}
    free = bt.attr("tenant_id").missing() | (bt.attr("tenant_id") == tenant_id)
    return bt.update(
        Account.key(login),
        tenant_id=tenant_id,
        **confirmed,
        if_exists=design.UnknownLogin,
        when=free & bt.attr("closed_at").missing(),
        otherwise=design.OtherTenant,
    )


def close_writes(login: str, password: str) -> bt.Steps[tuple[Account, tuple[bt.Write[Any], ...]]]:
    """The account, if the password is right, and the writes that close it, for a transaction.

    No password opens it any more, and its sessions are over. Of two administrators who close their
    accounts at once, one fails: the transaction checks that another admin remains.
    """
    account = yield from account_with_password(login, password)
    others = (yield from check_other_admin(login)) if Role.ADMIN in account.roles else ()
    write = bt.update(
        account.own_key(),
        password_hash=passwords.NOBODY,
        password_version=account.identity.password_version + 1,
        closed_at=(yield from bt.now()),
        if_exists=design.WrongCredentials,
        when=bt.attr("password_hash") == account.password_hash,
        otherwise=design.PasswordChanged,
    )
    return account, (write, *others)


def prepare_password_reset(
    login: str, password: str, tenant_id: str | None = None
) -> bt.Steps[tuple[Identity, bt.Write[Account]]]:
    """The write that sets a new password and links a tenant, after the mailbox was verified.

    Without a tenant, the account keeps the one it has. It is for a transaction with other writes.
    The version of the password changes, which ends the sessions of a user who signed up with the
    address and never verified it. An account with more roles than SHOPPER cannot be reset through
    its mailbox.
    """
    account = yield from open_account(login)
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


DERIVED: Final = {"shard", "is_staff"}


def login_move_writes(
    account: Account, login: str, *, tenant_id: str | None, moment: datetime
) -> tuple[Account, tuple[bt.Write[Any], ...]]:
    """The account under its new login, and the writes that move it, for a transaction.

    The new login counts as confirmed at that moment. The writes fail if the account has changed
    since it was read, or if an account with the new login exists.
    """
    changed = {
        "login": login,
        "tenant_id": tenant_id,
        "password_version": account.identity.password_version + 1,
        "confirmed_at": moment,
    }
    moved = Account(**{**account.model_dump(exclude=DERIVED), **changed})
    left = bt.delete(
        account.own_key(),
        if_exists=design.PasswordChanged,
        when=is_unchanged(account),
        otherwise=design.AccountChanged,
    )
    return moved, (left, bt.create(moved, unless_exists=design.LoginTaken))


def is_unchanged(account: Account) -> bt.Condition:
    """The condition that all fields are as they were read, except the key and computed fields."""
    return bt.unchanged(account, *(Account.model_fields.keys() - {"login", *DERIVED}))


def account_with_password(login: str, password: str) -> bt.Steps[Account]:
    """The account, if the password is right; the same error and work if there is none."""
    account = yield from account_of(login)
    password_hash = passwords.NOBODY if account is None else account.password_hash
    if not passwords.is_match(password_hash, password) or account is None:
        raise design.WrongCredentials
    return account


def open_account(login: str) -> bt.Steps[Account]:
    """The account of a login; UnknownLogin if it is closed."""
    account = yield from bt.get(Account.key(login), missing=design.UnknownLogin, consistent=True)
    if account.closed_at is not None:
        raise design.UnknownLogin
    return account


def account_of(login: str) -> bt.Steps[Account | None]:
    """The account of a login; None if there is none, or the text cannot be a login."""
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


def sample_admin(login: str) -> Account:
    return Account(login=login, password_hash=passwords.NOBODY, username=login, roles={Role.ADMIN})


BRANCHES: Mapping[str, tuple[bt.Branch, ...]] = {
    "revoke_role": (
        bt.Branch(
            {"login": "ada@example.com", "role": Role.ADMIN},
            (sample_admin("ada@example.com"), sample_admin("bea@example.com")),
        ),
    ),
}
"""Branches that the patterns' samples do not reach: an admin who is not the only one."""


# Demo accounts: one of each role. A hash takes 30 ms, so there are three at every scale.

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
    """A password for each demo username; `DEMO` generates the same from the same seed."""
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
