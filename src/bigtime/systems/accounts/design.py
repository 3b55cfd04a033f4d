"""The table of accounts: logins, password hashes and roles; and its errors."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from bigtime import model as bt
from bigtime.systems.accounts.password import NOBODY


class InvalidLogin(bt.RuleBroken):
    """A login has 1 to 254 printable characters, none of them `#`."""


class InvalidUsername(bt.RuleBroken):
    """A username has 1 to 64 printable characters, none of them `#`."""


class InvalidTenantId(bt.RuleBroken):
    """A tenant ID has 1 to 64 printable characters, none of them `#`."""


class LoginTaken(bt.Clash):
    """An account with this login already exists; sign in, or choose another login."""


class WrongCredentials(bt.RuleBroken):
    """Wrong e-mail or password. Try again."""


class PasswordChanged(bt.Clash):
    """Your password was changed; sign in again."""


class AccountChanged(bt.Clash):
    """Your account has changed in the meantime; try again."""


class OtherTenant(bt.RuleBroken):
    """This account already belongs to another customer; use another e-mail address."""


class MailboxNotEnough(bt.Forbidden):
    """An account with this role cannot be opened by e-mail alone; contact the administrator."""


class LastAdmin(bt.Clash):
    """This is the only admin. Make another account an admin first, then try again."""


class RolesChanged(bt.Conflict):
    """The roles of this account have changed; review them and try again."""


class UnknownLogin(bt.NotFound):
    """There is no account with this login; check the spelling."""


LOGIN = bt.Name(InvalidLogin, most=254, case=str.lower)

Login = Annotated[str, AfterValidator(LOGIN)]
Username = Annotated[str, AfterValidator(bt.Name(InvalidUsername, most=64, case=str.lower))]
TenantId = Annotated[str, AfterValidator(bt.Name(InvalidTenantId, most=64))]


class Role(StrEnum):
    """What an account may do on the site."""

    SHOPPER = "shopper"
    EDITOR = "editor"
    ADMIN = "admin"


SHARDS = 4

# KEYS_ONLY: password hashes are in the table alone.
ACCOUNTS = bt.Table(
    "Accounts",
    "Login",
    indexes=[
        bt.global_index("NewestIndex", "NewestPK", "CreatedAt", keys_only=True),
        bt.global_index("StaffIndex", "StaffPK", "Login", keys_only=True),
    ],
    naming=bt.pascal_case,
)


def are_staff(roles: AbstractSet[Role]) -> bool:
    """Whether an account with these roles may do more than shop."""
    return bool(roles - {Role.SHOPPER})


class Account(bt.Entity, table=ACCOUNTS, created="created_at", updated="changed_at"):
    """A login and the hash of its password; the hash leaves this system in no result.

    `confirmed_at` is when a code showed that the login is the owner's e-mail address. An
    account that `is_staff` has more roles than SHOPPER, and is in an index of those. One with
    `closed_at` is being deleted: nobody can sign in, and its login is taken until that is done.
    """

    keys = bt.Keys(
        main="{login}",
        NewestIndex=("ACCOUNTS#{shard}", "{created_at}"),
        StaffIndex=bt.when(("STAFF", "{login}"), is_staff=True),
    )
    login: Login
    password_hash: Annotated[str, Field(repr=False, examples=[NOBODY])]
    username: Username
    tenant_id: TenantId | None = None
    roles: Annotated[set[Role], Field(max_length=len(Role))] = set()
    password_version: Annotated[int, Field(ge=1)] | None = None
    confirmed_at: datetime | None = None
    closed_at: datetime | None = None
    created_at: datetime | None = None
    changed_at: datetime | None = None
    shard: int = bt.shard_field(SHARDS, by="login")
    is_staff: bool = Field(default_factory=lambda fields: are_staff(fields["roles"]))

    @property
    def identity(self) -> Identity:
        return Identity(
            self.login,
            self.username,
            self.tenant_id,
            frozenset(self.roles),
            self.password_version or 0,
            self.confirmed_at is not None,
        )

    @property
    def entry(self) -> AccountEntry:
        return AccountEntry(self.identity, self.created_at, self.confirmed_at, self.closed_at)


class NewestAccount(bt.View, of=Account, index="NewestIndex"):
    """What the index of all accounts holds of one."""

    login: Login


class StaffAccount(bt.View, of=Account, index="StaffIndex"):
    """What the index of staff holds of an account."""

    login: Login


@dataclass(frozen=True, slots=True)
class Identity:
    """The account of a user who has signed in.

    `password_version` is how often the password was changed: a session that began with an earlier
    one has ended. `is_confirmed` is whether the login is known to be their e-mail address.
    """

    login: str
    username: str
    tenant_id: str | None
    roles: frozenset[Role]
    password_version: int = 0
    is_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class AccountEntry:
    """An account in a list: who it is, since when, when it was confirmed and when closed."""

    identity: Identity
    created_at: datetime | None
    confirmed_at: datetime | None
    closed_at: datetime | None = None
