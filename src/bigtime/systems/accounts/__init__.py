"""Accounts: sign up, verify a password, change it, grant roles; the site's own sign-in."""

from __future__ import annotations

from bigtime.model import System
from bigtime.systems.accounts import account
from bigtime.systems.accounts.account import (
    change_password, link_write, new_account, prepare_password_reset, verify_password, view_account,
)
from bigtime.systems.accounts.demo import DEMO, ROLES, drawn_passwords, login_of
from bigtime.systems.accounts.design import ACCOUNTS, LOGIN, Account, Identity, Login, Role
from bigtime.systems.accounts.errors import (
    InvalidLogin, InvalidTenantId, InvalidUsername, LoginTaken, MailboxNotEnough, OtherTenant,
    PasswordChanged, PasswordTooLong, PasswordTooShort, UnknownLogin, WrongCredentials,
)
from bigtime.systems.accounts.password import LEAST_CHARACTERS, a_new_password, check_new

SYSTEM = System("accounts", (ACCOUNTS,), modules=(account,), demo=DEMO)

__all__ = [
    "LEAST_CHARACTERS", "LOGIN", "ROLES", "SYSTEM", "Account", "Identity", "InvalidLogin",
    "InvalidTenantId", "InvalidUsername", "Login", "LoginTaken", "MailboxNotEnough", "OtherTenant",
    "PasswordChanged", "PasswordTooLong", "PasswordTooShort", "Role", "UnknownLogin",
    "WrongCredentials", "a_new_password", "change_password", "check_new", "drawn_passwords",
    "link_write", "login_of", "new_account", "prepare_password_reset", "verify_password",
    "view_account",
]
