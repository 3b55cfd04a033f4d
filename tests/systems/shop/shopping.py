"""Customers, addresses and orders for the tests of the shop."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from bigtime.model import Ksuid
from bigtime.systems.shop.customer import create_customer
from bigtime.systems.shop.design import Address, Customer, Order
from bigtime.systems.shop.order import OrderedItem, save_order
from tests.store.places import START, Place

HOME = Address(recipient="Al", street="1 Main St #5", city="Omaha", postal_code="1", country="US")


def order_id(number: int) -> Ksuid:
    """Ids of one after another."""
    return Ksuid.make(START + timedelta(minutes=number), number.to_bytes(16))


def items(count: int) -> list[OrderedItem]:
    return [
        OrderedItem(item_id=f"SKU-{number:03}", price=Decimal("1.25"), count=2)
        for number in range(count)
    ]


def signed_up(place: Place, username: str = "alex") -> Customer:
    return place.run(create_customer(username, f"{username}@example.com", username.title()))


def place_orders(place: Place, count: int, username: str = "alex") -> list[Order]:
    """So many orders, the newest first."""
    orders = [
        place.run(save_order(username, order_id(number), items(1))) for number in range(count)
    ]
    return orders[::-1]
