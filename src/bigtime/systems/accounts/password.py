"""Passwords: what may be one, and the hash that is stored of it.

Stored is an Argon2id hash (19 MiB, two passes), which takes some 30 ms: little for a sign-in, much
for an attack on a stolen table. The hash holds its own salt and parameters, so that old ones can
be verified when the parameters change, and replaced then.

Nothing is drawn here: the caller gives the salt, and a replay gives the same hash. A login without
an account is verified against `NOBODY`, which costs what any hash costs and matches nothing, so
that the time does not tell which logins exist.

A password is compared as people type it, not as their keyboards compose it (NFKC).
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from unicodedata import normalize

from pydantic import SecretStr

from bigtime import model as bt
from bigtime.extras import extra

with extra("site"):
    from argon2 import extract_parameters
    from argon2.exceptions import VerifyMismatchError
    from argon2.low_level import ARGON2_VERSION, Type, hash_secret, verify_secret

LEAST_CHARACTERS = 8
MOST_CHARACTERS = 256
SALT_BYTES = 16
HASH_BYTES = 32


class PasswordTooShort(bt.RuleBroken):
    """A password has at least 8 characters; make it longer."""


class PasswordTooLong(bt.RuleBroken):
    """A password has at most 256 characters; make it shorter."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a hash costs to make, and to guess."""

    memory_kib: int = 19 * 1024
    passes: int = 2
    lanes: int = 1


CURRENT = Cost()


def check_new(password: str) -> None:
    """Refuses what may not become a password."""
    if len(password) > MOST_CHARACTERS:
        raise PasswordTooLong
    if len(normalize_password(password)) < LEAST_CHARACTERS:
        raise PasswordTooShort


def normalize_password(password: str) -> str:
    return normalize("NFKC", password)


def secret_of(password: str) -> bytes:
    """The bytes to hash; text that is too long is cut after the first character too many."""
    return normalize_password(password[: MOST_CHARACTERS + 1]).encode(errors="surrogatepass")


def hash_password(password: str, salt: bytes, cost: Cost = CURRENT) -> str:
    return hash_secret(
        secret_of(password),
        salt,
        time_cost=cost.passes,
        memory_cost=cost.memory_kib,
        parallelism=cost.lanes,
        hash_len=HASH_BYTES,
        type=Type.ID,
    ).decode()


def is_match(password_hash: str, password: str) -> bool:
    """Whether a hash was made of this password; it takes equally long either way."""
    try:
        return verify_secret(password_hash.encode(), secret_of(password), Type.ID)
    except VerifyMismatchError:
        return False


def is_outdated(password_hash: str) -> bool:
    """Whether a hash was made at another cost than new ones are."""
    parameters = extract_parameters(password_hash)
    return Cost(parameters.memory_cost, parameters.time_cost, parameters.parallelism) != CURRENT


def encode_zeros(zeros: int) -> str:
    return b64encode(bytes(zeros)).decode().rstrip("=")


NOBODY = (
    f"$argon2id$v={ARGON2_VERSION}"
    f"$m={CURRENT.memory_kib},t={CURRENT.passes},p={CURRENT.lanes}"
    f"${encode_zeros(SALT_BYTES)}${encode_zeros(HASH_BYTES)}"
)
"""A hash of no password."""


def a_new_password(password: SecretStr) -> SecretStr:
    check_new(password.get_secret_value())
    return password
