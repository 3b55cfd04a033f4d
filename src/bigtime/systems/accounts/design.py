"""The table of accounts: who may sign in, as whom, and what they may do; and its errors."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from bigtime import model as bt
from bigtime.systems.accounts.password import NOBODY


class InvalidLogin(bt.RuleBroken):
    """A login has 1 to 254 printable characters, none of them `#`; choose another."""


class InvalidUsername(bt.RuleBroken):
    """A username has 1 to 64 printable characters, none of them `#`; choose another."""


class InvalidTenantId(bt.RuleBroken):
    """The id of a tenant has 1 to 64 printable characters, none of them `#`; correct it."""


class LoginTaken(bt.Clash):
    """There is an account with this login; sign in, or choose another."""


class WrongCredentials(bt.RuleBroken):
    """Wrong e-mail or password. Try again."""


class PasswordChanged(bt.Clash):
    """This password has been changed meanwhile; sign in again."""


class OtherTenant(bt.RuleBroken):
    """This account is another customer's already; open one with an address of its own."""


class MailboxNotEnough(bt.Forbidden):
    """This account may do more than shop, and takes more than a mailbox; ask who runs the site."""


class UnknownLogin(bt.NotFound):
    """There is no account with this login; check how it is written."""


LOGIN = bt.Name(InvalidLogin, most=254, case=str.lower)

Login = Annotated[str, AfterValidator(LOGIN)]
Username = Annotated[str, AfterValidator(bt.Name(InvalidUsername, most=64, case=str.lower))]
TenantId = Annotated[str, AfterValidator(bt.Name(InvalidTenantId, most=64))]


class Role(StrEnum):
    """What an account may do on the site."""

    SHOPPER = "shopper"
    EDITOR = "editor"
    ADMIN = "admin"


ACCOUNTS = bt.Table("Accounts", "Login", naming=bt.pascal_case)


class Account(bt.Entity, table=ACCOUNTS, created="created_at", updated="changed_at"):
    """A login and the hash of its password; the hash leaves this system in no result.

    `confirmed_at` is when a code showed that the login is the owner's e-mail address.
    """

    keys = bt.Keys(main="{login}")
    login: Login
    password_hash: Annotated[str, Field(repr=False, examples=[NOBODY])]
    username: Username
    tenant_id: TenantId | None = None
    roles: Annotated[set[Role], Field(max_length=len(Role))] = set()
    password_version: Annotated[int, Field(ge=1)] | None = None
    confirmed_at: datetime | None = None
    created_at: datetime | None = None
    changed_at: datetime | None = None

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
