"""Two filters that always come together, status and time, are one sort key."""

from datetime import UTC, datetime
from enum import StrEnum

import bigtime as bt

ORDERS = bt.Table(
    "Orders", "OrderId", indexes=[bt.global_index("ByStatus", "Customer", "StatusDate")]
)


class Status(StrEnum):
    CANCELLED = "CANCELLED"
    SHIPPED = "SHIPPED"


class Order(bt.Entity, table=ORDERS):
    keys = bt.Keys(main="{order_id}", ByStatus=("{customer}", "{status}#{ordered_at:seconds}"))
    order_id: str
    customer: str
    status: Status
    ordered_at: datetime


def day(month: int, day: int) -> datetime:
    return datetime(2019, month, day, tzinfo=UTC)


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("orders", (ORDERS,))))
    rows = [
        ("a", Status.CANCELLED, day(6, 30)),
        ("b", Status.CANCELLED, day(7, 1)),
        ("c", Status.SHIPPED, day(8, 1)),
        ("d", Status.CANCELLED, day(9, 30)),
        ("e", Status.CANCELLED, day(10, 2)),
    ]
    store.run(
        bt.put_many(
            Order(order_id=order_id, customer="2b5a41c0", status=status, ordered_at=at)
            for order_id, status, at in rows
        )
    )
    summer = Order.within(
        "ByStatus",
        customer="2b5a41c0",
        status=Status.CANCELLED,
        ordered_at=bt.model.between(day(7, 1), day(10, 1)),
    )
    for order in store.run(bt.query(summer)):
        print(order.order_id, order.status, order.ordered_at.date())
