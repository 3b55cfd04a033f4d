"""The cart's table: a line for each product in each status, and a marker for each active one.

A line's sort key is its status, the time at which it entered that status, and its SKU. So the lines
of a status are one range of the partition in order of time, two products of one moment have two
keys, and changing the status means moving the line to another key.

A product is in a cart once. A query cannot ensure that against two concurrent requests, but a key
can: the marker `LINE#<ItemSKU>` is written and deleted in one transaction with the active line, and
holds its key. It has no attribute ItemSKU, and so is in no index.

`PURCHASE` is the account's last purchase. Every purchase writes it, on condition that it is
unchanged, so that of two purchases of one cart the second has to read the cart again. One that is
too large for a transaction first writes there what it buys.
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

from bigtime import model as bt


class InvalidAccount(bt.RuleBroken):
    """An account ID has 1 to 128 printable characters, none of them `#`."""


class InvalidSku(bt.RuleBroken):
    """A SKU has 1 to 64 printable characters, none of them `#`."""


class InvalidPrice(bt.RuleBroken):
    """A price is more than 0 and at most 1,000,000, with at most two decimals."""


class InvalidCount(bt.RuleBroken):
    """The quantity must be 1 to 9,999; correct it, or remove the product."""


class InvalidOrderId(bt.RuleBroken):
    """An order ID has 27 letters and digits; copy all of it."""


class InvalidLine(bt.RuleBroken):
    """This is not the sort key of a line; copy it from the cart."""


class UnknownLine(bt.NotFound):
    """This product is no longer in your cart; review your cart."""


class InCartAgain(bt.RuleBroken):
    """This product is already back in your cart."""


class PurchasedStays(bt.RuleBroken):
    """A purchased line cannot be changed; add the product to your cart to buy it again."""


class NotPurchasedByMoving(bt.RuleBroken):
    """A line cannot be moved to PURCHASED; purchase the cart."""


class PurchaseWithoutOrder(bt.RuleBroken):
    """A PURCHASED line needs the OrderId of its purchase."""


class OrderWithoutPurchase(bt.RuleBroken):
    """Only a PURCHASED line has an OrderId; omit it."""


class EmptyCart(bt.RuleBroken):
    """Your cart is empty; add a product first."""


class CartTooLarge(bt.RuleBroken):
    """A purchase has at most 1,000 products; save some for later and purchase them separately."""


class CartChanged(bt.Conflict):
    """Your cart has changed; review it."""


SKU_SHARDS: int = 1
"""The number of partitions over which the index spreads the lines of one SKU.

One partition takes about a thousand writes a second, and the design assumes that no product is put
into more carts than that. If one is, set this before the first line is stored: the index then has
another key attribute, and the views query all partitions and merge.
"""

MOST_PRICE = Decimal(1_000_000)
MOST_COUNT = 9_999
MOST_LINES = 1_000
"""In one purchase: the `PURCHASE` item with this many stays below 400 KB."""


class Status(StrEnum):
    ACTIVE = "ACTIVE"
    SAVED = "SAVED"
    PURCHASED = "PURCHASED"


# Fields


def count_of(count: int) -> int:
    if not 1 <= count <= MOST_COUNT:
        raise InvalidCount
    return count


price_of = bt.Amount(InvalidPrice, least=Decimal("0.01"), most=MOST_PRICE)
order_id_of = bt.ksuid_or(InvalidOrderId)
ACCOUNT = bt.Name(InvalidAccount, most=128)
SKU = bt.Name(InvalidSku, most=64)

AccountId = Annotated[str, AfterValidator(ACCOUNT)]
ItemSku = Annotated[str, AfterValidator(SKU)]
Price = Annotated[Decimal, BeforeValidator(price_of)]
Count = Annotated[
    int,
    AfterValidator(count_of),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_COUNT, "examples": [2]}),
]
OrderId = Annotated[bt.Ksuid, BeforeValidator(order_id_of)]
Moment = Annotated[datetime, bt.Millis]


# The table

SPELT: Mapping[str, str] = {
    "account_id": "AccountID",
    "item_sku": "ItemSKU",
    "sku": "SKU",
    "line_sk": "LineSK",
}


def stored_name(name: str) -> str:
    return SPELT.get(name) or bt.pascal_case(name)


SORT_KEY = "SK"
LINE = "{status}#{entered_at:millis}#{item_sku}"
IS_SHARDED = SKU_SHARDS > 1

CART = bt.Table(
    "CartTable",
    "AccountID",
    SORT_KEY,
    indexes=[bt.global_index("GSI-SKU", "SKUShard" if IS_SHARDED else "ItemSKU", SORT_KEY)],
    naming=stored_name,
    stream="NEW_AND_OLD_IMAGES",
)


class CartLine(bt.Entity, table=CART):
    """A number of a product, in a status since a time. Only a purchase gives it an OrderId."""

    keys = bt.Keys(
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
        shard: int = bt.shard_field(SKU_SHARDS, by="account_id")

    @model_validator(mode="before")
    @classmethod
    def without_sort_key(cls, data: Any) -> Any:
        """Drops the computed sort key, so that a line can be validated from its own dump."""
        if not isinstance(data, dict) or "sk" not in data:
            return data
        return {name: value for name, value in data.items() if name != "sk"}

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
        """Its sort key, which identifies a line within its account."""
        return sort_key(self.own_key())

    def replace(self, **changed: object) -> CartLine:
        """The line with these fields changed, validated like a new one."""
        return CartLine(**{**self.__dict__, **changed})


def sort_key(key: bt.Key[CartLine]) -> str:
    text: str = key.item[SORT_KEY]["S"]
    return text


def line_key(account_id: AccountId, sk: str) -> bt.Key[CartLine]:
    """The key of the line with this sort key."""
    try:
        return CartLine.key_of({"AccountID": {"S": ACCOUNT(account_id)}, SORT_KEY: {"S": sk}})
    except bt.ItemMismatch:
        raise InvalidLine from None


def active_key(account_id: AccountId, item_sku: ItemSku, entered_at: datetime) -> bt.Key[CartLine]:
    return CartLine.key(account_id, Status.ACTIVE, entered_at, item_sku)


def active_sort_key(fields: Mapping[str, Any]) -> str:
    return sort_key(active_key(fields["account_id"], fields["sku"], fields["entered_at"]))


class LineMarker(bt.Entity, table=CART):
    """Marks that a product is in a cart, and holds the key of its line."""

    keys = bt.Keys(main=("{account_id}", "LINE#{sku}"))
    account_id: AccountId
    sku: ItemSku
    entered_at: Moment
    line_sk: str = Field(default_factory=active_sort_key)

    @property
    def line(self) -> bt.Key[CartLine]:
        return active_key(self.account_id, self.sku, self.entered_at)


LINES = bt.unique(
    CartLine,
    "account_id",
    "item_sku",
    marker=LineMarker,
    taken=CartChanged,
    by={"item_sku": "sku"},
    only={"status": Status.ACTIVE},
)


LAKES = (bt.lake(CartLine, name="cart_lines"),)


class Bought(BaseModel):
    """A number of a product, at a price."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item_sku: ItemSku
    price: Price
    count: Count
    create_timestamp: Moment


class Purchases(bt.Entity, table=CART, version="version"):
    """The last purchase of an account. While it is going on, what it buys is written here."""

    keys = bt.Keys(main=("{account_id}", "PURCHASE"))
    account_id: AccountId
    order_id: OrderId
    begun_at: Moment
    buying: Annotated[list[Bought], Field(max_length=MOST_LINES)] = []
    version: int | None = None

    @property
    def is_open(self) -> bool:
        return bool(self.buying)
