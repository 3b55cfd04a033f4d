"""Accounts: sign up, verify a password, change it, grant roles; the site's own sign-in."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from bigtime.model import Steps, System
from bigtime.systems.accounts import account
from bigtime.systems.accounts.account import (
    DEMO, ROLES, change_password, confirm_login, drawn_passwords, link_write, login_of, new_account,
    prepare_password_reset, verify_password, view_account,
)
from bigtime.systems.accounts.design import (
    ACCOUNTS, LOGIN, Account, Identity, InvalidLogin, InvalidTenantId, InvalidUsername, Login,
    LoginTaken, MailboxNotEnough, OtherTenant, PasswordChanged, Role, UnknownLogin,
    WrongCredentials,
)
from bigtime.systems.accounts.password import (
    LEAST_CHARACTERS, PasswordTooLong, PasswordTooShort, PasswordTooWeak, a_new_password,
)

SYSTEM = System("accounts", (ACCOUNTS,), modules=(account,), demo=DEMO)


class Accounts(Protocol):
    """Who may sign in, as whom, and what they may do.

    The module `account` implements it on a table of its own. An Amazon Cognito user pool can be
    another implementation: an object with these methods, whose steps need no store.
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
    "LEAST_CHARACTERS", "LOGIN", "OWN_ACCOUNTS", "ROLES", "SYSTEM", "Account", "Accounts",
    "Identity", "InvalidLogin", "InvalidTenantId", "InvalidUsername", "Login", "LoginTaken",
    "MailboxNotEnough", "OtherTenant", "PasswordChanged", "PasswordTooLong", "PasswordTooShort",
    "PasswordTooWeak", "Role", "UnknownLogin", "WrongCredentials", "a_new_password",
    "change_password", "confirm_login", "drawn_passwords", "link_write", "login_of", "new_account",
    "prepare_password_reset", "verify_password", "view_account",
]
