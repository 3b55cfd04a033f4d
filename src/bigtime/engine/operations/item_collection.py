"""Item collections: all items of one partition of a table that has local indexes.

Their total size, with what the local indexes show of them, may not pass 10 GB. It is kept in
`c<n>`, a row per partition, so that neither the limit nor the metrics need to add anything up.
An item may not pass 400 KB together with its own entries in the local indexes. (AWS:
Constraints.html, "Item size for tables with local secondary indexes")
"""

from __future__ import annotations

from bigtime.engine.operations.write import PUT_TOO_LARGE, UPDATE_TOO_LARGE, Plan, collection_bytes
from bigtime.engine.storage import Database, Transaction
from bigtime.wire import (
    MAX_ITEM_BYTES,
    ItemCollectionSizeLimitExceededException,
    Response,
    ValidationException,
)

GIB = 1024**3


class Room:
    """The room that is left in the item collections that one request writes to."""

    __slots__ = ("growths", "limit", "transaction")

    def __init__(self, database: Database, transaction: Transaction) -> None:
        self.limit = database.collection_limit
        self.transaction = transaction
        self.growths: dict[tuple[int, bytes], int] = {}

    def admit(self, plan: Plan) -> None:
        """Refuses a write that makes its item, or its collection, too large."""
        if not plan.write.table.collections:
            return
        check_item_with_entries(plan)
        collection = plan.write.table.number, plan.write.partition
        growth = plan.collection_growth
        total = growth + self.growths.get(collection, 0)
        if growth > 0 and collection_size(self.transaction, plan) + total > self.limit:
            raise ItemCollectionSizeLimitExceededException()
        self.growths[collection] = total


def check_item_with_entries(plan: Plan) -> None:
    write = plan.write
    if write.kind in ("put", "update"):
        size = collection_bytes(write.table, plan.new, plan.new_size)
        if size > MAX_ITEM_BYTES:
            raise ValidationException(PUT_TOO_LARGE if write.kind == "put" else UPDATE_TOO_LARGE)


def collection_size(transaction: Transaction, plan: Plan) -> int:
    size: int | None = transaction.execute(
        f"SELECT bytes FROM {plan.write.table.collections} WHERE pk = ?", (plan.write.partition,)
    ).get
    return size or 0


def collection_metrics(transaction: Transaction, plan: Plan) -> Response:
    """The collection's key, and its size to the nearest GB as AWS estimates it."""
    hash_name = plan.write.table.hash_key.name
    low = float(collection_size(transaction, plan) // GIB)
    return {
        "ItemCollectionKey": {hash_name: plan.write.item[hash_name]},
        "SizeEstimateRangeGB": [low, low + 1.0],
    }
