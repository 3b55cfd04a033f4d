"""Demo carts: each account has three products in the cart, one saved, and two purchased."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from bigtime import model as bt
from bigtime.systems.cart.design import LINES, CartLine, Purchases, Status

ACCOUNTS = {bt.Scale.SMALL: 40, bt.Scale.MEDIUM: 2_000, bt.Scale.LARGE: 50_000}
STATUSES = (*[Status.ACTIVE] * 3, Status.SAVED, *[Status.PURCHASED] * 2)
ENTITIES_EACH = len(STATUSES) + STATUSES.count(Status.ACTIVE) + 1
SPREAD_SECONDS = int(timedelta(days=14).total_seconds())
GOODS = (
    ("KETTLE-17", "39.90"), ("HEADPHONE-5", "349.00"), ("LAMP-LED-9", "24.50"),
    ("BAG-30L", "79.99"), ("MUG-BLUE", "9.95"), ("SSD-2TB", "129.00"), ("TENT-2P", "189.00"),
    ("CHAIR-ERGO", "259.00"), ("SHOE-RUN-42", "119.95"), ("MOUSE-W", "29.99"),
)  # fmt: skip


def entities(scale: bt.Scale, random: Random, until: datetime = bt.UNTIL) -> Iterator[bt.Entity]:
    """The first account is the site's demo user."""
    for number in range(ACCOUNTS[scale]):
        account_id = f"account-{number}" if number else "shopper"
        last = purchases_of(account_id, random, until)
        yield last
        for line in lines_of(last, random, until):
            yield line
            marker = LINES.marker_of(line.__dict__)
            if marker is not None:
                yield marker


def purchases_of(account_id: str, random: Random, until: datetime) -> Purchases:
    at = moment(random, until)
    order_id = bt.Ksuid.make(at, random.randbytes(16))
    return Purchases(account_id=account_id, order_id=order_id, begun_at=at, version=1)


def lines_of(last: Purchases, random: Random, until: datetime) -> Iterator[CartLine]:
    """A line for each product; the purchased ones have one time."""
    for status, (sku, price) in zip(STATUSES, random.sample(GOODS, len(STATUSES)), strict=True):
        is_bought = status is Status.PURCHASED
        at = last.begun_at if is_bought else moment(random, until)
        yield CartLine(
            account_id=last.account_id,
            status=status,
            entered_at=at,
            item_sku=sku,
            price=Decimal(price),
            count=random.randint(1, 3),
            create_timestamp=at - timedelta(seconds=random.randrange(3_600)),
            order_id=last.order_id if is_bought else None,
        )


def moment(random: Random, until: datetime) -> datetime:
    return until - timedelta(seconds=random.randrange(1, SPREAD_SECONDS))


DEMO = bt.Demo(entities=entities, count=lambda scale: ACCOUNTS[scale] * ENTITIES_EACH)
