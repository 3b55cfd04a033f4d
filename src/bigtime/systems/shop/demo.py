"""Demo customers and orders: each customer has two orders of three items, all within a month."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from bigtime import model as bt
from bigtime.systems.shop.design import Address, Customer, CustomerEmail, OrderStatus
from bigtime.systems.shop.order import OrderedItem, WholeOrder, new_order

CUSTOMERS = {bt.Scale.SMALL: 40, bt.Scale.MEDIUM: 2_000, bt.Scale.LARGE: 50_000}
ORDERS_EACH = 2
ITEMS_EACH = 3
ENTITIES_EACH = 2 + ORDERS_EACH * (1 + ITEMS_EACH)
SPREAD_SECONDS = int(timedelta(days=30).total_seconds())
FIRST = (
    "Ada", "Ben", "Chloe", "Dev", "Elif", "Femi", "Grace", "Hugo", "Ines", "Jonas", "Kamala",
    "Liam", "Mei", "Nadia", "Omar", "Priya", "Quinn", "Rosa", "Sven", "Thandi",
)  # fmt: skip
LAST = (
    "Abara", "Berg", "Costa", "Dlamini", "Evans", "Fischer", "Garcia", "Haddad", "Ito", "Jensen",
    "Khan", "Larsen", "Moyo", "Novak", "Okafor", "Patel", "Rossi", "Silva", "Tanaka", "Weber",
)  # fmt: skip
STREETS = ("Mill Lane", "High Street", "Oak Avenue", "Station Road", "Harbour View", "Long Street")
CITIES = (
    ("Omaha", "68102", "US"), ("Cape Town", "8001", "ZA"), ("Leeds", "LS1 4AP", "GB"),
    ("Lyon", "69002", "FR"), ("Graz", "8010", "AT"), ("Porto", "4000-069", "PT"),
)  # fmt: skip
GOODS = (
    ("KETTLE-17", "Gooseneck kettle 1.7 l", "39.90"), ("HEADPHONE-5", "Headphones", "349.00"),
    ("LAMP-LED-9", "Desk lamp", "24.50"), ("BAG-30L", "Backpack 30 l", "79.99"),
    ("MUG-BLUE", "Stoneware mug", "9.95"), ("SSD-2TB", "Solid state drive 2 TB", "129.00"),
    ("TENT-2P", "Tent for two", "189.00"), ("CHAIR-ERGO", "Office chair", "259.00"),
    ("SHOE-RUN-42", "Running shoes", "119.95"), ("MOUSE-W", "Wireless mouse", "29.99"),
)  # fmt: skip


def entities(scale: bt.Scale, random: Random, until: datetime = bt.UNTIL) -> Iterator[bt.Entity]:
    for number in range(CUSTOMERS[scale]):
        customer = customer_of(number, random)
        yield customer
        yield CustomerEmail(email=customer.email, username=customer.username)
        for _ in range(ORDERS_EACH):
            whole = order_of(customer, random, until)
            yield whole.order
            yield from whole.items


def customer_of(number: int, random: Random) -> Customer:
    """The first is the site's demo user."""
    first, last = random.choice(FIRST), random.choice(LAST)
    username = f"{first}.{last}{number}".lower() if number else "shopper"
    city, postal_code, country = random.choice(CITIES)
    home = Address(
        recipient=f"{first} {last}",
        street=f"{random.randrange(1, 200)} {random.choice(STREETS)}",
        city=city,
        postal_code=postal_code,
        country=country,
    )
    return Customer(
        username=username,
        email=f"{username}@example.com",
        name=f"{first} {last}",
        addresses={"home": home},
    )


def order_of(customer: Customer, random: Random, until: datetime) -> WholeOrder:
    at = until - timedelta(seconds=random.randrange(1, SPREAD_SECONDS))
    wanted = [
        OrderedItem(item_id=item_id, title=title, price=Decimal(price), count=random.randint(1, 3))
        for item_id, title, price in random.sample(GOODS, ITEMS_EACH)
    ]
    order_id = bt.Ksuid.make(at, random.randbytes(16))
    whole = new_order(customer.username, order_id, wanted, ship_to=customer.addresses["home"])
    status = random.choice(list(OrderStatus))
    return WholeOrder(whole.order.model_copy(update={"status": status}), whole.items)


DEMO = bt.Demo(entities=entities, count=lambda scale: CUSTOMERS[scale] * ENTITIES_EACH)
