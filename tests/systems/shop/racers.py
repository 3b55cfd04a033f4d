"""Races of processes: customers and orders. Nothing is imported here that a racer does not need."""

from __future__ import annotations

from decimal import Decimal

from bigtime.model import Ksuid
from bigtime.store import Store
from bigtime.systems.shop.customer import create_customer
from bigtime.systems.shop.order import OrderedItem, order_id_for, save_order


def sign_up(store: Store, username: str, email: str) -> str:
    return store.run(create_customer(username, email, "Somebody")).username


def order_with(store: Store, key: str, first: str) -> str:
    """Two customers of one key would be two; here one customer sends a page twice."""
    skus = [first, *(f"SKU-{number}" for number in range(3))]
    wanted = [OrderedItem(item_id=sku, price=Decimal(1)) for sku in skus]
    return store.run(save_order("alex", order_id_for("alex", Ksuid(key)), wanted)).order_id
