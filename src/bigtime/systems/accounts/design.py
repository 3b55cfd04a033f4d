"""The table of accounts: who may sign in, as whom, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from bigtime.model import Entity, Keys, Name, Table, pascal_case
from bigtime.systems.accounts.errors import InvalidLogin, InvalidTenantId, InvalidUsername
from bigtime.systems.accounts.password import NOBODY

LOGIN = Name(InvalidLogin, most=254, case=str.lower)

Login = Annotated[str, AfterValidator(LOGIN)]
Username = Annotated[str, AfterValidator(Name(InvalidUsername, most=64, case=str.lower))]
TenantId = Annotated[str, AfterValidator(Name(InvalidTenantId, most=64))]


class Role(StrEnum):
    """What an account may do on the site."""

    SHOPPER = "shopper"
    EDITOR = "editor"
    ADMIN = "admin"


ACCOUNTS = Table("Accounts", "Login", naming=pascal_case)


class Account(Entity, table=ACCOUNTS, created="created_at", updated="changed_at"):
    """A login and the hash of its password; the hash leaves this system in no result."""

    keys = Keys(main="{login}")
    login: Login
    password_hash: Annotated[str, Field(repr=False, examples=[NOBODY])]
    username: Username
    tenant_id: TenantId | None = None
    roles: Annotated[set[Role], Field(max_length=len(Role))] = set()
    password_version: Annotated[int, Field(ge=1)] | None = None
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
        )


@dataclass(frozen=True, slots=True)
class Identity:
    """Who somebody is, once they have shown it.

    `password_version` is how often the password was changed: whoever was let in with an earlier
    one has to show the new one.
    """

    login: str
    username: str
    tenant_id: str | None
    roles: frozenset[Role]
    password_version: int = 0
