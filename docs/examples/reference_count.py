"""A count on the parent changes in the transaction that adds a child or takes it away."""

from bigtime.model import (
    Entity,
    ItemExists,
    Keys,
    System,
    Table,
    counted,
    create,
    delete,
    get,
    repair,
    setup,
    verify,
)
from bigtime.store import open_store
from bigtime.wire import Request

GITHUB = Table("GitHub", "PK", "SK", type_attribute="Type")


class Repo(Entity, table=GITHUB):
    keys = Keys(main=("REPO#{repo}", "REPO#{repo}"))
    repo: str
    star_count: int = 0


class Star(Entity, table=GITHUB):
    keys = Keys(main=("REPO#{repo}", "STAR#{username}"))
    repo: str
    username: str


STARS = counted(Star, Repo, "star_count")
SYSTEM = System("github", (GITHUB,))

with open_store("memory:") as store:
    store.run(setup(SYSTEM))
    store.run(create(Repo(repo="bigtime")))
    for username in ("ann", "bo", "ann"):
        try:
            store.run(create(Star(repo="bigtime", username=username)))
        except ItemExists:
            print(f"{username} has starred it already")
    store.run(delete(Star.key("bigtime", "bo")))
    print(store.run(get(Repo.key("bigtime"))))

    # Somebody goes behind the application's back; verify finds it, repair mends it.
    key = Star.key("bigtime", "ann").item
    store.send(Request("DeleteItem", {"TableName": "GitHub", "Key": key}))
    for violation in store.run(verify(SYSTEM)):
        print(violation.sentence)
        store.run(repair(violation))
    print(store.run(get(Repo.key("bigtime"))))
