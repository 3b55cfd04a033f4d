"""The table's key is taken by one question; an index answers another."""

import bigtime as bt

DESK = bt.Table("HelpDesk", "PK", "SK", indexes=[bt.global_index("GSI1", "GSI1PK", "GSI1SK")])


class Ticket(bt.Entity, table=DESK):
    keys = bt.Keys(
        main=("ORG#{org}", "TICKET#{number:06}"),
        GSI1=("AGENT#{agent}", "TICKET#{number:06}"),
    )
    org: str
    number: int
    subject: str
    agent: str | None = None


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("desk", (DESK,))))
    store.run(
        bt.put_many(
            [
                Ticket(org="ACME", number=1, subject="No anvils", agent="daffy"),
                Ticket(org="ACME", number=2, subject="Late rocket"),
                Ticket(org="TOONS", number=3, subject="Flat road", agent="daffy"),
            ]
        )
    )
    acme = store.run(bt.query(Ticket.within("main", org="ACME")))
    print("ACME's tickets: ", [ticket.subject for ticket in acme])
    daffys = store.run(bt.query(Ticket.within("GSI1", agent="daffy"), newest_first=True))
    print("daffy's tickets:", [ticket.subject for ticket in daffys])
    print(store.run(bt.get(Ticket.key("ACME", 2))))
