"""The definition of a table: its keys, its indexes and its settings.

These are values: the catalogue stores them, the operations replace them, and everything that
makes reads and writes fast (`table.Table`) is derived from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

import orjson

from bigtime.engine.storage.format import FileFormatError
from bigtime.wire import Item, decimal

CHANGE_LOG: Final = "ChangeLog"  # of a definition's notes
GLOBAL_TABLE: Final = "GlobalTable"  # of a definition's notes

KeyType: TypeAlias = Literal["S", "N", "B"]

ProjectionType: TypeAlias = Literal["ALL", "KEYS_ONLY", "INCLUDE"]
DistanceFunction: TypeAlias = Literal["COSINE", "DOT_PRODUCT", "EUCLIDEAN"]


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """An attribute that takes part in a key, and the one type it may have."""

    name: str
    type: KeyType


@dataclass(frozen=True, slots=True)
class Throughput:
    """Provisioned capacity; zero of both on demand."""

    read: int = 0
    write: int = 0


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """A secondary index. A local one shares the table's partition key.

    `number` names its SQL table in the file and is never reused. An index created after its table
    is `building` until it has the table's existing items.
    """

    name: str
    is_global: bool
    hash_key: tuple[KeyAttribute, ...]
    range_key: tuple[KeyAttribute, ...]
    projection: ProjectionType
    included: tuple[str, ...] = ()
    throughput: Throughput = Throughput()
    number: int = 0
    building: bool = False

    @property
    def key_attributes(self) -> tuple[KeyAttribute, ...]:
        return self.hash_key + self.range_key


@dataclass(frozen=True, slots=True)
class VectorIndexDefinition:
    """A vector index: the attribute that holds vectors, and the attributes to search by.

    A search must specify the `hash_key` and may specify `filters`. `number` and `building` are as
    in other indexes.
    """

    name: str
    attribute: str
    dimensions: int
    distance: DistanceFunction
    hash_key: KeyAttribute | None
    filters: tuple[KeyAttribute, ...]
    projection: ProjectionType
    included: tuple[str, ...] = ()
    number: int = 0
    building: bool = False

    @property
    def search_attributes(self) -> tuple[KeyAttribute, ...]:
        return (self.hash_key, *self.filters) if self.hash_key else self.filters


@dataclass(frozen=True, slots=True)
class StreamDefinition:
    """A stream of a table's changes; once disabled, it stays readable for a day."""

    label: str
    view_type: str
    number: int
    enabled: bool = True
    slots: int = 1


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table as declared, with what the engine assigned when it was created."""

    name: str
    hash_key: KeyAttribute
    range_key: KeyAttribute | None
    attributes: tuple[KeyAttribute, ...]
    indexes: tuple[IndexDefinition, ...] = ()
    billing_mode: Literal["PROVISIONED", "PAY_PER_REQUEST"] = "PROVISIONED"
    throughput: Throughput = Throughput()
    deletion_protected: bool = False
    table_class: str | None = None
    sse: dict[str, Any] | None = None
    stream: StreamDefinition | None = None
    ttl_attribute: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    id: str = ""
    created_at: float = 0.0
    number: int = 0
    # Everything else, by name: what DescribeTable shows (on-demand limits, warm throughput, when
    # billing or class last changed), the change log, recovery, the global table, policies.
    notes: dict[str, Any] = field(default_factory=dict)
    vectors: tuple[VectorIndexDefinition, ...] = ()

    @property
    def key_attributes(self) -> tuple[KeyAttribute, ...]:
        return (self.hash_key, self.range_key) if self.range_key else (self.hash_key,)

    @property
    def global_table(self) -> dict[str, Any] | None:
        """The global table that this table is a replica of: see operations/replicas.py."""
        group: dict[str, Any] | None = self.notes.get(GLOBAL_TABLE)
        return group

    def with_note(self, name: str, note: Any) -> TableDefinition:
        """The definition with a note set, or removed if it is None."""
        others = {other: kept for other, kept in self.notes.items() if other != name}
        return replace(self, notes=others if note is None else {**others, name: note})

    def index(self, name: str) -> IndexDefinition | None:
        return next((index for index in self.indexes if index.name == name), None)

    @property
    def all_indexes(self) -> tuple[IndexDefinition | VectorIndexDefinition, ...]:
        return (*self.indexes, *self.vectors)

    def vector_index(self, name: str) -> VectorIndexDefinition | None:
        return next((index for index in self.vectors if index.name == name), None)

    @property
    def change_log(self) -> int | None:
        """The number of the table's change log; None if it has none."""
        number: int | None = self.notes.get(CHANGE_LOG)
        return number

    def numbers(self) -> Iterator[int]:
        """The numbers of everything in the file that belongs to this table."""
        yield self.number
        yield from (index.number for index in self.all_indexes)

    def to_json(self) -> bytes:
        return orjson.dumps(self)

    @classmethod
    def from_json(cls, text: bytes) -> TableDefinition:
        """Reads what `to_json` wrote; raises `FileFormatError` for what is unknown here."""
        try:
            return cls._read(orjson.loads(text))
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise FileFormatError(
                f"The definition of a table cannot be read ({error}): a later version of bigtime "
                "has changed it, and then you must upgrade; or it is damaged."
            ) from error

    @classmethod
    def _read(cls, raw: dict[str, Any]) -> TableDefinition:
        raw["hash_key"] = KeyAttribute(**raw["hash_key"])
        raw["range_key"] = KeyAttribute(**raw["range_key"]) if raw["range_key"] else None
        raw["attributes"] = _attributes(raw["attributes"])
        raw["indexes"] = tuple(_index(index) for index in raw["indexes"])
        raw["vectors"] = tuple(_vector_index(index) for index in raw.get("vectors", ()))
        raw["throughput"] = Throughput(**raw["throughput"])
        raw["stream"] = StreamDefinition(**raw["stream"]) if raw["stream"] else None
        return cls(**raw)


def _attributes(raw: list[dict[str, Any]]) -> tuple[KeyAttribute, ...]:
    return tuple(KeyAttribute(**attribute) for attribute in raw)


def _index(raw: dict[str, Any]) -> IndexDefinition:
    raw["hash_key"] = _attributes(raw["hash_key"])
    raw["range_key"] = _attributes(raw["range_key"])
    raw["included"] = tuple(raw["included"])
    raw["throughput"] = Throughput(**raw["throughput"])
    return IndexDefinition(**raw)


def _vector_index(raw: dict[str, Any]) -> VectorIndexDefinition:
    raw["hash_key"] = KeyAttribute(**raw["hash_key"]) if raw["hash_key"] else None
    raw["filters"] = _attributes(raw["filters"])
    raw["included"] = tuple(raw["included"])
    return VectorIndexDefinition(**raw)


# --- Time to live -------------------------------------------------------------------------
# The attribute must be a number of epoch seconds; anything else never expires, nor does a time
# more than five years past. An expired item can be read until the housekeeper deletes it.
#
# AWS: "Using DynamoDB Time to Live (TTL)"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html

OLDEST_SECONDS = 5 * 365 * 24 * 3600
LATEST_SECOND = 1 << 53


def expiry_second(item: Item | None, attribute: str) -> int | None:
    """The second at which the item expires; None if never."""
    if item is None or attribute not in item:
        return None
    text = item[attribute].get("N")
    if text is None or len(text.partition(".")[0]) > len(str(LATEST_SECOND)):
        return None
    second = int(decimal(text))
    return second if 0 < second <= LATEST_SECOND else None
