"""The session store: one table, a session to an item, and an index that finds a user's.

The key is the SHA-256 of the token. The token itself is known to its bearer alone, so a stolen
table opens no session; and whoever passes a token as it is by mistake is refused, for it does not
look like a hash.

`ExpiresAt` is for people and `TTL`, the same second as a number, for DynamoDB, which deletes the
item some time after it, often days. Until then whoever reads has to look at it.
"""

from __future__ import annotations

import re
from datetime import datetime
from hashlib import sha256
from typing import Annotated

from pydantic import AfterValidator, Field

from bigtime.model import (
    Entity,
    EpochSeconds,
    Keys,
    Name,
    Seconds,
    Table,
    View,
    global_index,
    pascal_case,
)
from bigtime.systems.sessions.errors import InvalidUsername, UnhashedToken

HASH = re.compile("[0-9a-f]{64}")


def stored_name(name: str) -> str:
    return "TTL" if name == "ttl" else pascal_case(name)


def hashed_token(text: str) -> str:
    """The text itself, if it is a token's hash."""
    if not HASH.fullmatch(text):
        raise UnhashedToken
    return text


def hash_token(token: str) -> str:
    """What a session is kept under, for the token that its bearer has."""
    return sha256(token.encode()).hexdigest()


USERNAME = Name(InvalidUsername, most=254, case=str.lower)

Username = Annotated[str, AfterValidator(USERNAME)]
HashedToken = Annotated[str, AfterValidator(hashed_token), Field(examples=[hash_token("sample")])]

SESSION_STORE = Table(
    "SessionStore",
    "SessionToken",
    indexes=[global_index("UserIndex", "Username", keys_only=True)],
    naming=stored_name,
    ttl="TTL",
)


class Session(Entity, table=SESSION_STORE):
    """That somebody is signed in somewhere, until it expires.

    `password_version` is that of the password it began with. Whoever knows the account compares:
    a session that began with an earlier password is over, though it is still stored.
    """

    keys = Keys(main="{session_token}", UserIndex="{username}")
    session_token: HashedToken
    username: Username
    created_at: datetime
    expires_at: Annotated[datetime, Seconds]
    ttl: Annotated[datetime, EpochSeconds] = Field(default_factory=lambda told: told["expires_at"])
    password_version: Annotated[int, Field(ge=1)] | None = None

    def began_with(self, password_version: int) -> bool:
        """Whether that is the version of the password that it began with; the first is 0."""
        return (self.password_version or 0) == password_version


class SessionOfUser(View, of=Session, index="UserIndex"):
    """What the index knows of a session: whose it is, and its key."""

    session_token: HashedToken
    username: Username
