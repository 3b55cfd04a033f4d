"""API tokens: created and revoked on a user's account page, for programs that call the APIs.

1. A token is shown once, when it is created. Only its SHA-256 is stored, as the item's key: a
   request finds its token with one GetItem, and a stolen copy of the table gives no access.
2. `TokenList` has the hashes of a user's tokens, and is written in one transaction with them. So
   the list is exact without an index, and concurrent requests create no more than `MOST_TOKENS`.
3. A token says which areas of the APIs it is for, and whether it may write. It can never do more
   than its user can: the roles are read from the account at every use.
4. Like a session, a token ends when it is revoked, when it expires, and when the password changes:
   someone who changes a stolen password should not have to think of the tokens too.
5. When a token was last used is written at most once an hour.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Final, Protocol

from pydantic import AfterValidator, Field

from bigtime import model as bt
from bigtime.site.design import SITE_TABLE, Digest, Expiry, transact_once
from bigtime.systems import accounts, catalog
from bigtime.wire import Steps

PREFIX: Final = "bigtime_"
"""Tells API tokens from session tokens, and lets scanners find leaked ones in public code."""
MOST_TOKENS: Final = 20
MOST_DAYS: Final = 365
MOST_NAME: Final = 60
USED_EVERY: Final = timedelta(hours=1)
CREATED: Final = "api_token_created"
REVOKED: Final = "api_token_revoked"


class TooManyTokens(bt.RuleBroken):
    """You have the maximum of 20 API tokens; revoke one that you no longer use."""


class TokenExists(bt.Clash):
    """This API token already exists."""


class UnknownToken(bt.NotFound):
    """This API token does not exist; it was revoked or has expired."""


class InvalidTokenName(bt.RuleBroken):
    """A token's name has 1 to 60 printable characters, none of them `#`."""


class TokenOwner(Protocol):
    """The user who owns the tokens."""

    @property
    def login(self) -> str: ...

    @property
    def username(self) -> str: ...

    @property
    def password_version(self) -> int: ...


class ApiArea(StrEnum):
    """A part of the APIs that a token may be for."""

    DEALS = "deals"
    SHOP = "shop"
    PORTAL = "portal"


@dataclass(frozen=True, slots=True)
class TokenScope:
    """What a token may be used for, as far as its user may do it."""

    areas: frozenset[ApiArea]
    can_write: bool

    def allows(self, area: ApiArea | None, *, writes: bool) -> bool:
        return area in self.areas and (self.can_write or not writes)


TokenName = Annotated[str, AfterValidator(bt.Name(InvalidTokenName, most=MOST_NAME))]
SAMPLE: Final[dict[str, Any]] = {
    "owner": accounts.Identity("alex@example.com", "alex", None, frozenset({accounts.Role.SHOPPER}))
}


class ApiToken(bt.Entity, table=SITE_TABLE):
    """A token that a user's program calls the APIs with, under its hash.

    `password_version` is that of the password it was made with.
    """

    keys = bt.Keys(main=("TOKEN#{token_hash}", "TOKEN"))
    token_hash: Digest
    login: str = Field(max_length=254, examples=["alex@example.com"])
    name: str = Field(max_length=MOST_NAME)
    areas: Annotated[set[ApiArea], Field(max_length=len(ApiArea))]
    can_write: bool = False
    password_version: int = 0
    created_at: datetime
    used_at: Annotated[datetime, bt.Seconds] | None = None
    expires_at: Expiry

    @property
    def scope(self) -> TokenScope:
        return TokenScope(frozenset(self.areas), self.can_write)

    def is_use_due(self, moment: datetime) -> bool:
        """Whether the last recorded use is old enough for another to be recorded."""
        return self.used_at is None or moment - self.used_at >= USED_EVERY


class TokenList(bt.Entity, table=SITE_TABLE, version="version"):
    """The hashes of a user's tokens; some may have expired since."""

    keys = bt.Keys(main=("TOKENS#{login}", "TOKENS"))
    login: str = Field(max_length=254, examples=["alex@example.com"])
    token_hashes: list[Digest] = Field(default=[], max_length=MOST_TOKENS)
    version: int | None = None


def api_token_text(secret: bytes) -> str:
    """The token that a user's program sends; `secret` is random, and used for no other."""
    return PREFIX + urlsafe_b64encode(secret).decode().rstrip("=")


def hash_api_token(token: str) -> str:
    """The key of a token."""
    return sha256(token.encode()).hexdigest()


