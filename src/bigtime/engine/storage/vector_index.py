"""Vector indexes: which items are in one, and the rows they have there.

`e<n>` has a row for each item with a vector: the number of the change that wrote it, the row of the
item, its projected bytes, the values of its search schema, and the vector as 32-bit floats. A write
replaces the row, and change numbers are never reused. So rows added after a change are found by
their numbers, and removed ones by their absence: that keeps the matrix in memory (`vector_search`)
up to date without rereading everything.

An item is in the index if it has a vector of the right size and, where the search schema has a HASH
attribute, that attribute. AWS rejects a write with a vector of another size or type; such items
from before the index was created are left out.

AWS: "Creating and searching vector indexes", "Troubleshooting vector indexes"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearchWorkingWith.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearchTroubleshooting.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import orjson

from bigtime.engine.storage.definition import TableDefinition, VectorIndexDefinition
from bigtime.wire import AttributeValue, Item, ValidationException, item_size

INVALID: Final = "One or more parameter values were invalid: "


class VectorEntry(NamedTuple):
    """An index's data on an item, besides the item's row number."""

    size: int
    keys: bytes
    vector: bytes


class VectorIndex:
    """A vector index of a table: which items are in it, and what it projects of them."""

    def __init__(self, definition: VectorIndexDefinition, table: TableDefinition) -> None:
        self.definition = definition
        self.name = definition.name
        self.number = definition.number
        self.attribute = definition.attribute
        self.key_names = tuple(each.name for each in definition.search_attributes)
        self.rows = rows = f"e{definition.number}"
        own = {each.name for each in table.key_attributes}
        self.projected = (
            None
            if definition.projection == "ALL"
            else frozenset({*own, *self.key_names, *definition.included, self.attribute})
        )
        columns = "(base, size, keys, vector)"
        self.insert = f"INSERT OR REPLACE INTO {rows} {columns} VALUES (?, ?, ?, ?)"
        self.delete = f"DELETE FROM {rows} WHERE base = ?"
        self.resize = f"UPDATE {rows} SET size = ? WHERE base = ?"

    def create(self) -> str:
        return (
            f"CREATE TABLE {self.rows} (change INTEGER PRIMARY KEY AUTOINCREMENT,"
            " base INTEGER NOT NULL UNIQUE, size INTEGER NOT NULL, keys BLOB NOT NULL,"
            " vector BLOB NOT NULL)"
        )

    def view(self, item: Item) -> Item:
        """The item as projected into the index."""
        projected = self.projected
        if projected is None:
            return item
        return {name: value for name, value in item.items() if name in projected}

    def shows_difference(self, old: Item | None, new: Item | None) -> bool:
        """Whether a write changes the row, apart from its size."""
        if old is None or new is None:
            return True
        names = (self.attribute, *self.key_names)
        return any(old.get(name) != new.get(name) for name in names)

    def entry(self, item: Item | None) -> VectorEntry | None:
        """The index entry of an item; None if the item is not in the index."""
        if item is None or self.attribute not in item:
            return None
        hash_key = self.definition.hash_key
        if hash_key is not None and hash_key.type not in item.get(hash_key.name, {}):
            return None
        try:
            vector = pack_vector(item[self.attribute], self.definition.dimensions)
        except ValueError:
            return None
        return VectorEntry(self.entry_size(item), self.search_keys(item), vector)

    def entry_size(self, item: Item) -> int:
        """The bytes of a row: its projected attributes, with the vector as floats."""
        others = {name: each for name, each in self.view(item).items() if name != self.attribute}
        return item_size(others) + len(self.attribute.encode()) + 4 * self.definition.dimensions

    def replicated_bytes(self, entry: VectorEntry) -> int:
        """The billed bytes of an entry: all but the name of the vector attribute.

        (Measured on AWS: https://github.com/ExtendDB/extenddb/pull/244)
        """
        return entry.size - len(self.attribute.encode())

    def partition_of(self, item: Item | None) -> AttributeValue | None:
        """The value of the search schema's HASH attribute, if it has one."""
        hash_key = self.definition.hash_key
        return item.get(hash_key.name) if item and hash_key else None

    def search_keys(self, item: Item) -> bytes:
        """The values of the search schema, in its order; null for attributes the item lacks."""
        return orjson.dumps([search_key(item.get(name)) for name in self.key_names])

    def check(self, item: Item) -> None:
        """Rejects a vector of the wrong type or size."""
        value = item.get(self.attribute)
        if value is None:
            return
        name, dimensions = self.attribute, self.definition.dimensions
        elements = value.get("L")
        if elements is None:
            raise ValidationException(self.mismatch("type", name, "L", next(iter(value))))
        if len(elements) != dimensions:
            raise ValidationException(self.mismatch("size", name, dimensions, len(elements)))
        for place, element in enumerate(elements):
            if "N" not in element:
                actual = next(iter(element))
                raise ValidationException(self.mismatch("type", f"{name}[{place}]", "N", actual))
        try:
            pack_vector(value, dimensions)
        except ValueError as error:
            raise ValidationException(
                f"{INVALID}Invalid value for parameter {name}, {error}. IndexName: {self.name}"
            ) from None

    def mismatch(self, what: str, parameter: str, expected: object, actual: object) -> str:
        return (
            f"{INVALID}Invalid {what} for parameter {parameter}, Expected: {expected}, "
            f"Actual: {actual}. IndexName: {self.name}"
        )


def search_key(value: AttributeValue | None) -> str | None:
    """A search schema value as a text; equal values have equal texts."""
    if value is None:
        return None
    ((tag, content),) = value.items()
    return f"{tag}{content}" if isinstance(content, str) else None


def pack_vector(value: AttributeValue, dimensions: int) -> bytes:
    """A vector as 32-bit floats; raises `ValueError` for any other value."""
    elements = value.get("L")
    if elements is None or len(elements) != dimensions:
        raise ValueError("a list of as many numbers as the index has dimensions")
    try:
        return pack_numbers([element["N"] for element in elements])
    except KeyError:
        raise ValueError("an element is no number") from None


def pack_numbers(texts: Sequence[str]) -> bytes:
    try:
        return struct.pack(f"<{len(texts)}f", *map(float, texts))
    except OverflowError:
        raise ValueError("an element exceeds the range of 32-bit floating point numbers") from None


def fill_vectors(
    execute: Any, index: VectorIndex, rows: Iterable[tuple[tuple[Any, ...], Item]]
) -> None:
    """Adds the missing index rows of a chunk that a backfill has read."""
    insert = index.insert.replace("OR REPLACE", "OR IGNORE")
    for (id, *_), item in rows:
        entry = index.entry(item)
        if entry is not None:
            execute(insert, (id, *entry))
