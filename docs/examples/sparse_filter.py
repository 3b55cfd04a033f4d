"""Only items that have the field are in the index: it is the filter, over all accounts."""

from datetime import date

import bigtime as bt

BILLING = bt.Table("Billing", "PK", indexes=[bt.global_index("Overdue", "OverduePK", "OverdueSK")])


class Account(bt.Entity, table=BILLING):
    keys = bt.Keys(main="ACCOUNT#{name}", Overdue=("OVERDUE", "{overdue_since}#{name}"))
    name: str
    overdue_since: date | None = None


overdue = bt.query(Account.within("Overdue"))

with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("billing", (BILLING,))))
    store.run(
        bt.put_many(
            [
                Account(name="acme"),
                Account(name="hooli", overdue_since=date(2026, 3, 9)),
                Account(name="initech", overdue_since=date(2026, 2, 1)),
            ]
        )
    )
    print([account.name for account in store.run(overdue)])

    store.run(bt.update(Account.key("acme"), overdue_since=date(2026, 3, 1)))
    store.run(bt.update(Account.key("initech"), overdue_since=None))
    print([account.name for account in store.run(overdue)])
