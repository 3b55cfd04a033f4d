"""What processes do with one cart at the same time; they start faster with little to import."""

from __future__ import annotations

from decimal import Decimal

from bigtime.model import Ksuid
from bigtime.store import Store
from bigtime.systems.cart.line import put_in_cart
from bigtime.systems.cart.purchases import purchase


def add(store: Store, product: str, count: str) -> str:
    return store.run(put_in_cart("liz", product, Decimal("12.49"), int(count))).item_sku


def buy(store: Store, order: str) -> str:
    bought = store.run(purchase("liz", Ksuid(order)))
    return f"{len(bought)} of {bought[0].order_id}"
