"""Accounts: sign up, verify a password, change it, grant roles; the site's own sign-in."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from bigtime.model import Steps, System, personal
from bigtime.systems.accounts import account
from bigtime.systems.accounts.account import (
    BRANCHES, DEMO, ROLES, change_password, close_writes, confirm_login, count_accounts,
    drawn_passwords, grant_role, link_write, list_accounts, list_staff, login_move_writes, login_of,
    new_account, open_account, prepare_password_reset, revoke_role, verify_password, view_account,
    view_entry,
)
from bigtime.systems.accounts.design import (
    ACCOUNTS, LOGIN, Account, AccountChanged, AccountEntry, Identity, InvalidLogin, InvalidUsername,
    LastAdmin, Login, LoginTaken, MailboxNotEnough, OtherTenant, PasswordChanged, Role,
    RolesChanged, UnknownLogin, WrongCredentials,
)
from bigtime.systems.accounts.password import LEAST_CHARACTERS, PasswordTooWeak, a_new_password

SYSTEM = System(
    "accounts",
    (ACCOUNTS,),
    modules=(account,),
    demo=DEMO,
    branches=BRANCHES,
    accepted={
        "hot-partition Account.StaffIndex": "staff are few, and read when an admin looks at them",
    },
    personal=(personal(Account, "login", of="login", is_last=True),),
)

class Accounts(Protocol):
    """Who may sign in, as whom, and what they may do.

    The module `account` implements it on a table of its own, and `bigtime.site.CognitoAccounts` on
    an Amazon Cognito user pool: an object with these methods, whose steps make no request to a
    store.
    """

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

    def confirm_login(self, login: str) -> Steps[Identity]: ...

    def grant_role(self, login: str, role: Role) -> Steps[Identity]: ...

    def revoke_role(self, login: str, role: Role) -> Steps[Identity]: ...

OWN_ACCOUNTS: Accounts = account

"""The accounts of the table `Accounts`."""

__all__ = [
    "BRANCHES", "LEAST_CHARACTERS", "LOGIN", "OWN_ACCOUNTS", "ROLES", "SYSTEM", "Account",
    "AccountChanged", "AccountEntry", "Accounts", "Identity", "InvalidLogin", "InvalidUsername",
    "LastAdmin", "Login", "LoginTaken", "MailboxNotEnough", "OtherTenant", "PasswordChanged",
    "PasswordTooWeak", "Role", "RolesChanged", "UnknownLogin", "WrongCredentials", "a_new_password",
    "change_password", "close_writes", "confirm_login", "count_accounts", "drawn_passwords",
    "grant_role", "link_write", "list_accounts", "list_staff", "login_move_writes", "login_of",
    "new_account", "open_account", "prepare_password_reset", "revoke_role", "verify_password",
    "view_account", "view_entry",
]
