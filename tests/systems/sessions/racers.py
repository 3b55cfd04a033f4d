"""Races of processes: sessions. Nothing is imported here that a racer does not need."""

from __future__ import annotations

from bigtime.store import Store
from bigtime.systems.sessions.session import create_session


def begin(store: Store, token: str, username: str) -> str:
    return store.run(create_session(token, username)).username
