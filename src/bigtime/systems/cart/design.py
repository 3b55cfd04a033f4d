"""The cart's table: a line for each product in each status, and a marker for each active one.

A line's sort key is its status, the time at which it entered that, and its SKU. So a status is a
stretch of the partition in the order of time, two products of one moment stay two, and to change
the status is to move the line to another key.

A product is in a cart once. A query cannot promise that to two who add at the same time, but a
key can: the marker `LINE#<ItemSKU>` comes and goes with the active line in one transaction, and
tells where the line lies. It has no attribute ItemSKU, and so is in no index.

`PURCHASE` is the account's last purchase. Every purchase writes it, on condition that it is the one
that was seen, so that of two purchases of one cart the second has to look again. One that is too
large for a transaction writes there what it buys, before it buys it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    computed_field,
    model_validator,
)

from bigtime.model import (
    Amount,
    Entity,
    ItemMismatch,
    Key,
    Keys,
    Ksuid,
    Millis,
    Name,
    Table,
    global_index,
    ksuid_or,
    pascal_case,
    sharded,
    unique,
)
from bigtime.systems.cart.errors import (
    CartChanged,
    InvalidAccount,
    InvalidCount,
    InvalidLine,
    InvalidOrderId,
    InvalidPrice,
    InvalidSku,
    OrderWithoutPurchase,
    PurchaseWithoutOrder,
)
from bigtime.systems.cart.sharding import SKU_SHARDS

MOST_PRICE = Decimal(1_000_000)
MOST_COUNT = 9_999
MOST_LINES = 1_000
"""In one purchase: a record of so many stays below 400 KB."""


class Status(StrEnum):
    ACTIVE = "ACTIVE"
    SAVED = "SAVED"
    PURCHASED = "PURCHASED"


# Fields


def count_of(count: int) -> int:
    if not 1 <= count <= MOST_COUNT:
        raise InvalidCount
    return count


price_of = Amount(InvalidPrice, least=Decimal("0.01"), most=MOST_PRICE)
order_id_of = ksuid_or(InvalidOrderId)
ACCOUNT = Name(InvalidAccount, most=128)
SKU = Name(InvalidSku, most=64)

AccountId = Annotated[str, AfterValidator(ACCOUNT)]
ItemSku = Annotated[str, AfterValidator(SKU)]
Price = Annotated[Decimal, BeforeValidator(price_of)]
Count = Annotated[
    int,
    AfterValidator(count_of),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_COUNT, "examples": [2]}),
]
OrderId = Annotated[Ksuid, BeforeValidator(order_id_of)]
Moment = Annotated[datetime, Millis]


# The table

SPELT: Mapping[str, str] = {
    "account_id": "AccountID",
    "item_sku": "ItemSKU",
    "sku": "SKU",
    "line_sk": "LineSK",
}


def stored_name(name: str) -> str:
    return SPELT.get(name) or pascal_case(name)


SORT_KEY = "SK"
LINE = "{status}#{entered_at:millis}#{item_sku}"
IS_SHARDED = SKU_SHARDS > 1

CART = Table(
    "CartTable",
    "AccountID",
    SORT_KEY,
    indexes=[global_index("GSI-SKU", "SKUShard" if IS_SHARDED else "ItemSKU", SORT_KEY)],
    naming=stored_name,
    stream="NEW_AND_OLD_IMAGES",
)


class CartLine(Entity, table=CART):
    """So many of a product, in a status since some time. Only a purchase gives it an OrderId."""

    keys = Keys(
        main=("{account_id}", LINE),
        **{"GSI-SKU": ("{item_sku}#{shard}" if IS_SHARDED else "{item_sku}", LINE)},
    )
    account_id: AccountId
    status: Status
    entered_at: Moment
    item_sku: ItemSku
    price: Price
    count: Count
    create_timestamp: Moment
    order_id: OrderId | None = None
    if IS_SHARDED:
        shard: int = sharded(SKU_SHARDS, by="account_id")

    @model_validator(mode="before")
    @classmethod
    def without_sort_key(cls, data: Any) -> Any:
        """So a line can be made again of all that it tells; its sort key follows from the rest."""
        if not isinstance(data, dict) or "sk" not in data:
            return data
        return {name: one for name, one in data.items() if name != "sk"}

    @model_validator(mode="after")
    def check_order(self) -> Self:
        if self.status is Status.PURCHASED and self.order_id is None:
            raise PurchaseWithoutOrder
        if self.status is not Status.PURCHASED and self.order_id is not None:
            raise OrderWithoutPurchase
        return self

    @computed_field  # type: ignore[prop-decorator]
    @property
    def sk(self) -> str:
        """What a line is called by, within its account."""
        return sort_key(self.own_key())

    def replace(self, **changed: Any) -> CartLine:
        """The same line with something changed, and checked as a new one is."""
        return CartLine(**{**self.__dict__, **changed})


def sort_key(key: Key[CartLine]) -> str:
    text: str = key.item[SORT_KEY]["S"]
    return text


def line_key(account_id: AccountId, sk: str) -> Key[CartLine]:
    """The key of a line from the text that it is called by."""
    try:
        return CartLine.key_of({"AccountID": {"S": ACCOUNT(account_id)}, SORT_KEY: {"S": sk}})
    except ItemMismatch:
        raise InvalidLine from None


def active_key(account_id: AccountId, item_sku: ItemSku, entered_at: datetime) -> Key[CartLine]:
    return CartLine.key(account_id, Status.ACTIVE, entered_at, item_sku)


def active_sort_key(fields: Mapping[str, Any]) -> str:
    return sort_key(active_key(fields["account_id"], fields["sku"], fields["entered_at"]))


class LineMarker(Entity, table=CART):
    """That a product is in a cart, and where its line lies."""

    keys = Keys(main=("{account_id}", "LINE#{sku}"))
    account_id: AccountId
    sku: ItemSku
    entered_at: Moment
    line_sk: str = Field(default_factory=active_sort_key)

    @property
    def line(self) -> Key[CartLine]:
        return active_key(self.account_id, self.sku, self.entered_at)


LINES = unique(
    CartLine,
    "account_id",
    "item_sku",
    marker=LineMarker,
    taken=CartChanged,
    by={"item_sku": "sku"},
    only={"status": Status.ACTIVE},
)


class Bought(BaseModel):
    """So many of a product, at a price."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item_sku: ItemSku
    price: Price
    count: Count
    create_timestamp: Moment


class Purchases(Entity, table=CART, version="version"):
    """The last purchase of an account. While it is going on, what it buys is written here."""

    keys = Keys(main=("{account_id}", "PURCHASE"))
    account_id: AccountId
    order_id: OrderId
    begun_at: Moment
    buying: Annotated[list[Bought], Field(max_length=MOST_LINES)] = []
    version: int | None = None

    @property
    def is_open(self) -> bool:
        return bool(self.buying)
