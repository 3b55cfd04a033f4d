"""Pages join up whatever happens between them; a cursor shows nothing and cannot be forged."""

from datetime import UTC, datetime, timedelta

from bigtime.model import (
    CursorError,
    Cursors,
    Entity,
    Keys,
    Ksuid,
    System,
    Table,
    delete,
    put_many,
    query,
    setup,
)
from bigtime.store import open_store

SHOP = Table("Shop", "PK", "SK")
cursors = Cursors(["a secret of 16 bytes or more, kept where secrets are kept"])


class Order(Entity, table=SHOP):
    keys = Keys(main=("CUSTOMER#{username}", "ORDER#{order_id}"))
    username: str
    order_id: Ksuid
    what: str


def show_orders(username: str, cursor: str | None = None) -> str | None:
    """What an endpoint does: a cursor comes in, a page and the next cursor go out."""
    orders = query(
        Order.within("main", username=username),
        newest_first=True,
        limit=2,
        after=cursors.read(cursor),
    )
    page = store.run(orders)
    print([order.what for order in page])
    return cursors.write(page.position)


with open_store("memory:") as store:
    store.run(setup(System("shop", (SHOP,))))
    start = datetime(2026, 3, 10, tzinfo=UTC)
    orders = [
        Order(username="alex", order_id=Ksuid.make(start + timedelta(days=day)), what=what)
        for day, what in enumerate(["tea", "cups", "kettle", "spoons", "honey"])
    ]
    store.run(put_many(orders))

    second = show_orders("alex")
    store.run(delete(orders[3]))  # the order that the first page ended with
    show_orders("alex", show_orders("alex", second))

    for username, cursor in (("alex", f"{second}x"), ("bo", second)):
        try:
            show_orders(username, cursor)
        except CursorError as error:
            print(error)
