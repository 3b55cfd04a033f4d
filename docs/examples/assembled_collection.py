"""A repository lies between its issues and its stars: one query takes it with either."""

from bigtime.model import Entity, Keys, System, Table, collection, partition, put_many, setup
from bigtime.store import open_store

GITHUB = Table("GitHub", "PK", "SK", type_attribute="Type")


class Issue(Entity, table=GITHUB):
    keys = Keys(main=("REPO#{owner}#{repo}", "ISSUE#{number:08}"))
    owner: str
    repo: str
    number: int


class Repo(Entity, table=GITHUB):
    keys = Keys(main=("REPO#{owner}#{repo}", "REPO#{owner}#{repo}"))
    owner: str
    repo: str


class Star(Entity, table=GITHUB):
    keys = Keys(main=("REPO#{owner}#{repo}", "STAR#{username}"))
    owner: str
    repo: str
    username: str


book = {"owner": "alexdebrie", "repo": "dynamodb-book"}
everything = partition(Repo, "main", **book)

with open_store("memory:") as store:
    store.run(setup(System("github", (GITHUB,))))
    store.run(put_many([Repo(**book)]))
    store.run(put_many(Issue(**book, number=number) for number in (1, 9, 10)))
    store.run(put_many(Star(**book, username=name) for name in ("zoe", "ann")))

    newest = collection(Issue, Repo, within=everything, newest_first=True, limit=3)
    print(*store.run(newest), sep="\n", end="\n\n")
    print(*store.run(collection(Repo, Star, within=everything)), sep="\n")
