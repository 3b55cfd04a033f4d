"""A count on the parent changes in the transaction that adds a child or takes it away."""

import bigtime as bt

GITHUB = bt.Table("GitHub", "PK", "SK", type_attribute="Type")


class Repo(bt.Entity, table=GITHUB):
    keys = bt.Keys(main=("REPO#{repo}", "REPO#{repo}"))
    repo: str
    star_count: int = 0


class Star(bt.Entity, table=GITHUB):
    keys = bt.Keys(main=("REPO#{repo}", "STAR#{username}"))
    repo: str
    username: str


STARS = bt.reference_count(Star, Repo, "star_count")
SYSTEM = bt.System("github", (GITHUB,))

with bt.open_store("memory:") as store:
    store.run(bt.setup(SYSTEM))
    store.run(bt.create(Repo(repo="bigtime")))
    for username in ("ann", "bo", "ann"):
        try:
            store.run(bt.create(Star(repo="bigtime", username=username)))
        except bt.model.ItemExists:
            print(f"{username} has starred it already")
    store.run(bt.delete(Star.key("bigtime", "bo")))
    print(store.run(bt.get(Repo.key("bigtime"))))

    # A write past the application breaks the count; verify finds it, repair corrects it.
    key = Star.key("bigtime", "ann").item
    store.send(bt.Request("DeleteItem", {"TableName": "GitHub", "Key": key}))
    for violation in store.run(bt.verify(SYSTEM)):
        print(violation.sentence)
        store.run(bt.repair(violation))
    print(store.run(bt.get(Repo.key("bigtime"))))
