"""Members: somebody new, in the systems that have to know them, or in none.

An account says who may sign in; a user of `deals` likes, watches and gets messages, and it is
there that a username is one person's alone; a customer of `shop` has orders and addresses. The
three are made in one transaction, over their tables: whoever finds the login or the name taken has
made nothing, and nothing that fails on the way leaves a name that belongs to nobody.

A customer may be in the shop who has no account, from an import or from demo data. Nobody else can
sign up under that name or that address, and so come to see what that customer has ordered.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from bigtime.model import Write, create, now, random_bytes, transact
from bigtime.systems import accounts, deals, shop
from bigtime.wire import Steps


def join(
    login: str,
    password: str,
    username: str,
    *,
    name: str | None = None,
    roles: AbstractSet[accounts.Role] = frozenset({accounts.Role.SHOPPER}),
    tenant_id: str | None = None,
) -> Steps[accounts.Identity]:
    """Makes an account, its user and customer; the login is an e-mail address, `name` is shown."""
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
    roles: AbstractSet[accounts.Role] = frozenset({accounts.Role.SHOPPER}),
    tenant_id: str | None = None,
) -> Steps[tuple[accounts.Identity, tuple[Write[Any], ...]]]:
    """The writes that make a member, for whoever does them together with something else."""
    account = yield from accounts.new_account(
        login, password, username, roles=roles, tenant_id=tenant_id
    )
    user = deals.new_user(username, name=name, email=account.login)
    customer = shop.Customer(username=username, email=account.login, name=user.name)
    writes = (
        create(account, unless_exists=accounts.LoginTaken),
        create(user, unless_exists=deals.UsernameTaken),
        create(customer, unless_exists=deals.UsernameTaken),
    )
    return account.identity, writes
