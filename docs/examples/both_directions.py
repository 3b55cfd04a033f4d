"""Users from A to Z, fixes from the newest back, and the organisation at the start of both."""

from collections.abc import Iterable
from datetime import date

import bigtime as bt

SAAS = bt.Table("SaaS", "PK", "SK", type_attribute="Type")


class Fix(bt.Entity, table=SAAS):
    keys = bt.Keys(main=("ORG#{org}", "#FIX#{released}#{name}"))  # `#` sorts before every letter
    org: str
    released: date
    name: str


class Org(bt.Entity, table=SAAS):
    keys = bt.Keys(main=("ORG#{org}", "ORG#{org}"))
    org: str


class User(bt.Entity, table=SAAS):
    keys = bt.Keys(main=("ORG#{org}", "USER#{name}"))  # and U after O
    org: str
    name: str


def show(found: Iterable[Fix | Org | User]) -> None:
    print(", ".join(each.org if isinstance(each, Org) else each.name for each in found))


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("saas", (SAAS,))))
    store.run(bt.put_many([Org(org="ACME")]))
    store.run(bt.put_many(User(org="ACME", name=name) for name in ("wile", "bugs", "tweety")))
    for day, name in enumerate(["anvil", "rocket", "paint"], 1):
        store.run(bt.put_many([Fix(org="ACME", released=date(2026, 3, day), name=name)]))

    everything = bt.partition(Org, "main", org="ACME")
    show(store.run(bt.collection(Org, User, within=everything)))
    show(store.run(bt.collection(Org, Fix, within=everything, newest_first=True)))
