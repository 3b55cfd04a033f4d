"""Members: somebody new, in both systems that have to know them, or in neither.

An account says who may sign in; a user of `deals` likes, watches and gets messages, and it is
there that a username is one person's alone. The two are made in one transaction, over both tables:
whoever finds the login or the name taken has made neither, and nothing that fails on the way
leaves a name that belongs to nobody.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from bigtime.model import Steps, Write, create, now, random_bytes, transact
from bigtime.systems.accounts.account import new_account
from bigtime.systems.accounts.design import Identity, Role
from bigtime.systems.accounts.errors import LoginTaken
from bigtime.systems.deals.errors import UsernameTaken
from bigtime.systems.deals.users import new_user


def join(
    login: str,
    password: str,
    username: str,
    *,
    name: str | None = None,
    roles: AbstractSet[Role] = frozenset({Role.SHOPPER}),
    tenant_id: str | None = None,
) -> Steps[Identity]:
    """Makes an account and its user; the login is an e-mail address, `name` what people see."""
    identity, writes = yield from joining(
        login, password, username, name=name, roles=roles, tenant_id=tenant_id
    )
    moment = yield from now()
    # With a token, an answer that was lost on the way is asked for again, and makes one member.
    token = (yield from random_bytes(16)).hex()
    yield from transact(*writes, token=token, at=moment)
    return identity


def joining(
    login: str,
    password: str,
    username: str,
    *,
    name: str | None = None,
    roles: AbstractSet[Role] = frozenset({Role.SHOPPER}),
    tenant_id: str | None = None,
) -> Steps[tuple[Identity, tuple[Write[Any], ...]]]:
    """The writes that make a member, for whoever does them together with something else."""
    account = yield from new_account(login, password, username, roles=roles, tenant_id=tenant_id)
    user = new_user(username, name=name, email=account.login)
    writes = (
        create(account, unless_exists=LoginTaken),
        create(user, unless_exists=UsernameTaken),
    )
    return account.identity, writes
