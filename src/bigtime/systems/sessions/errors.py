"""What can be wrong with a session, in words for the person who sees it."""

from __future__ import annotations

from bigtime.model import DomainError


class UnknownSession(DomainError):
    """You are not signed in, or your session has ended; sign in again."""


class SessionExists(DomainError):
    """There is a session under this token already; draw another token."""


class UnhashedToken(DomainError):
    """A session is kept under the SHA-256 of its token, in 64 hex digits; hash the token first."""


class InvalidUsername(DomainError):
    """A username has 1 to 254 printable characters, none of them `#`; choose another."""


class InvalidDuration(DomainError):
    """A session lasts at least one second and at most 400 days; ask for less, or for more."""
