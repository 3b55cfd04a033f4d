"""What can be wrong with a session, in words for the person who sees it."""

from __future__ import annotations

from bigtime.model import Clash, NotFound, RuleBroken


class UnknownSession(NotFound):
    """You are not signed in, or your session has ended; sign in again."""


class SessionExists(Clash):
    """There is a session under this token already; draw another token."""


class UnhashedToken(RuleBroken):
    """A session is kept under the SHA-256 of its token, in 64 hex digits; hash the token first."""


class InvalidUsername(RuleBroken):
    """A username has 1 to 254 printable characters, none of them `#`; choose another."""


class InvalidDuration(RuleBroken):
    """A session lasts at least one second and at most 400 days; ask for less, or for more."""
