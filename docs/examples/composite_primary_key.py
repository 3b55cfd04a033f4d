"""Parent and children share a partition: four access patterns, each one request."""

import bigtime as bt

SAAS = bt.Table("SaaS", "PK", "SK", type_attribute="Type")


class Org(bt.Entity, table=SAAS):
    keys = bt.Keys(main=("ORG#{org}", "ORG#{org}"))
    org: str
    plan: str


class User(bt.Entity, table=SAAS):
    keys = bt.Keys(main=("ORG#{org}", "USER#{name}"))
    org: str
    name: str


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("saas", (SAAS,))))
    store.run(bt.put_many([Org(org="ACME", plan="pro")]))
    store.run(bt.put_many(User(org="ACME", name=name) for name in ("wile", "bugs")))

    print("the parent  ", store.run(bt.get(Org.key("ACME"))))
    print("the children", *store.run(bt.query(User.within("main", org="ACME"))))
    print("one child   ", store.run(bt.get(User.key("ACME", "wile"))))
    everyone = bt.partition(Org, "main", org="ACME")
    print("all of them ", *store.run(bt.collection(Org, User, within=everyone)), sep="\n  ")
