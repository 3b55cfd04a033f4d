"""Demo accounts: one of each role, with passwords that the loader gives or that are drawn.

A hash takes 30 ms, so they are three, whatever the scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from random import Random

from bigtime.model import UNTIL, Demo, Scale
from bigtime.systems.accounts.design import Account, Role
from bigtime.systems.accounts.password import SALT_BYTES, hash_password

ROLES: Mapping[str, frozenset[Role]] = {
    "shopper": frozenset({Role.SHOPPER}),
    "editor": frozenset({Role.SHOPPER, Role.EDITOR}),
    "admin": frozenset(Role),
}
WORDS = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "indigo", "jasper",
    "kelp", "linden", "maple", "north", "opal", "pebble", "quartz", "river", "slate", "tundra",
)  # fmt: skip


def login_of(username: str) -> str:
    return f"{username}@example.com"


def drawn_passwords(random: Random) -> dict[str, str]:
    """A password for each demo username; the same ones that `DEMO` draws from the same seed."""
    return {name: "-".join(random.choices(WORDS, k=4)) for name in ROLES}


def demo_accounts(
    passwords: Mapping[str, str], random: Random, made_at: datetime = UNTIL
) -> Iterator[Account]:
    for username, roles in ROLES.items():
        yield Account(
            login=login_of(username),
            password_hash=hash_password(passwords[username], random.randbytes(SALT_BYTES)),
            username=username,
            roles=set(roles),
            created_at=made_at,
            changed_at=made_at,
        )


def accounts(scale: Scale, random: Random, until: datetime = UNTIL) -> Iterator[Account]:
    yield from demo_accounts(drawn_passwords(random), random, until)


def sign_ins(random: Random) -> Iterator[str]:
    for username, password in drawn_passwords(random).items():
        yield f"{login_of(username)} signs in with {password}"


DEMO = Demo(entities=accounts, count=lambda scale: len(ROLES), notes=sign_ins)
