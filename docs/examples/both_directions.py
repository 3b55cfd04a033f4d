"""Users from A to Z, fixes from the newest back, and the organisation at the start of both."""

from collections.abc import Iterable
from datetime import date

from bigtime.model import Entity, Keys, System, Table, collection, partition, put_many, setup
from bigtime.store import open_store

SAAS = Table("SaaS", "PK", "SK", type_attribute="Type")


class Fix(Entity, table=SAAS):
    keys = Keys(main=("ORG#{org}", "#FIX#{released}#{name}"))  # `#` sorts before every letter
    org: str
    released: date
    name: str


class Org(Entity, table=SAAS):
    keys = Keys(main=("ORG#{org}", "ORG#{org}"))
    org: str


class User(Entity, table=SAAS):
    keys = Keys(main=("ORG#{org}", "USER#{name}"))  # and U after O
    org: str
    name: str


def show(found: Iterable[Fix | Org | User]) -> None:
    print(", ".join(one.org if isinstance(one, Org) else one.name for one in found))


with open_store("memory:") as store:
    store.run(setup(System("saas", (SAAS,))))
    store.run(put_many([Org(org="ACME")]))
    store.run(put_many(User(org="ACME", name=name) for name in ("wile", "bugs", "tweety")))
    for day, name in enumerate(["anvil", "rocket", "paint"], 1):
        store.run(put_many([Fix(org="ACME", released=date(2026, 3, day), name=name)]))

    everything = partition(Org, "main", org="ACME")
    show(store.run(collection(Org, User, within=everything)))
    show(store.run(collection(Org, Fix, within=everything, newest_first=True)))
