"""The port behind which people sign in.

The module `account` is one implementation, on a table of its own. A user pool in Amazon Cognito
can be another: an object with these methods, whose steps ask the pool and need no store.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from bigtime.systems.accounts import account
from bigtime.systems.accounts.design import Identity, Role
from bigtime.wire import Steps


class Accounts(Protocol):
    """Who may sign in, as whom, and what they may do; errors are those of `errors`."""

    def sign_up(
        self,
        login: str,
        password: str,
        username: str,
        *,
        roles: AbstractSet[Role] = ...,
        tenant_id: str | None = ...,
    ) -> Steps[Identity]: ...

    def verify_password(self, login: str, password: str) -> Steps[Identity]: ...

    def change_password(self, login: str, password: str, new_password: str) -> Steps[Identity]: ...

    def view_account(self, login: str) -> Steps[Identity]: ...

    def grant_role(self, login: str, role: Role) -> Steps[Identity]: ...

    def revoke_role(self, login: str, role: Role) -> Steps[Identity]: ...


OWN_ACCOUNTS: Accounts = account
"""The accounts in the table `Accounts`."""
