"""The session store: one table with an item per session, and an index by user.

The key is the SHA-256 of the token. Only the browser has the token itself, so a stolen table opens
no session. An unhashed token is refused, as it does not look like a hash.

`ExpiresAt` is for people; `TTL`, the same second as a number, is for DynamoDB, which deletes the
item some time later, often days. Until then, reads filter by it.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Annotated

from pydantic import AfterValidator, Field

from bigtime import model as bt


class UnknownSession(bt.NotFound):
    """You are not signed in, or your session has ended; sign in again."""


class SessionExists(bt.Clash):
    """A session with this token already exists; generate another token."""


class UnhashedToken(bt.RuleBroken):
    """A session is stored under its token's SHA-256 in 64 hex digits; hash the token first."""


class InvalidUsername(bt.RuleBroken):
    """A username has 1 to 254 printable characters, none of them `#`."""


class InvalidDuration(bt.RuleBroken):
    """A session lasts from one second to 400 days."""


SEEN_EVERY = timedelta(minutes=5)
MOST_DEVICE = 100
HASH = re.compile("[0-9a-f]{64}")


def stored_name(name: str) -> str:
    return "TTL" if name == "ttl" else bt.pascal_case(name)


def hashed_token(text: str) -> str:
    """The text itself, if it is the hash of a token."""
    if not HASH.fullmatch(text):
        raise UnhashedToken
    return text


def hash_token(token: str) -> str:
    """The key of the session with this token."""
    return sha256(token.encode()).hexdigest()


USERNAME = bt.Name(InvalidUsername, most=254, case=str.lower)

Username = Annotated[str, AfterValidator(USERNAME)]
HashedToken = Annotated[str, AfterValidator(hashed_token), Field(examples=[hash_token("sample")])]

SESSION_STORE = bt.Table(
    "SessionStore",
    "SessionToken",
    indexes=[bt.global_index("UserIndex", "Username", keys_only=True)],
    naming=stored_name,
    ttl="TTL",
)


class Session(bt.Entity, table=SESSION_STORE):
    """A user who is signed in on a device, until it expires.

    `seen_at` is when it was last used, and is written at most every `SEEN_EVERY`.
    `password_version` is that of the password it began with. The site compares it with the
    account's: a session that began with an earlier password is over, though it is still stored.
    """

    keys = bt.Keys(main="{session_token}", UserIndex="{username}")
    session_token: HashedToken
    username: Username
    created_at: datetime
    expires_at: Annotated[datetime, bt.Seconds]
    ttl: Annotated[datetime, bt.EpochSeconds] = Field(
        default_factory=lambda fields: fields["expires_at"]
    )
    password_version: Annotated[int, Field(ge=1)] | None = None
    device: str | None = Field(default=None, max_length=MOST_DEVICE)
    seen_at: Annotated[datetime, bt.Seconds] | None = None

    @property
    def last_seen(self) -> datetime:
        return self.seen_at or self.created_at

    def is_use_due(self, moment: datetime) -> bool:
        """Whether the last recorded use is old enough for another to be recorded."""
        return moment - self.last_seen >= SEEN_EVERY

    def began_with(self, password_version: int) -> bool:
        """Whether the session began with this version of the password; the first is 0."""
        return (self.password_version or 0) == password_version


class SessionOfUser(bt.View, of=Session, index="UserIndex"):
    """What the index holds of a session: whose it is, and its key."""

    session_token: HashedToken
    username: Username
