"""Races of processes: accounts. Nothing is imported here that a racer does not need."""

from __future__ import annotations

from bigtime.store import Store
from bigtime.systems.accounts.account import sign_up


def join(store: Store, username: str, password: str) -> str:
    return store.run(sign_up("one", password, username)).username
