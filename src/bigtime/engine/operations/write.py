"""One action on one item: planned first, applied afterwards.

`PutItem`, `UpdateItem`, `DeleteItem`, a `ConditionCheck`, the actions of a batch or a transaction,
and the expiry of an item are all a `Write`. Planning reads the item, evaluates the condition and
computes the new item; it may raise, and changes nothing. Applying changes the base row, the entries
of every index, the list of expiring items, the counts, the change log and the stream, and rejects
nothing. So all writes of a group are planned before the first is applied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.expressions import Update
from bigtime.engine.operations.key_rules import empty_index_key
from bigtime.engine.storage import Index, KeyAttribute, StreamDefinition, Table, Transaction
from bigtime.wire import Item, Response

Kind = Literal["put", "update", "delete", "check"]

PUT_TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
# AWS: "TransactWriteItems", on the messages of a ValidationError,
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
UNSUPPORTED_TYPE = (
    "The update expression attempted to update the secondary index key to unsupported type"
)
TOO_LONG = (
    "The update expression attempted to update the secondary index key beyond allowed size limits"
)


@dataclass(slots=True)
class Write:
    """One action on one item. `item` is the new item of a put, the key of any other kind."""

    kind: Kind
    table: Table
    item: Item
    partition: bytes
    sort: bytes
    size: int = 0
    condition: Callable[[Item], bool] | None = None
    update: Update | None = None
    show_old_on_failure: bool = False
    by_service: bool = False
    version: storage.Version | None = None  # of a write replicated from another region

    def plan(self, transaction: Transaction) -> Plan:
        row = transaction.run(self.table.locate, (self.partition, self.sort)).get
        plan = Plan(self, *row) if row else Plan(self, 0, 0, None)
        if self.condition and not self.condition(plan.old or {}):
            old = plan.old if self.show_old_on_failure else None
            raise wire.ConditionalCheckFailedException(item=old)
        if self.kind == "put":
            plan.new, plan.new_size = self.item, self.size
        elif self.kind == "update":
            plan.new, plan.new_size = self.new_item(plan)
        elif self.kind == "check":
            plan.new, plan.new_size = plan.old, plan.old_size
        return plan

    def new_item(self, plan: Plan) -> tuple[Item | None, int]:
        """The item as the update leaves it, and its size."""
        old, update = plan.old, self.update
        before = self.item if old is None else old
        if update is None:
            return wire.check_item(before)
        if old is None and update.attributes and update.only_removes:
            # There is nothing to remove, so no path can be invalid.
            return None, 0
        after, size = check_updated(update, old, plan.old_size, update.apply(before))
        if old is None and update.attributes and len(after) == len(before):
            # An update that only removes creates no item; an empty update does. (AWS,
            # "AttributeValueUpdate": "DELETE - Causes nothing to happen",
            # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValueUpdate.html)
            return None, 0
        if self.table.index_keys:
            check_updated_index_keys(self.table, after)
        if self.table.vectors:
            self.table.check_vectors(after)
        if size + update.overhead > wire.MAX_ITEM_BYTES:
            check_updated_size(update, after, size)
        return after, size


def check_updated_size(update: Update, item: Item, size: int) -> None:
    """Rejects an item that is too large, or an update that changes too much of it."""
    changed = {name: item[name] for name in update.attributes if name in item}
    charged = wire.item_size(changed) + update.overhead
    if max(size, charged) > wire.MAX_ITEM_BYTES:
        raise wire.ValidationException(UPDATE_TOO_LARGE)


def check_updated(update: Update, old: Item | None, old_size: int, after: Item) -> tuple[Item, int]:
    """The item as stored, and its size; only what the update changes needs checking."""
    if old is None:
        return wire.check_item(after)
    touched = {name: after[name] for name in update.attributes if name in after}
    replaced = {name: old[name] for name in update.attributes if name in old}
    checked, size = wire.check_item(touched)
    size += old_size - wire.item_size(replaced)
    return after if checked is touched else {**after, **checked}, size


def check_updated_index_keys(table: Table, item: Item) -> None:
    """Rejects an item whose index keys an update has made invalid.

    That includes an item that had an invalid one before the index was created (AWS: "all writes to
    items that violate the new index's key schema will be rejected",
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.OnlineOps.ViolationDetection.html).
    """
    for attribute, _, is_hash in table.index_keys:
        value = item.get(attribute.name)
        if value is None:
            continue
        text = value.get(attribute.type)
        if not text or len(text) > storage.QUICK_LENGTH:
            check_updated_index_key(attribute, text, is_hash=is_hash)


def check_updated_index_key(attribute: KeyAttribute, text: Any, *, is_hash: bool) -> None:
    if text is None:
        raise wire.ValidationException(UNSUPPORTED_TYPE)
    if not text:
        raise empty_index_key(attribute)
    try:
        storage.check_key_size(attribute, text, is_hash=is_hash)
    except wire.ValidationException:
        raise wire.ValidationException(TOO_LONG) from None


@dataclass(slots=True, eq=False)
class Plan:
    """A write that may go ahead: the item before it and after it."""

    write: Write
    id: int
    old_size: int
    blob: bytes | None
    new: Item | None = None
    new_size: int = 0
    _old: Item | None = None

    @property
    def old(self) -> Item | None:
        """The item before the write, decoded only when needed."""
        if self._old is None and self.blob is not None:
            try:
                self._old = orjson.loads(self.blob)
            except orjson.JSONDecodeError:
                table = self.write.table
                key = table.codec.key(self.write.partition, self.write.sort)
                raise storage.UnreadableItem(table.name, key) from None
        return self._old

    @property
    def indexes(self) -> list[Index]:
        """Indexes that may hold the old or new item: it has the first attribute of their key."""
        indexes = self.write.table.indexes
        old, new = self.old or {}, self.new or {}
        return [index for index in indexes if (name := index.own_names[0]) in new or name in old]

    def apply(self, transaction: Transaction) -> None:
        write, table = self.write, self.write.table
        if write.kind == "check" or (self.new is None and self.blob is None):
            return
        blob = None if self.new is None else orjson.dumps(self.new)
        if blob == self.blob:
            return
        self.apply_base(transaction, blob)
        if table.log:
            before = (self.id, write.partition, write.sort, self.old_size, self.blob)
            transaction.run(table.log_change, (transaction.now, *before))
        if table.indexes:
            self.apply_indexes(transaction)
        for vector_index in table.vectors:
            self.apply_vector_index(transaction, vector_index)
        if table.collections:
            self.apply_collection(transaction)
        if table.ttl_attribute:
            self.apply_expiry(transaction, table.ttl_attribute)
        if table.stream and self.changes:
            self.append_record(transaction, table.stream)

    def append_record(self, transaction: Transaction, stream: StreamDefinition) -> None:
        """Writes the change into the table's stream, with its version if it is replicated."""
        old, new, table = self.old, self.new, self.write.table
        keys = table.key_of(new or old or {})
        record: dict[str, Any] = {
            "eventName": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY",
            "Keys": keys,
        }
        size = wire.item_size(keys)
        if new is not None and stream.view_type in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
            record["NewImage"] = new
            size += self.new_size
        if old is not None and stream.view_type in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES"):
            record["OldImage"] = old
            size += self.old_size
        record["SizeBytes"] = size
        if self.write.by_service:
            record["userIdentity"] = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
        if table.versions:
            record["version"] = self.version(transaction)
        slot = int.from_bytes(self.write.partition[:4], "big") * stream.slots // storage.HASH_SPACE
        transaction.run(table.append_record, (slot, transaction.now, orjson.dumps(record)))

    def version(self, transaction: Transaction) -> storage.Version:
        """The version of a replicated table's item; a local write is given one now."""
        write = self.write
        return write.version or storage.stamp_write(
            transaction, write.table, write.partition, write.sort, deleted=self.new is None
        )

    def apply_base(self, transaction: Transaction, blob: bytes | None) -> None:
        write, table = self.write, self.write.table
        if blob is None:
            transaction.run(table.delete, (self.id,))
            transaction.count(table.number, -1, -self.old_size)
        elif self.blob is None:
            transaction.run(table.insert, (write.partition, write.sort, self.new_size, blob))
            self.id = transaction.connection.last_insert_rowid()
            transaction.count(table.number, 1, self.new_size)
        else:
            transaction.run(table.update, (self.new_size, blob, self.id))
            transaction.count(table.number, 0, self.new_size - self.old_size)

    def apply_indexes(self, transaction: Transaction) -> None:
        """Updates the item's entry in each index, and moves it if its index key changes."""
        write, old, new = self.write, self.old or {}, self.new or {}
        entry_key = b""
        for index in write.table.indexes:
            name = index.own_names[0]
            was_in, is_in = name in old, name in new
            if not was_in and not is_in:
                continue
            size_before = index.view_size(old, self.old_size) if was_in else 0
            size_after = index.view_size(new, self.new_size) if is_in else 0
            stays = was_in and is_in and index.has_same_key(old, new)
            if stays and size_before == size_after:
                continue
            after = index.codec.blobs(new) if is_in else None
            before = after if stays else index.codec.blobs(old) if was_in else None
            entry_key = entry_key or storage.base_key(write.partition, write.sort)
            if before == after:
                if after and size_before != size_after:
                    transaction.run(index.resize, (size_after, *after, entry_key))
                    transaction.count(index.number, 0, size_after - size_before)
                continue
            if before:
                transaction.run(index.delete, (*before, entry_key))
                # An item that was invalid for the index when the index was created was never in it.
                if transaction.connection.changes():
                    transaction.count(index.number, -1, -size_before)
            if after:
                transaction.run(index.insert, (*after, entry_key, self.id, size_after))
                transaction.count(index.number, 1, size_after)

    def apply_vector_index(self, transaction: Transaction, index: storage.VectorIndex) -> None:
        old, new = self.old, self.new
        if not index.shows_difference(old, new):
            if new is not None and index.entry(new) is not None:
                growth = index.entry_size(new) - index.entry_size(old or {})
                if growth:
                    transaction.execute(index.resize, (index.entry_size(new), self.id))
                    transaction.count(index.number, 0, growth)
            return
        before, after = index.entry(old), index.entry(new)
        if before is not None:
            transaction.execute(index.delete, (self.id,))
            # An item that an unfinished backfill has not reached was never in it.
            if transaction.connection.changes():
                transaction.count(index.number, -1, -before.size)
        if after is not None:
            transaction.execute(index.insert, (self.id, *after))
            transaction.count(index.number, 1, after.size)

    @property
    def changes(self) -> bool:
        """Whether the write changes anything; the order of a set's elements does not count."""
        old, new = self.old, self.new
        return old is None or new is None or not wire.same_maps(old, new)

    @property
    def collection_growth(self) -> int:
        """How many bytes the item and its entries in the local indexes grow by."""
        table = self.write.table
        return storage.collection_bytes(table, self.new, self.new_size) - storage.collection_bytes(
            table, self.old, self.old_size
        )

    def apply_collection(self, transaction: Transaction) -> None:
        growth = self.collection_growth
        if growth:
            transaction.execute(
                f"INSERT INTO {self.write.table.collections} VALUES (?, ?)"
                " ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes",
                (self.write.partition, growth),
            )
        if growth < 0:
            transaction.execute(
                f"DELETE FROM {self.write.table.collections} WHERE pk = ? AND bytes = 0",
                (self.write.partition,),
            )

    def apply_expiry(self, transaction: Transaction, attribute: str) -> None:
        before = storage.expiry_second(self.old, attribute)
        after = storage.expiry_second(self.new, attribute)
        if before == after:
            return
        expiring = self.write.table.expiring
        if before is not None:
            transaction.execute(
                f"DELETE FROM {expiring} WHERE second = ? AND base = ?", (before, self.id)
            )
        if after is not None:
            transaction.execute(f"INSERT INTO {expiring} VALUES (?, ?)", (after, self.id))


