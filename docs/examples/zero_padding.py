"""As text, 10 sorts before 9; padded it does not, and a key that would missort is refused."""

import bigtime as bt

JIRA = bt.Table("Jira", "PK", "SK")

try:

    class Unpadded(bt.Entity, table=JIRA):
        keys = bt.Keys(main=("PROJECT#{project}", "ISSUE#{number}"))
        project: str
        number: int

except bt.model.DesignError as error:
    print(f"{error}\n")


class Issue(bt.Entity, table=JIRA):
    keys = bt.Keys(main=("PROJECT#{project}", "ISSUE#{number:04}"))
    project: str
    number: int


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("jira", (JIRA,))))
    store.run(bt.put_many(Issue(project="big", number=number) for number in (1, 2, 9, 10, 100)))
    some = bt.query(Issue.within("main", project="big", number=bt.model.between(2, 10)))
    print([issue.number for issue in store.run(some)], "\n")
    try:
        store.run(bt.put(Issue(project="big", number=10_000)))
    except bt.model.ValueRefused as error:
        print(error)
