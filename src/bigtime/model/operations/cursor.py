"""Cursors: positions that leave the program and come back.

A pattern is pure and knows no secret, so a page carries a plain `Position`, and cursors are
written and read at the edge, where requests are answered:

    page = store.run(latest_deals(after=cursors.read(asked.get("after"))))
    answer = {"items": page.items, "after": cursors.write(page.position)}

Neither check can be forgotten. Only `cursors.read` turns text into a position, and it refuses any
text that `cursors.write` did not produce; a query takes positions, not text, and refuses one of
another query by its fingerprint.

A cursor is base64url of a version, a tag and a sealed body. The tag is the HMAC-SHA256 of the
body; the seal is a key stream from SHAKE-256 of a key and the tag (the construction of SIV: the
tag is the nonce). It is sealed because a position names the last item that was examined, which
a filter may have hidden from the reader. The same position gives the same cursor, so that pages
can be cached by it.

The first secret writes cursors; every secret reads them. To rotate, put the new one in front, and
remove the old one when its cursors may expire.
"""

from __future__ import annotations

import hmac
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256, shake_256
from typing import Final, overload

from pydantic_core import from_json, to_json

from bigtime.model.errors import DesignError
from bigtime.model.operations.page import CursorError, Position

VERSION: Final = b"\x01"
TAG_BYTES: Final = 32
LEAST_SECRET_BYTES: Final = 16


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SigningSecret:
    """One secret, as two keys: one to sign with, one to seal with."""

    signing: bytes
    sealing: bytes

    def tag(self, body: bytes) -> bytes:
        return hmac.digest(self.signing, VERSION + body, sha256)

    def seal(self, tag: bytes, body: bytes) -> bytes:
        """Encrypts a body, or decrypts a sealed one: the operation is its own inverse."""
        stream = shake_256(self.sealing + tag).digest(len(body))
        return (int.from_bytes(body) ^ int.from_bytes(stream)).to_bytes(len(body))


class Cursors:
    """Converts positions to cursors, and cursors to positions."""

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Sequence[bytes | str]) -> None:
        if isinstance(secrets, (bytes, str)) or not secrets:
            raise DesignError("Cursors takes a list of secrets; the first one signs")
        self._secrets = [derive_key(secret) for secret in secrets]

    @overload
    def write(self, position: Position) -> str: ...
    @overload
    def write(self, position: None) -> None: ...
    @overload
    def write(self, position: Position | None) -> str | None: ...
    def write(self, position: Position | None) -> str | None:
        """The cursor for a position; None (no further page) stays None."""
        if position is None:
            return None
        body = pack(position)
        secret = self._secrets[0]
        tag = secret.tag(body)
        return in_base64(VERSION + tag + secret.seal(tag, body))

    @overload
    def read(self, cursor: str) -> Position: ...
    @overload
    def read(self, cursor: None) -> None: ...
    @overload
    def read(self, cursor: str | None) -> Position | None: ...
    def read(self, cursor: str | None) -> Position | None:
        """The position in a cursor, or a CursorError; None (the first page) stays None."""
        if cursor is None:
            return None
        token = from_base64(cursor)
        if not token.startswith(VERSION):
            raise CursorError()
        tag, sealed = token[1 : 1 + TAG_BYTES], token[1 + TAG_BYTES :]
        for secret in self._secrets:
            body = secret.seal(tag, sealed)
            if hmac.compare_digest(tag, secret.tag(body)):
                return unpack(body)
        raise CursorError()


def derive_key(secret: bytes | str) -> SigningSecret:
    key = secret.encode() if isinstance(secret, str) else secret
    if len(key) < LEAST_SECRET_BYTES:
        raise DesignError(
            f"a secret for cursors has at least {LEAST_SECRET_BYTES} bytes; take 32 random ones"
        )
    return SigningSecret(hmac.digest(key, b"sign", sha256), hmac.digest(key, b"seal", sha256))


def pack(position: Position) -> bytes:
    return zlib.compress(to_json([position.query, position.place]), 9)


def unpack(body: bytes) -> Position:
    query, place = from_json(zlib.decompress(body))
    return Position(query, place)


def in_base64(token: bytes) -> str:
    return urlsafe_b64encode(token).rstrip(b"=").decode()


def from_base64(text: str) -> bytes:
    """Decodes canonical base64url only, so that no cursor has two spellings."""
    try:
        token = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise CursorError() from None
    if in_base64(token) != text:
        raise CursorError()
    return token
