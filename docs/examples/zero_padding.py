"""As text, 10 sorts before 9; padded it does not, and a key that would missort is refused."""

from bigtime.model import (
    DesignError,
    Entity,
    Keys,
    System,
    Table,
    ValueRefused,
    between,
    put,
    put_many,
    query,
    setup,
)
from bigtime.store import open_store

JIRA = Table("Jira", "PK", "SK")

try:

    class Unpadded(Entity, table=JIRA):
        keys = Keys(main=("PROJECT#{project}", "ISSUE#{number}"))
        project: str
        number: int

except DesignError as error:
    print(f"{error}\n")


class Issue(Entity, table=JIRA):
    keys = Keys(main=("PROJECT#{project}", "ISSUE#{number:04}"))
    project: str
    number: int


with open_store("memory:") as store:
    store.run(setup(System("jira", (JIRA,))))
    store.run(put_many(Issue(project="big", number=number) for number in (1, 2, 9, 10, 100)))
    some = query(Issue.within("main", project="big", number=between(2, 10)))
    print([issue.number for issue in store.run(some)], "\n")
    try:
        store.run(put(Issue(project="big", number=10_000)))
    except ValueRefused as error:
        print(error)
