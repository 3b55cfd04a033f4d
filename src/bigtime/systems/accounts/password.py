"""Passwords: which ones are accepted, and the hash that is stored.

What is stored is an Argon2id hash (19 MiB, two passes), which takes some 30 ms: little for a
sign-in, much for an attack on a stolen table. The hash holds its own salt and parameters, so that
hashes with older parameters can still be verified, and are then replaced.

This module draws no randomness: the caller passes the salt, so a replay produces the same hash. A
login without an account is verified against `NOBODY`, which costs as much as any hash and matches
nothing, so that the response time does not reveal which logins exist.

Passwords are normalised (NFKC), so that it does not matter how a keyboard composes characters.

New passwords are judged by zxcvbn, which knows common passwords, names, dates and keyboard walks.
It gives a score from 0 to 4; at 3 an attacker who has the hash needs 10^8 guesses or more.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
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
MOST_JUDGED = 40
"""Characters that zxcvbn judges: its time grows with their square, and 40 are enough."""
LEAST_SCORE = 3
ADVICE = "Add another word or two."
SALT_BYTES = 16
HASH_BYTES = 32


class PasswordTooShort(bt.RuleBroken):
    """A password needs at least 8 characters."""


class PasswordTooLong(bt.RuleBroken):
    """A password has at most 256 characters."""


class PasswordTooWeak(bt.RuleBroken):
    """This password is easy to guess."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The Argon2id parameters: the cost of one hash, and so of one guess."""

    memory_kib: int = 19 * 1024
    passes: int = 2
    lanes: int = 1


CURRENT = Cost()


def check_new(password: str, *about: str) -> None:
    """Raises an error unless this may become the password of the account with these names."""
    check_length(password)
    # Imported here: its word lists take as long to load as the rest of a small program.
    with extra("site"):
        from zxcvbn import zxcvbn
    judged = normalize_password(password)[:MOST_JUDGED]
    found = zxcvbn(judged, user_inputs=[word for name in about for word in words_in(name)])
    if found["score"] < LEAST_SCORE:
        raise PasswordTooWeak(weakness(found["feedback"]))


def check_length(password: str) -> None:
    if len(password) > MOST_CHARACTERS:
        raise PasswordTooLong
    if len(normalize_password(password)) < LEAST_CHARACTERS:
        raise PasswordTooShort


def words_in(name: str) -> list[str]:
    """A login or username, and its parts, as an attacker would try them."""
    return [name, *re.findall(r"\w+", name)]


def weakness(feedback: Mapping[str, Any]) -> str:
    """What zxcvbn says about a password, as sentences."""
    said = (feedback["warning"], *feedback["suggestions"])
    sentences = [f"{text.rstrip('.')}." for text in said if text]
    return " ".join(["This password is easy to guess.", *(sentences or [ADVICE])])


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
    """Whether a hash is this password's, in the same time either way."""
    try:
        return verify_secret(password_hash.encode(), secret_of(password), Type.ID)
    except VerifyMismatchError:
        return False


def is_outdated(password_hash: str) -> bool:
    """Whether a hash has other parameters than new ones get."""
    parameters = extract_parameters(password_hash)
    return Cost(parameters.memory_cost, parameters.time_cost, parameters.parallelism) != CURRENT


def encode_zeros(zeros: int) -> str:
    return b64encode(bytes(zeros)).decode().rstrip("=")


NOBODY = (
    f"$argon2id$v={ARGON2_VERSION}"
    f"$m={CURRENT.memory_kib},t={CURRENT.passes},p={CURRENT.lanes}"
    f"${encode_zeros(SALT_BYTES)}${encode_zeros(HASH_BYTES)}"
)
"""A hash that no password matches."""


def a_new_password(password: SecretStr) -> SecretStr:
    """A form field: only the length is checked here, as the rest needs the account's names."""
    check_length(password.get_secret_value())
    return password
