"""A repository lies between its issues and its stars: one query takes it with either."""

import bigtime as bt

GITHUB = bt.Table("GitHub", "PK", "SK", type_attribute="Type")


class Issue(bt.Entity, table=GITHUB):
    keys = bt.Keys(main=("REPO#{owner}#{repo}", "ISSUE#{number:08}"))
    owner: str
    repo: str
    number: int


class Repo(bt.Entity, table=GITHUB):
    keys = bt.Keys(main=("REPO#{owner}#{repo}", "REPO#{owner}#{repo}"))
    owner: str
    repo: str


class Star(bt.Entity, table=GITHUB):
    keys = bt.Keys(main=("REPO#{owner}#{repo}", "STAR#{username}"))
    owner: str
    repo: str
    username: str


book = {"owner": "alexdebrie", "repo": "dynamodb-book"}
everything = bt.partition(Repo, "main", **book)

with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("github", (GITHUB,))))
    store.run(bt.put_many([Repo(**book)]))
    store.run(bt.put_many(Issue(**book, number=number) for number in (1, 9, 10)))
    store.run(bt.put_many(Star(**book, username=name) for name in ("zoe", "ann")))

    newest = bt.collection(Issue, Repo, within=everything, newest_first=True, limit=3)
    print(*store.run(newest), sep="\n", end="\n\n")
    print(*store.run(bt.collection(Repo, Star, within=everything)), sep="\n")
