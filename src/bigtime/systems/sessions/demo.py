"""Demo sessions: users who are signed in on a device or several, and some who were."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from bigtime.model import UNTIL, Demo, Scale
from bigtime.systems.sessions.design import Session, hash_token
from bigtime.systems.sessions.session import WEEK

USERS = {Scale.SMALL: 20, Scale.MEDIUM: 1_000, Scale.LARGE: 50_000}
DEVICES = 2
SPREAD_SECONDS = int(timedelta(days=14).total_seconds())


def count(scale: Scale) -> int:
    return USERS[scale] * DEVICES


def sessions(scale: Scale, random: Random, until: datetime = UNTIL) -> Iterator[Session]:
    """Nobody has their tokens: they show what a table looks like, and open nothing.

    The first user is the one that the site's demo has.
    """
    for user in range(USERS[scale]):
        for _ in range(DEVICES):
            begun = until - timedelta(seconds=random.randrange(1, SPREAD_SECONDS))
            yield Session(
                session_token=hash_token(random.randbytes(32).hex()),
                username=f"user-{user}" if user else "shopper",
                created_at=begun,
                expires_at=begun + WEEK,
            )


DEMO = Demo(entities=sessions, count=count)
