"""A small system with every kind of parameter and result that can be typed and printed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, Field

from bigtime.model import (
    UNTIL,
    Change,
    Demo,
    DomainError,
    Entity,
    Keys,
    Page,
    Position,
    Scale,
    Secret,
    System,
    Table,
    add,
    attr,
    count,
    create,
    delete,
    get,
    get_many,
    pattern,
    query,
    reaction,
    together,
    update,
)
from bigtime.wire import Steps

ORDERS = Table("Orders", "pk", "sk", type_attribute="type", stream="NEW_AND_OLD_IMAGES")

Customer = Annotated[str, Field(pattern="^[a-z]+$", max_length=20, examples=["alex"])]


class Status(StrEnum):
    PLACED = "placed"
    SHIPPED = "shipped"


class UnknownOrder(DomainError):
    """There is no such order."""


class TooMany(DomainError):
    """This is more than we have."""


class Line(BaseModel):
    sku: str
    quantity: int = 1


@dataclass(frozen=True)
class Bounds:
    least: Decimal
    most: Decimal


class Judge:
    """Something that only Python has."""


class Order(Entity, table=ORDERS):
    keys = Keys(main=("CUSTOMER#{customer}", "ORDER#{number:06}"))
    customer: Customer
    number: int
    total: Decimal = Decimal(0)
    status: Status = Status.PLACED
    placed_at: datetime | None = None
    tags: set[str] = Field(default=set(), max_length=10)
    lines: list[Line] = Field(default=[], max_length=10)
    note: str | None = None
    card: Annotated[str | None, Secret] = None


class Placed(Entity, table=ORDERS):
    """How many orders a customer has placed, as the stream told."""

    keys = Keys(main=("PLACED#{customer}", "PLACED"))
    customer: Customer
    orders: int = 0


@dataclass(frozen=True)
class Overview:
    customer: str
    orders: int
    latest: Page[Order]
    best: Order | None


@pattern("Place Order", index="N/A")
def place_order(order: Order) -> Steps[Order]:
    """A new one."""
    return (yield from create(order))


@pattern("Read Order", index="Main table")
def read_order(customer: Customer, number: int) -> Steps[Order | None]:
    """GetItem on its key."""
    return (yield from get(Order.key(customer, number)))


@pattern("List Orders", index="Main table")
def list_orders(
    customer: Customer,
    *,
    newest_first: bool = False,
    limit: int = 2,
    since: datetime | None = None,
    after: Position | None = None,
) -> Steps[Page[Order]]:
    """Page by page."""
    dated = None if since is None else attr("placed_at") >= since
    return (
        yield from query(
            Order.within("main", customer=customer),
            newest_first=newest_first,
            limit=limit,
            filter=dated,
            after=after,
        )
    )


@pattern("Change Order's Status", index="Main table")
def change_status(customer: Customer, number: int, status: Status) -> Steps[Order]:
    return (yield from update(Order.key(customer, number), status=status, if_exists=UnknownOrder))


@pattern("Read Some Orders", index="Main table")
def read_orders(customer: Customer, numbers: Sequence[int]) -> Steps[list[Order]]:
    found = yield from get_many(Order.key(customer, number) for number in numbers)
    return [each for each in found if each is not None]


@pattern("Set Order's Lines", index="Main table")
def set_lines(
    customer: Customer, number: int, lines: list[Line], *, bounds: Bounds | None = None
) -> Steps[Order]:
    if bounds is not None and not bounds.least <= len(lines) <= bounds.most:
        raise TooMany
    return (yield from update(Order.key(customer, number), lines=lines))


@pattern("Forget Order", index="Main table")
def forget_order(customer: Customer, number: int) -> Steps[None]:
    yield from delete(Order.key(customer, number))


@pattern("View Customer", index="Main table")
def view_customer(customer: Customer) -> Steps[Overview]:
    latest = yield from list_orders(customer)
    number = yield from count(Order.within("main", customer=customer))
    return Overview(customer, number, latest, max(latest, key=total, default=None))


@pattern("View Both Ends", index="Main table")
def both_ends(customer: Customer) -> Steps[tuple[Page[Order], Page[Order]]]:
    return (yield from together(list_orders(customer), list_orders(customer, newest_first=True)))


@pattern("Read Number of Placed Orders", index="Main table")
def read_placed(customer: Customer) -> Steps[Placed | None]:
    return (yield from get(Placed.key(customer)))


@pattern("Count Orders", index="Main table")
def count_orders(customer: Customer) -> Steps[int]:
    return (yield from count(Order.within("main", customer=customer)))


@pattern("List Tags", index="Main table")
def list_tags(customer: Customer) -> Steps[list[str]]:
    page = yield from query(Order.within("main", customer=customer))
    return sorted({tag for order in page for tag in order.tags})


@pattern("Compare Orders", index="Main table", sample={"judge": None})
def compare_orders(customer: Customer, judge: Judge) -> Steps[int]:
    """It takes what nobody can type."""
    yield from query(Order.within("main", customer=customer))
    return 0


MOST = 1_000


def total(order: Order) -> Decimal:
    return order.total


@reaction(ORDERS, of=[Order])
def count_placed(change: Change[Any]) -> Steps[None]:
    """Counts a customer's orders; not one of somebody who buys too much."""
    order = change.of(Order)
    if order is not None and order.kind == "insert" and order.after is not None:
        if order.after.total > MOST:
            raise TooMany
        yield from add(Placed.key(order.after.customer), orders=1, upsert=True)


COUNTS = {Scale.SMALL: 30, Scale.MEDIUM: 3_000, Scale.LARGE: 30_000}
START = datetime(2026, 1, 1, tzinfo=UTC)


def entities(scale: Scale, random: Random, until: datetime = UNTIL) -> Iterator[Entity]:
    for number in range(COUNTS[scale]):
        yield Order(
            customer=random.choice(["alex", "blair"]),
            number=number,
            total=Decimal(random.randrange(100, 9_999)) / 100,
            placed_at=START + timedelta(minutes=number),
        )


SYSTEM = System(
    "orders",
    (ORDERS,),
    (sys.modules[__name__],),
    demo=Demo(entities, lambda scale: COUNTS[scale]),
)
