"""Members: a new account, with its user of `deals` and its customer of `shop`.

An account is a login; a user of `deals` likes, watches and gets messages, and its table keeps
usernames unique; a customer of `shop` has orders and addresses. The three are created in one
transaction: if the login or the name is taken, or anything fails, nothing is created, and no name
is left that belongs to nobody.

A customer may exist without an account, from an import or from demo data. Nobody else can sign up
under that name or that address, and so see what that customer has ordered.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from bigtime.model import Write, create, now, pattern, random_bytes, transact
from bigtime.systems import accounts, deals, shop
from bigtime.wire import Steps


@pattern(
    "Join",
    index="Main table",
    sample={"login": "alex@example.com", "password": "a long enough password"},
)
def join(
    login: accounts.Login,
    password: str,
    username: deals.Username,
    *,
    name: str | None = None,
    roles: AbstractSet[accounts.Role] = frozenset({accounts.Role.SHOPPER}),
    tenant_id: str | None = None,
) -> Steps[accounts.Identity]:
    """One transaction: an account, its user and its customer.

    The login is an e-mail address; `name` is the name to show.
    """
    identity, writes = yield from member_writes(
        login, password, username, name=name, roles=roles, tenant_id=tenant_id
    )
    moment = yield from now()
    # With a token, a retry after a lost response makes one member.
    token = (yield from random_bytes(16)).hex()
    yield from transact(*writes, token=token, at=moment)
    return identity


def member_writes(
    login: str,
    password: str,
    username: str,
    *,
    name: str | None = None,
    roles: AbstractSet[accounts.Role] = frozenset({accounts.Role.SHOPPER}),
    tenant_id: str | None = None,
) -> Steps[tuple[accounts.Identity, tuple[Write[Any], ...]]]:
    """The writes that create a member, for a transaction."""
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
