"""Only items that have the field are in the index: it is the filter, over all accounts."""

from datetime import date

from bigtime.model import Entity, Keys, System, Table, global_index, put_many, query, setup, update
from bigtime.store import open_store

BILLING = Table("Billing", "PK", indexes=[global_index("Overdue", "OverduePK", "OverdueSK")])


class Account(Entity, table=BILLING):
    keys = Keys(main="ACCOUNT#{name}", Overdue=("OVERDUE", "{overdue_since}#{name}"))
    name: str
    overdue_since: date | None = None


overdue = query(Account.within("Overdue"))

with open_store("memory:") as store:
    store.run(setup(System("billing", (BILLING,))))
    store.run(
        put_many(
            [
                Account(name="acme"),
                Account(name="hooli", overdue_since=date(2026, 3, 9)),
                Account(name="initech", overdue_since=date(2026, 2, 1)),
            ]
        )
    )
    print([account.name for account in store.run(overdue)])

    store.run(update(Account.key("acme"), overdue_since=date(2026, 3, 1)))
    store.run(update(Account.key("initech"), overdue_since=None))
    print([account.name for account in store.run(overdue)])
