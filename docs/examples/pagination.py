"""Pages join up whatever happens between them; a cursor shows nothing and cannot be forged."""

from datetime import UTC, datetime, timedelta

import bigtime as bt

SHOP = bt.Table("Shop", "PK", "SK")
cursors = bt.Cursors(["a secret of 16 bytes or more, kept where secrets are kept"])


class Order(bt.Entity, table=SHOP):
    keys = bt.Keys(main=("CUSTOMER#{username}", "ORDER#{order_id}"))
    username: str
    order_id: bt.Ksuid
    what: str


def show_orders(username: str, cursor: str | None = None) -> str | None:
    """What an endpoint does: a cursor comes in, a page and the next cursor go out."""
    orders = bt.query(
        Order.within("main", username=username),
        newest_first=True,
        limit=2,
        after=cursors.read(cursor),
    )
    page = store.run(orders)
    print([order.what for order in page])
    return cursors.write(page.position)


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("shop", (SHOP,))))
    start = datetime(2026, 3, 10, tzinfo=UTC)
    orders = [
        Order(username="alex", order_id=bt.Ksuid.make(start + timedelta(days=day)), what=what)
        for day, what in enumerate(["tea", "cups", "kettle", "spoons", "honey"])
    ]
    store.run(bt.put_many(orders))

    second = show_orders("alex")
    store.run(bt.delete(orders[3]))  # the order that the first page ended with
    show_orders("alex", show_orders("alex", second))

    for username, cursor in (("alex", f"{second}x"), ("bo", second)):
        try:
            show_orders(username, cursor)
        except bt.model.CursorError as error:
            print(error)
