"""The table's key is taken by one question; an index answers another."""

from bigtime.model import Entity, Keys, System, Table, get, global_index, put_many, query, setup
from bigtime.store import open_store

DESK = Table("HelpDesk", "PK", "SK", indexes=[global_index("GSI1", "GSI1PK", "GSI1SK")])


class Ticket(Entity, table=DESK):
    keys = Keys(
        main=("ORG#{org}", "TICKET#{number:06}"),
        GSI1=("AGENT#{agent}", "TICKET#{number:06}"),
    )
    org: str
    number: int
    subject: str
    agent: str | None = None


with open_store("memory:") as store:
    store.run(setup(System("desk", (DESK,))))
    store.run(
        put_many(
            [
                Ticket(org="ACME", number=1, subject="No anvils", agent="daffy"),
                Ticket(org="ACME", number=2, subject="Late rocket"),
                Ticket(org="TOONS", number=3, subject="Flat road", agent="daffy"),
            ]
        )
    )
    acme = store.run(query(Ticket.within("main", org="ACME")))
    print("ACME's tickets: ", [ticket.subject for ticket in acme])
    daffys = store.run(query(Ticket.within("GSI1", agent="daffy"), newest_first=True))
    print("daffy's tickets:", [ticket.subject for ticket in daffys])
    print(store.run(get(Ticket.key("ACME", 2))))