@bt.pattern("Create API Token", index="Main table", sample={**SAMPLE, "areas": [ApiArea.DEALS]})
def create_api_token(
    owner: TokenOwner,
    token_hash: Digest,
    name: TokenName,
    areas: Collection[ApiArea],
    *,
    can_write: bool = False,
    days: int = 90,
    also: Sequence[bt.Write[Any]] = (),
) -> Steps[ApiToken]:
    """One transaction: the token, the user's list of tokens, an activity, and `also`."""
    moment = (yield from bt.now()).replace(microsecond=0)
    token = ApiToken(
        token_hash=token_hash,
        login=owner.login,
        name=name,
        areas=set(areas),
        can_write=can_write,
        password_version=owner.password_version,
        created_at=moment,
        expires_at=moment + timedelta(days=min(days, MOST_DAYS)),
    )
    listed, living = yield from read_list(owner)
    if any(other.token_hash == token_hash for other in living):
        raise TokenExists
    if len(living) >= MOST_TOKENS:
        raise TooManyTokens
    yield from transact_once(
        *also,  # first: if one of them fails, its error is the one raised
        bt.create(token, unless_exists=TokenExists),
        *list_writes(listed, [*living, token]),
        activity_write(CREATED, owner, token, moment),
    )
    return token


@bt.pattern("View API Tokens", index="Main table", sample=SAMPLE)
def view_api_tokens(owner: TokenOwner) -> Steps[list[ApiToken]]:
    """GetItem of the list, then BatchGetItem: the tokens that can be used, newest first."""
    _, living = yield from read_list(owner)
    return sorted(living, key=lambda token: token.created_at, reverse=True)


@bt.pattern("Revoke API Token", index="Main table", sample=SAMPLE)
def revoke_api_token(owner: TokenOwner, token_hash: Digest) -> Steps[ApiToken]:
    """One transaction: the token, the user's list of tokens, and an activity of the user."""
    listed, living = yield from read_list(owner)
    token = next((token for token in living if token.token_hash == token_hash), None)
    if token is None:
        raise UnknownToken
    yield from transact_once(
        *list_writes(listed, [other for other in living if other is not token]),
        activity_write(REVOKED, owner, token, (yield from bt.now())),
    )
    return token


@bt.pattern("Note Use of API Token", index="Main table")
def note_token_use(token_hash: Digest) -> Steps[None]:
    """For a token whose use is due to be noted, once an hour."""
    moment = (yield from bt.now()).replace(microsecond=0)
    yield from bt.update(ApiToken.key(token_hash), used_at=moment, if_exists=UnknownToken)


def delete_tokens_of(login: str) -> Steps[None]:
    """Deletes all tokens of a login, after its account has moved to another address."""
    listed = yield from bt.get(TokenList.key(login), consistent=True)
    if listed is not None:
        keys: list[bt.Key[Any]] = [ApiToken.key(token_hash) for token_hash in listed.token_hashes]
        yield from bt.delete_many([*keys, listed.own_key()])


def fetch_api_token(text: str) -> Steps[ApiToken]:
    """The token, unless it has expired; the caller checks it against the account."""
    token = yield from bt.get(
        ApiToken.key(hash_api_token(text)), missing=UnknownToken, consistent=True
    )
    if token.expires_at <= (yield from bt.now()):
        raise UnknownToken
    return token


def read_list(owner: TokenOwner) -> Steps[tuple[TokenList, list[ApiToken]]]:
    """A user's list of tokens, and the tokens in it that are still valid."""
    found = yield from bt.get(TokenList.key(owner.login), consistent=True)
    listed = found or TokenList(login=owner.login)
    keys = [ApiToken.key(token_hash) for token_hash in listed.token_hashes]
    tokens = (yield from bt.get_many(keys, consistent=True)) if keys else []
    moment = yield from bt.now()
    version = owner.password_version
    living = [
        token
        for token in tokens
        if token and token.expires_at > moment and token.password_version == version
    ]
    return listed, living


def list_writes(listed: TokenList, tokens: Sequence[ApiToken]) -> list[bt.Write[Any]]:
    """Writes the list with these tokens, and deletes the others it had: nothing would find them."""
    hashes = [token.token_hash for token in tokens]
    gone = [each for each in listed.token_hashes if each not in hashes]
    return [
        bt.put(listed.model_copy(update={"token_hashes": hashes})),
        *(bt.delete(ApiToken.key(each)) for each in gone),
    ]


def activity_write(
    kind: str, owner: TokenOwner, token: ApiToken, moment: datetime
) -> bt.Write[Any]:
    activity = catalog.UserActivity(
        user_id=owner.username,
        timestamp=moment.replace(microsecond=0),
        activity_id=f"{kind}-{token.token_hash[:16]}",
        activity_type=kind,
        details={"title": token.name},
    )
    return bt.create(activity, unless_exists=catalog.ActivityExists)