# --- Item collections: all items of one partition of a table with local indexes -----------
# Their total size, with their entries in the local indexes, cannot exceed 10 GB. It is kept in
# `c<n>`, a row per partition, so that neither the limit nor the metrics need to add anything up.
# An item with its own entries in the local indexes cannot exceed 400 KB. (AWS: "Constraints in
# Amazon DynamoDB", "Item size for tables with local secondary indexes",
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html)

GIB = 1024**3


@dataclass(slots=True)
class Room:
    """The space left in the item collections that one request writes to."""

    limit: int
    transaction: Transaction
    growths: dict[tuple[int, bytes], int] = field(default_factory=dict)

    def admit(self, plan: Plan) -> None:
        """Rejects a write that makes its item or its collection too large."""
        check_item_with_entries(plan)
        collection = plan.write.table.number, plan.write.partition
        growth = plan.collection_growth
        total = growth + self.growths.get(collection, 0)
        if growth > 0 and collection_size(self.transaction, plan) + total > self.limit:
            raise wire.ItemCollectionSizeLimitExceededException()
        self.growths[collection] = total


def check_item_with_entries(plan: Plan) -> None:
    write = plan.write
    if write.kind in ("put", "update"):
        size = storage.collection_bytes(write.table, plan.new, plan.new_size)
        if size > wire.MAX_ITEM_BYTES:
            raise wire.ValidationException(
                PUT_TOO_LARGE if write.kind == "put" else UPDATE_TOO_LARGE
            )


def collection_size(transaction: Transaction, plan: Plan) -> int:
    size: int | None = transaction.execute(
        f"SELECT bytes FROM {plan.write.table.collections} WHERE pk = ?", (plan.write.partition,)
    ).get
    return size or 0


def collection_metrics(transaction: Transaction, plan: Plan) -> Response:
    """The collection's key, and the range of 1 GB its size is in. AWS: "ItemCollectionMetrics"

    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ItemCollectionMetrics.html
    """
    hash_name = plan.write.table.hash_key.name
    low = float(collection_size(transaction, plan) // GIB)
    return {
        "ItemCollectionKey": {hash_name: plan.write.item[hash_name]},
        "SizeEstimateRangeGB": [low, low + 1.0],
    }
