"""Tenants: checked at declaration, bound once for a store, refused elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import (
    DesignError,
    Entity,
    Keys,
    Steps,
    Table,
    ValueRefused,
    WrongTenant,
    all_of,
    delete,
    delete_many,
    get,
    get_many,
    get_together,
    global_index,
    partition,
    put,
    put_many,
    query,
    scan,
    setup,
    together,
    transact,
    update,
)
from bigtime.model import tenant as tenant_of
from bigtime.store import AsyncStore, Store

FORGE = Table("Forge", "PK", "SK", indexes=[global_index("GSI1", "GSI1PK", "GSI1SK")])


class Org(Entity, table=FORGE):
    keys = Keys(main=("T#{tenant}", "ORG"))
    tenant: str = tenant_of()


class Repo(Entity, table=FORGE):
    keys = Keys(main=("T#{tenant}#REPO#{name}", "REPO"), GSI1=("T#{tenant}#REPOS", "REPO#{name}"))
    tenant: str = tenant_of()
    name: str
    stars: int = 0


@pytest.fixture
def store(engine: Engine) -> Store:
    store = Store(engine)
    store.run(setup(FORGE))
    return store


def work() -> Steps[list[Repo]]:
    """Nothing here says which tenant it is."""
    yield from put_many([Repo(name="a"), Repo(name="b")])
    yield from transact(put(Repo(name="c")), put(Org()))
    yield from update(Repo.key("a"), stars=1)
    yield from together(get(Repo.key("a")), get(Repo.key(name="b")))
    assert (yield from get_many([Repo.key("c")])) == [Repo(name="c")]
    yield from all_of(partition(Repo, "GSI1"))
    return (yield from all_of(Repo.within("GSI1")))


def test_a_bound_store_fills_the_tenant(store: Store) -> None:
    acme, other = store.for_tenant("acme"), store.for_tenant("other")
    for bound, name in ((acme, "acme"), (other, "other")):
        repos = bound.run(work())
        assert [(repo.tenant, repo.name) for repo in repos] == [(name, each) for each in "abc"]
    assert store.run(get(Repo.key("acme", "a"))) == Repo(tenant="acme", name="a", stars=1)


def test_an_async_store_is_bound_too(engine: Engine) -> None:
    async def run() -> None:
        store = AsyncStore(engine)
        await store.run(setup(FORGE))
        bound = store.for_tenant("acme"), store.for_tenant("other")
        first, second = await asyncio.gather(*(each.run(work()) for each in bound))
        assert {each.tenant for each in first} == {"acme"}
        assert {each.tenant for each in second} == {"other"}

    asyncio.run(run())


REPO = Repo(tenant="other", name="x")
KEY = REPO.own_key()
FOREIGN: dict[str, Callable[[], Any]] = {
    "get": lambda: get(KEY),
    "get_many": lambda: get_many([KEY]),
    "get_together": lambda: get_together(KEY),
    "put": lambda: put(REPO),
    "put_many": lambda: put_many([REPO]),
    "update": lambda: update(KEY, stars=1),
    "delete": lambda: delete(KEY),
    "delete_many": lambda: delete_many([KEY]),
    "transact": lambda: transact(put(REPO)),
    "query": lambda: query(Repo.within("main", tenant="other", name="x")),
    "index": lambda: query(Repo.within("GSI1", tenant="other")),
    "scan": lambda: scan(Repo),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_another_tenant_is_refused(store: Store, name: str) -> None:
    store.run(put(REPO))
    store.run(FOREIGN[name]())
    sent: list[Any] = []
    bound = Store(store.transport, hooks=[sent.append], tenant="acme")
    with pytest.raises(WrongTenant):
        bound.run(FOREIGN[name]())
    assert sent == []


def test_a_store_is_bound_once(store: Store) -> None:
    with pytest.raises(ValueError, match="bound to tenant 'acme', not to 'other'"):
        store.for_tenant("acme").for_tenant("other")


def test_a_tenant_never_looks_like_another(store: Store) -> None:
    """IAM lets tenant `a` at `T#a` and at what begins with `T#a#`."""
    assert Org.key("a").item["PK"] == {"S": "T#a"}
    assert not Org.key("a#REPO#b").item["PK"]["S"].startswith("T#a#")


def test_without_a_tenant_one_has_to_be_given() -> None:
    with pytest.raises(ValueRefused, match="no tenant is bound here"):
        Repo(name="a")
    with pytest.raises(TypeError, match=r"Repo.key also needs tenant"):
        Repo.key(name="a")


@pytest.mark.parametrize("text", ["REPO#{name}#T#{tenant}", "REPO#{name}", "T#{tenant:plain}"])
def test_every_partition_key_begins_with_the_tenant(text: str) -> None:
    with pytest.raises(DesignError):

        class Bad(Entity, table=Table("BadTenants", "PK", "SK")):
            keys = Keys(main=(text, "REPO#{name}"))
            tenant: str = tenant_of()
            name: str
