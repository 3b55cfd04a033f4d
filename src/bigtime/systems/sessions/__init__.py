"""Sessions with a time to live: one to a token, all of a user's found by an index."""

from __future__ import annotations

from bigtime.model import System
from bigtime.systems.sessions import session
from bigtime.systems.sessions.demo import DEMO
from bigtime.systems.sessions.design import SESSION_STORE

SYSTEM = System("sessions", (SESSION_STORE,), modules=(session,), demo=DEMO)
