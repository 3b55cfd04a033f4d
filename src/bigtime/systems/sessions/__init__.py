"""Sessions with a time to live: one per token; an index lists those of a user."""

from __future__ import annotations

from bigtime.model import System
from bigtime.systems.sessions import session
from bigtime.systems.sessions.design import (
    SESSION_STORE, InvalidUsername, Session, UnknownSession, hash_token,
)
from bigtime.systems.sessions.session import PERSONAL
from bigtime.systems.sessions.session import (
    DEMO, create_session, delete_session, delete_session_of, delete_sessions, get_session, note_use,
    view_sessions,
)

SYSTEM = System("sessions", (SESSION_STORE,), modules=(session,), demo=DEMO, personal=PERSONAL)

__all__ = [
    "InvalidUsername", "Session", "UnknownSession", "create_session", "delete_session",
    "delete_session_of", "delete_sessions", "get_session", "hash_token", "note_use",
    "view_sessions",
]
