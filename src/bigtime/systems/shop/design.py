"""The shop's table: each customer is in one partition with its orders, which sort before it.

`#ORDER#` sorts before `CUSTOMER#`, so that a descending query returns the customer first and then
the orders, newest first, as an OrderId is a KSUID and sorts by time. In GSI1, `ITEM#` sorts before
`ORDER#`: there a descending query returns the order and then its items.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic import StringConstraints as Text

from bigtime import model as bt


class InvalidUsername(bt.RuleBroken):
    """A username has 1 to 64 printable characters, none of them `#`."""


class InvalidEmail(bt.RuleBroken):
    """This is not an e-mail address; enter one such as name@example.com."""


class InvalidCustomerName(bt.RuleBroken):
    """A name has 1 to 100 printable characters, none of them `#`."""


class UsernameTaken(bt.Clash):
    """This username is taken; choose another."""


class EmailTaken(bt.Clash):
    """An account with this e-mail address already exists; sign in, or use another address."""


class UnknownCustomer(bt.NotFound):
    """This customer does not exist; check the username, or sign up."""


class InvalidAddressName(bt.RuleBroken):
    """An address name has 1 to 40 printable characters, none of them `#`."""


class UnknownAddress(bt.NotFound):
    """You have no address with this name; check your addresses."""


class TooManyAddresses(bt.RuleBroken):
    """You can have at most 20 addresses; remove one first."""


class InvalidItem(bt.RuleBroken):
    """An item ID has 1 to 64 printable characters, none of them `#`."""


class InvalidPrice(bt.RuleBroken):
    """A price is more than 0 and at most 1,000,000, with at most two decimals."""


class InvalidCount(bt.RuleBroken):
    """The quantity must be 1 to 9,999; correct it."""


class EmptyOrder(bt.RuleBroken):
    """An order needs at least one item."""


class TooManyItems(bt.RuleBroken):
    """An order has at most 99 items; split it into two orders."""


class DuplicateItem(bt.RuleBroken):
    """An item is in this order twice; list it once with the total quantity."""


class InvalidOrderId(bt.RuleBroken):
    """An order ID has 27 letters and digits; copy all of it."""


class UnknownOrder(bt.NotFound):
    """There is no such order; check your orders."""


class OrderExists(bt.Clash):
    """An order with this ID already exists; check it, or order again with a new ID."""


class StatusOutOfOrder(bt.RuleBroken):
    """An order cannot move from its status to this one; choose a later status."""


class OrderMovedOn(bt.Clash):
    """This order's status has changed; review it."""


MOST_ADDRESSES = 20
MOST_ITEMS = 99
"""A transaction has a hundred actions, and one of them is the order."""

MOST_PRICE = Decimal(1_000_000)
MOST_COUNT = 9_999


def in_cents(amount: Decimal) -> Decimal:
    """The amount with two decimals, as DynamoDB drops trailing zeros."""
    return round(amount, 2)


def count_of(count: int) -> int:
    if not 1 <= count <= MOST_COUNT:
        raise InvalidCount
    return count


email_of = bt.EmailAddress(InvalidEmail)
price_of = bt.Amount(InvalidPrice, least=Decimal("0.01"), most=MOST_PRICE)
order_id_of = bt.ksuid_or(InvalidOrderId)
USERNAME = bt.Name(InvalidUsername, most=64, case=str.lower)
ADDRESS_NAME = bt.Name(InvalidAddressName, most=40)

Username = Annotated[str, AfterValidator(USERNAME)]
Email = Annotated[str, AfterValidator(email_of)]
AddressName = Annotated[str, AfterValidator(ADDRESS_NAME)]
OrderId = Annotated[bt.Ksuid, BeforeValidator(order_id_of)]
CustomerName = Annotated[
    str,
    AfterValidator(bt.Name(InvalidCustomerName, most=100)),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 100}),
]
ItemId = Annotated[str, AfterValidator(bt.Name(InvalidItem, most=64))]
Price = Annotated[Decimal, BeforeValidator(price_of)]
Total = Annotated[Decimal, AfterValidator(in_cents)]
Count = Annotated[int, AfterValidator(count_of)]
Line = Annotated[
    str, Text(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(bt.one_line)
]
Title = Annotated[str, Text(strip_whitespace=True, min_length=1, max_length=200)]

ECOMMERCE = bt.Table(
    "EcommerceTable",
    "PK",
    "SK",
    indexes=[bt.global_index("GSI1", "GSI1PK", "GSI1SK")],
    naming=bt.pascal_case,
    type_attribute="Type",
    stream="NEW_AND_OLD_IMAGES",
)


class Address(BaseModel):
    """Where something is sent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recipient: Line
    street: Line
    city: Line
    region: Line | None = None
    postal_code: Line
    country: Line


class Customer(bt.Entity, table=ECOMMERCE):
    """A customer; the addresses are few, and are stored in the customer's item."""

    keys = bt.Keys(main=("CUSTOMER#{username}", "CUSTOMER#{username}"))
    username: Username
    email: Email
    name: CustomerName
    addresses: Annotated[dict[AddressName, Address], Field(max_length=MOST_ADDRESSES)] = {}


class CustomerEmail(bt.Entity, table=ECOMMERCE):
    """The marker of an e-mail address, with the customer that has it."""

    keys = bt.Keys(main=("CUSTOMEREMAIL#{email}", "CUSTOMEREMAIL#{email}"))
    email: Email
    username: Username


EMAILS = bt.unique(Customer, "email", marker=CustomerEmail, taken=EmailTaken)


class OrderStatus(StrEnum):
    PLACED = "PLACED"
    PICKED = "PICKED"
    SHIPPED = "SHIPPED"
    DELIVERED = "DELIVERED"
    CANCELLED = "CANCELLED"


class Order(bt.Entity, table=ECOMMERCE):
    """An order; GSI1 lists its items beside it."""

    keys = bt.Keys(
        main=("CUSTOMER#{username}", "#ORDER#{order_id}"),
        GSI1=("ORDER#{order_id}", "ORDER#{order_id}"),
    )
    username: Username
    order_id: OrderId
    created_at: Annotated[datetime, bt.Seconds] = Field(
        default_factory=lambda fields: fields["order_id"].at
    )
    status: OrderStatus = OrderStatus.PLACED
    item_count: int
    total: Total
    ship_to: Address | None = None


class OrderItem(bt.Entity, table=ECOMMERCE):
    """A number of an item, at the price it had when it was ordered."""

    keys = bt.Keys(
        main=("ORDER#{order_id}#ITEM#{item_id}", "ORDER#{order_id}#ITEM#{item_id}"),
        GSI1=("ORDER#{order_id}", "ITEM#{item_id}"),
    )
    order_id: OrderId
    item_id: ItemId
    title: Title | None = None
    price: Price
    count: Count


LAKES = (
    bt.lake(Order, name="orders", without=("ship_to",)),
    bt.lake(OrderItem, name="order_items"),
)
