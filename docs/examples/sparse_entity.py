"""An index that one type of entity is in: scanning it meets nothing else."""

from bigtime.model import (
    Entity,
    Keys,
    Page,
    System,
    Table,
    each_page,
    global_index,
    put_many,
    setup,
)
from bigtime.store import open_store
from bigtime.wire import Steps

DEALS = Table("Deals", "PK", indexes=[global_index("UserIndex", "UserIndex")])


class Deal(Entity, table=DEALS):
    keys = Keys(main="DEAL#{deal_id}")
    deal_id: str


class User(Entity, table=DEALS):
    keys = Keys(main="USER#{username}", UserIndex="USER#{username}")
    username: str


class Message(Entity, table=DEALS):
    keys = Keys(main="MESSAGE#{username}#{deal_id}")
    username: str
    deal_id: str


def announce(deal_id: str) -> Steps[int]:
    """A message to every user, a page of users at a time; tells how many users there were."""

    def tell(users: Page[User]) -> Steps[None]:
        yield from put_many(Message(username=one.username, deal_id=deal_id) for one in users)

    return (yield from each_page(User, tell, index="UserIndex", segments=2))


with open_store("memory:") as store:
    store.run(setup(System("deals", (DEALS,))))
    store.run(put_many(Deal(deal_id=f"deal-{n}") for n in range(50)))
    store.run(put_many(User(username=name) for name in ("ann", "bo", "cy")))
    print(store.run(announce("deal-7")), "users were told")
