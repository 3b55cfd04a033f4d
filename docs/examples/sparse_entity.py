"""An index that one type of entity is in: scanning it meets nothing else."""

import bigtime as bt

DEALS = bt.Table("Deals", "PK", indexes=[bt.global_index("UserIndex", "UserIndex")])


class Deal(bt.Entity, table=DEALS):
    keys = bt.Keys(main="DEAL#{deal_id}")
    deal_id: str


class User(bt.Entity, table=DEALS):
    keys = bt.Keys(main="USER#{username}", UserIndex="USER#{username}")
    username: str


class Message(bt.Entity, table=DEALS):
    keys = bt.Keys(main="MESSAGE#{username}#{deal_id}")
    username: str
    deal_id: str


def announce(deal_id: str) -> bt.Steps[int]:
    """A message to every user, a page of users at a time; tells how many users there were."""

    def tell(users: bt.Page[User]) -> bt.Steps[None]:
        yield from bt.put_many(Message(username=user.username, deal_id=deal_id) for user in users)

    return (yield from bt.model.each_page(User, tell, index="UserIndex", segments=2))


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("deals", (DEALS,))))
    store.run(bt.put_many(Deal(deal_id=f"deal-{n}") for n in range(50)))
    store.run(bt.put_many(User(username=name) for name in ("ann", "bo", "cy")))
    print(store.run(announce("deal-7")), "users were told")
