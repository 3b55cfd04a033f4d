"""Parent and children share a partition: four access patterns, each one request."""

from bigtime.model import (
    Entity,
    Keys,
    System,
    Table,
    collection,
    get,
    partition,
    put_many,
    query,
    setup,
)
from bigtime.store import open_store

SAAS = Table("SaaS", "PK", "SK", type_attribute="Type")


class Org(Entity, table=SAAS):
    keys = Keys(main=("ORG#{org}", "ORG#{org}"))
    org: str
    plan: str


class User(Entity, table=SAAS):
    keys = Keys(main=("ORG#{org}", "USER#{name}"))
    org: str
    name: str


with open_store("memory:") as store:
    store.run(setup(System("saas", (SAAS,))))
    store.run(put_many([Org(org="ACME", plan="pro")]))
    store.run(put_many(User(org="ACME", name=name) for name in ("wile", "bugs")))

    print("the parent  ", store.run(get(Org.key("ACME"))))
    print("the children", *store.run(query(User.within("main", org="ACME"))))
    print("one child   ", store.run(get(User.key("ACME", "wile"))))
    everyone = partition(Org, "main", org="ACME")
    print("all of them ", *store.run(collection(Org, User, within=everyone)), sep="\n  ")
