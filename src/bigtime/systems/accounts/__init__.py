"""Accounts: sign up, verify a password, change it, grant roles; the site's own sign-in."""

from __future__ import annotations

from bigtime.model import System
from bigtime.systems.accounts import account
from bigtime.systems.accounts.demo import DEMO
from bigtime.systems.accounts.design import ACCOUNTS

SYSTEM = System("accounts", (ACCOUNTS,), modules=(account,), demo=DEMO)
