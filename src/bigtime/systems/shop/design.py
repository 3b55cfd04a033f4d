"""The shop's table: customers, and their orders, which lie before them in one partition.

`#ORDER#` sorts below `CUSTOMER#`, so that a query backwards brings the customer first and then
the orders, newest first, for an OrderId is a KSUID and sorts by time. In GSI1, `ITEM#` sorts below
`ORDER#`: there, backwards is the order and then its items.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic import StringConstraints as Text

from bigtime.model import (
    Amount,
    EmailAddress,
    Entity,
    Keys,
    Ksuid,
    Name,
    Seconds,
    Table,
    global_index,
    ksuid_or,
    one_line,
    pascal_case,
    unique,
)
from bigtime.systems.shop.errors import (
    EmailTaken,
    InvalidAddressName,
    InvalidCount,
    InvalidCustomerName,
    InvalidEmail,
    InvalidItem,
    InvalidOrderId,
    InvalidPrice,
    InvalidUsername,
)

MOST_ADDRESSES = 20
MOST_ITEMS = 99
"""A transaction has a hundred actions, and one of them is the order."""

MOST_PRICE = Decimal(1_000_000)
MOST_COUNT = 9_999


def in_cents(amount: Decimal) -> Decimal:
    """With two decimals, as money is read; DynamoDB drops a zero at the end."""
    return round(amount, 2)


def count_of(count: int) -> int:
    if not 1 <= count <= MOST_COUNT:
        raise InvalidCount
    return count


email_of = EmailAddress(InvalidEmail)
price_of = Amount(InvalidPrice, least=Decimal("0.01"), most=MOST_PRICE)
order_id_of = ksuid_or(InvalidOrderId)
USERNAME = Name(InvalidUsername, most=64, case=str.lower)
ADDRESS_NAME = Name(InvalidAddressName, most=40)

Username = Annotated[str, AfterValidator(USERNAME)]
Email = Annotated[str, AfterValidator(email_of)]
AddressName = Annotated[str, AfterValidator(ADDRESS_NAME)]
OrderId = Annotated[Ksuid, BeforeValidator(order_id_of)]
CustomerName = Annotated[
    str,
    AfterValidator(Name(InvalidCustomerName, most=100)),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 100}),
]
ItemId = Annotated[str, AfterValidator(Name(InvalidItem, most=64))]
Price = Annotated[Decimal, BeforeValidator(price_of)]
Total = Annotated[Decimal, AfterValidator(in_cents)]
Count = Annotated[int, AfterValidator(count_of)]
Line = Annotated[
    str, Text(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(one_line)
]
Title = Annotated[str, Text(strip_whitespace=True, min_length=1, max_length=200)]

ECOMMERCE = Table(
    "EcommerceTable",
    "PK",
    "SK",
    indexes=[global_index("GSI1", "GSI1PK", "GSI1SK")],
    naming=pascal_case,
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


class Customer(Entity, table=ECOMMERCE):
    """Somebody who orders; the addresses are few, and lie on the customer."""

    keys = Keys(main=("CUSTOMER#{username}", "CUSTOMER#{username}"))
    username: Username
    email: Email
    name: CustomerName
    addresses: Annotated[dict[AddressName, Address], Field(max_length=MOST_ADDRESSES)] = {}


class CustomerEmail(Entity, table=ECOMMERCE):
    """Whose an e-mail address is."""

    keys = Keys(main=("CUSTOMEREMAIL#{email}", "CUSTOMEREMAIL#{email}"))
    email: Email
    username: Username


EMAILS = unique(Customer, "email", marker=CustomerEmail, taken=EmailTaken)


class OrderStatus(StrEnum):
    PLACED = "PLACED"
    PICKED = "PICKED"
    SHIPPED = "SHIPPED"
    DELIVERED = "DELIVERED"
    CANCELLED = "CANCELLED"


class Order(Entity, table=ECOMMERCE):
    """What a customer has ordered at once. Its items are beside it, in GSI1."""

    keys = Keys(
        main=("CUSTOMER#{username}", "#ORDER#{order_id}"),
        GSI1=("ORDER#{order_id}", "ORDER#{order_id}"),
    )
    username: Username
    order_id: OrderId
    created_at: Annotated[datetime, Seconds] = Field(
        default_factory=lambda told: told["order_id"].at
    )
    status: OrderStatus = OrderStatus.PLACED
    item_count: int
    total: Total
    ship_to: Address | None = None


class OrderItem(Entity, table=ECOMMERCE):
    """So many of something, at the price it had then."""

    keys = Keys(
        main=("ORDER#{order_id}#ITEM#{item_id}", "ORDER#{order_id}#ITEM#{item_id}"),
        GSI1=("ORDER#{order_id}", "ITEM#{item_id}"),
    )
    order_id: OrderId
    item_id: ItemId
    title: Title | None = None
    price: Price
    count: Count
