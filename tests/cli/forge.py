"""A small system of which each tenant has its own part."""

from __future__ import annotations

import sys

import bigtime as bt

FORGE = bt.Table("Forge", "pk", "sk")


class Repo(bt.Entity, table=FORGE):
    keys = bt.Keys(main=("T#{tenant}", "REPO#{name}"))
    tenant: str = bt.model.tenant()
    name: str


@bt.pattern("Add a repository", index="Main table")
def add_repo(name: str) -> bt.Steps[None]:
    """Put."""
    yield from bt.put(Repo(name=name))


@bt.pattern("Repositories of a tenant", index="Main table")
def list_repos() -> bt.Steps[list[Repo]]:
    """Query."""
    return (yield from bt.all_of(Repo.within("main")))


SYSTEM = bt.System("forge", (FORGE,), (sys.modules[__name__],))
