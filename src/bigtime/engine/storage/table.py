"""A table ready for reads and writes: its definition with key codecs and prepared SQL.

Its SQL tables in the file (numbers are never reused, so a name never means another's rows):

- `t<n>` holds the items: a rowid table with the item as one JSON blob and a unique index on
  (pk, sk). A `WITHOUT ROWID` table would save one lookup but spills at 1 KB items.
- `i<n>` is a secondary index: (pk, sk, base_key) -> the item's row and its projected size. It
  points to the item and never copies it. `base_key` gives entries with equal keys a fixed order
  that outlives their items, so that a page can start after an item deleted meanwhile.
- `x<n>` lists the items that expire, by second, while time to live is enabled.
- `c<n>` has the size of each item collection, if the table has local indexes.
- `l<n>` is the log of its changes, while something needs one: see `change_log`.
- `v<n>` has the version of each item, if the table has replicas.
- `e<n>` is a vector index: see `vector_index`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from bigtime.engine.storage.change_log import append_statement
from bigtime.engine.storage.definition import IndexDefinition, KeyAttribute, TableDefinition
from bigtime.engine.storage.keys import (
    MAX_HASH_BYTES,
    MAX_RANGE_BYTES,
    RAW,
    KeyCodec,
    check_key_value,
    number_bytes,
    with_hash_prefix,
)
from bigtime.engine.storage.vector_index import VectorIndex
from bigtime.wire import AttributeValue, Item, ValidationException, item_size

if TYPE_CHECKING:
    from bigtime.engine.operations import CacheKey, QueryPlan

PlainEncoder: TypeAlias = Callable[[Item], tuple[bytes, bytes] | None]

# A string of this length fits in any key, however many bytes its characters take.
QUICK_LENGTH = MAX_RANGE_BYTES // 4


class Index:
    """A secondary index of a table: which items are in it, and what it projects of them."""

    def __init__(self, definition: IndexDefinition, table: TableDefinition) -> None:
        self.definition = definition
        self.name = definition.name
        self.number = definition.number
        self.is_global = definition.is_global
        self.codec = KeyCodec(definition.hash_key, definition.range_key)
        self.rows = f"i{definition.number}"
        # Names in the order of a LastEvaluatedKey: the table's keys, then the index's own.
        self.key_names = tuple(
            dict.fromkeys(
                attribute.name for attribute in table.key_attributes + definition.key_attributes
            )
        )
        self.own_names = tuple(key_attribute.name for key_attribute in definition.key_attributes)
        self.projected = (
            None
            if definition.projection == "ALL"
            else frozenset(self.key_names) | frozenset(definition.included)
        )
        self.insert = f"INSERT INTO {self.rows} VALUES (?, ?, ?, ?, ?)"
        self.delete = f"DELETE FROM {self.rows} WHERE pk = ? AND sk = ? AND base_key = ?"
        self.resize = f"UPDATE {self.rows} SET size = ? WHERE pk = ? AND sk = ? AND base_key = ?"

    def view(self, item: Item) -> Item:
        """The item as projected into this index."""
        projected = self.projected
        if projected is None:
            return item
        return {name: value for name, value in item.items() if name in projected}

    def has_same_key(self, old: Item, new: Item) -> bool:
        """Whether each attribute of this index's key is equal in both items or absent from both."""
        names = self.own_names
        return list(map(old.get, names)) == list(map(new.get, names))

    def view_size(self, item: Item, size: int) -> int:
        return size if self.projected is None else item_size(self.view(item))

    def create(self) -> str:
        return (
            f"CREATE TABLE {self.rows} (pk BLOB NOT NULL, sk BLOB NOT NULL, base_key BLOB NOT NULL,"
            " base INTEGER NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (pk, sk, base_key))"
            " WITHOUT ROWID"
        )


class Table:
    """A table as reads and writes see it; a changed definition makes a new object."""

    __slots__ = (
        "append_record",
        "by_name",
        "codec",
        "collections",
        "definition",
        "delete",
        "expiring",
        "fetch",
        "fetch_item",
        "hash_key",
        "index_keys",
        "indexes",
        "insert",
        "key_attributes",
        "key_names",
        "locate",
        "log",
        "log_change",
        "name",
        "number",
        "plain_blobs",
        "queries",
        "quick_blobs",
        "range_key",
        "region",
        "rows",
        "stream",
        "ttl_attribute",
        "update",
        "vectors",
        "versions",
    )

    def __init__(self, definition: TableDefinition) -> None:
        self.definition = definition
        self.name = definition.name
        self.number = definition.number
        self.hash_key = definition.hash_key
        self.range_key = definition.range_key
        self.codec = KeyCodec((definition.hash_key,), definition.key_attributes[1:])
        self.quick_blobs = plain_encoder(*definition.key_attributes, alone=True)
        self.plain_blobs = plain_encoder(*definition.key_attributes)
        self.key_names = tuple(key_attribute.name for key_attribute in definition.key_attributes)
        self.indexes = tuple(Index(index, definition) for index in definition.indexes)
        self.by_name = {index.name: index for index in self.indexes}
        self.vectors = tuple(VectorIndex(each, definition) for each in definition.vectors)
        self.index_keys = index_keys(definition)
        self.key_attributes = frozenset(
            (*self.key_names, *(attribute.name for attribute, _, _ in self.index_keys))
        )
        self.ttl_attribute = definition.ttl_attribute
        stream = definition.stream
        self.stream = stream if stream and stream.enabled else None
        records = f"s{stream.number}" if stream else ""
        # A stamp is never earlier than that of the record before it.
        self.append_record = (
            f"INSERT INTO {records} (slot, at, record) VALUES (?1, max(?2, ifnull("
            f"(SELECT at FROM {records} ORDER BY sequence DESC LIMIT 1), ?2)), ?3)"
        )
        rows = self.rows = f"t{definition.number}"
        self.expiring = f"x{definition.number}"
        has_local = any(not index.is_global for index in definition.indexes)
        self.collections = f"c{definition.number}" if has_local else None
        log = definition.change_log
        self.log = None if log is None else f"l{log}"
        self.log_change = append_statement(self.log) if self.log else ""
        group = definition.global_table
        self.versions = f"v{definition.number}" if group else None
        self.region: str = group["Region"] if group else ""
        self.fetch_item = f"SELECT item FROM {rows} WHERE pk = ? AND sk = ?"
        self.fetch = f"SELECT size, item FROM {rows} WHERE pk = ? AND sk = ?"
        self.locate = f"SELECT id, size, item FROM {rows} WHERE pk = ? AND sk = ?"
        self.insert = f"INSERT INTO {rows} (pk, sk, size, item) VALUES (?, ?, ?, ?)"
        self.update = f"UPDATE {rows} SET size = ?, item = ? WHERE id = ?"
        self.delete = f"DELETE FROM {rows} WHERE id = ?"
        self.queries: dict[CacheKey, QueryPlan] = {}

    @property
    def all_indexes(self) -> tuple[Index | VectorIndex, ...]:
        """All indexes, which have rows and counts of their own."""
        return (*self.indexes, *self.vectors)

    def create(self) -> list[str]:
        rows = self.rows
        collections = (
            f"CREATE TABLE {self.collections} (pk BLOB PRIMARY KEY, bytes INTEGER NOT NULL)"
            " WITHOUT ROWID"
        )
        return [
            f"CREATE TABLE {rows} (id INTEGER PRIMARY KEY, pk BLOB NOT NULL, sk BLOB NOT NULL,"
            " size INTEGER NOT NULL, item BLOB NOT NULL)",
            f"CREATE UNIQUE INDEX {rows}_key ON {rows} (pk, sk)",
            *(index.create() for index in self.all_indexes),
            *([collections] if self.collections else []),
            *(self.create_versions() if self.versions else []),
        ]

    def physical(self) -> list[str]:
        """The names of the SQL tables that are dropped with this table."""
        names = [self.rows, *(index.rows for index in self.all_indexes)]
        if self.collections:
            names.append(self.collections)
        if self.versions:
            names.append(self.versions)
        if self.ttl_attribute:
            names.append(self.expiring)
        if self.log:
            names.append(self.log)
        return names

    def create_expiring(self) -> str:
        return (
            f"CREATE TABLE {self.expiring} (second INTEGER NOT NULL, base INTEGER NOT NULL,"
            " PRIMARY KEY (second, base)) WITHOUT ROWID"
        )

    def create_versions(self) -> list[str]:
        versions = self.versions
        return [
            f"CREATE TABLE {versions} (pk BLOB NOT NULL, sk BLOB NOT NULL, at INTEGER NOT NULL,"
            " region TEXT NOT NULL, deleted INTEGER NOT NULL, PRIMARY KEY (pk, sk)) WITHOUT ROWID",
            f"CREATE INDEX {versions}_deleted ON {versions} (at) WHERE deleted",
        ]

    def key_of(self, item: Item) -> Item:
        return {name: item[name] for name in self.key_names}

    def key_blobs(self, key: Item) -> tuple[bytes, bytes]:
        """The blobs of a `Key` parameter, whose values have already been validated."""
        blobs = self.quick_blobs(key)
        if blobs is not None:
            return blobs
        if len(key) != len(self.key_names):
            raise ValidationException("The provided key element does not match the schema")
        check_key(key, self.hash_key, is_hash=True)
        if self.range_key:
            check_key(key, self.range_key, is_hash=False)
        return self.codec.partition(key), self.codec.sort(key)

    def item_blobs(self, item: Item) -> tuple[bytes, bytes]:
        """The blobs of a whole item about to be stored."""
        blobs = self.plain_blobs(item)
        if blobs is None:
            check_item_key(item, self.hash_key, is_hash=True)
            if self.range_key:
                check_item_key(item, self.range_key, is_hash=False)
            blobs = self.codec.partition(item), self.codec.sort(item)
        if self.index_keys:
            self.check_index_keys(item)
        if self.vectors:
            self.check_vectors(item)
        return blobs

    def check_vectors(self, item: Item) -> None:
        for index in self.vectors:
            index.check(item)

    def check_index_keys(self, item: Item) -> None:
        """Checks that each index key attribute has the right type or is absent."""
        for attribute, index_name, is_hash in self.index_keys:
            value = item.get(attribute.name)
            if value is None:
                continue
            text = value.get(attribute.type)
            if text is None:
                raise ValidationException(index_type_mismatch(attribute, index_name, value))
            if not text:
                raise ValidationException(empty_index_key(attribute, index_name))
            if len(text) > QUICK_LENGTH:
                check_index_key_size(attribute, text, index_name, is_hash=is_hash)


def collection_bytes(table: Table, item: Item | None, size: int) -> int:
    """The bytes of an item and of its entries in the local indexes."""
    local = (index for index in table.indexes if not index.is_global)
    return size + sum(index_size(index, item, size) for index in local)


def index_size(index: Index, item: Item | None, size: int) -> int:
    """The bytes an index projects of an item; 0 if the item is not in it."""
    if item is None or any(name not in item for name in index.own_names):
        return 0
    return index.view_size(item, size)


def index_keys(definition: TableDefinition) -> tuple[tuple[KeyAttribute, str, bool], ...]:
    """The (attribute, index, is hash) of each index key that no key of the table itself covers.

    AWS names the first index in name order. The table's partition key is included if an index
    sorts by it, since it may be too long for a sort key.
    https://github.com/getmoto/moto/issues/3974
    """
    own = {key_attribute.name for key_attribute in definition.key_attributes}
    found = [
        (attribute, index.name, attribute in index.hash_key)
        for index in sorted(definition.indexes, key=lambda index: index.name)
        for attribute in index.key_attributes
        if attribute.name not in own
        or (attribute == definition.hash_key and attribute in index.range_key)
    ]
    return (*found, *search_keys(definition))


def search_keys(definition: TableDefinition) -> Iterator[tuple[KeyAttribute, str, bool]]:
    """The same for the search schemas of vector indexes."""
    own = {key_attribute.name for key_attribute in definition.key_attributes}
    for index in sorted(definition.vectors, key=lambda index: index.name):
        for attribute in index.search_attributes:
            if attribute.name not in own:
                yield attribute, index.name, True


def index_type_mismatch(attribute: KeyAttribute, index_name: str, value: Item) -> str:
    return (
        "One or more parameter values were invalid: Type mismatch for Index Key "
        f"{attribute.name} Expected: {attribute.type} Actual: {next(iter(value))} "
        f"IndexName: {index_name}"
    )


def check_index_key_size(
    attribute: KeyAttribute, text: str, index_name: str, *, is_hash: bool
) -> None:
    """Rejects a key that is too long, as AWS does: https://github.com/architect/dynalite/issues/35"""
    if attribute.type == "N":
        return
    limit = MAX_HASH_BYTES if is_hash else MAX_RANGE_BYTES
    size = len(RAW[attribute.type](text))
    if size > limit:
        raise ValidationException(
            "One or more parameter values were invalid: Size limit exceeded for Index Key "
            f"{attribute.name} Actual Size: {size} bytes Max Size: {limit} bytes "
            f"IndexName: {index_name}"
        )


def empty_index_key(attribute: KeyAttribute, index_name: str) -> str:
    kind = "string" if attribute.type == "S" else "binary"
    return (
        "One or more parameter values are not valid. A value specified for a secondary index key "
        "is not supported. The AttributeValue for a key attribute cannot contain an empty "
        f"{kind} value. IndexName: {index_name}, IndexKey: {attribute.name}"
    )


def plain_encoder(
    hash_key: KeyAttribute, range_key: KeyAttribute | None = None, *, alone: bool = False
) -> PlainEncoder:
    """Returns a function that encodes plain keys, and returns None for keys that need all checks.

    With `alone` it takes a `Key` parameter, which has no other attributes. Every request runs one
    of the two, so what is the same for all items of a table is looked up here.
    """
    hash_name, hash_type = hash_key.name, hash_key.type
    if range_key is None:

        def encode_hash(item: Item) -> tuple[bytes, bytes] | None:
            try:
                partition = quick_blob(item[hash_name], hash_type)
            except (KeyError, ValueError):
                return None
            return None if alone and len(item) != 1 else (with_hash_prefix(partition), b"")

        return encode_hash
    range_name, range_type = range_key.name, range_key.type
    if "B" in (hash_type, range_type):
        return lambda item: None
    hash_bytes, range_bytes = RAW[hash_type], RAW[range_type]

    def encode_both(item: Item) -> tuple[bytes, bytes] | None:
        try:
            hash_value, range_value = item[hash_name], item[range_name]
            hash_text, range_text = hash_value[hash_type], range_value[range_type]
            partition, sort = hash_bytes(hash_text), range_bytes(range_text)
        except (KeyError, ValueError):
            return None
        if len(hash_value) != 1 or not 0 < len(hash_text) <= QUICK_LENGTH:
            return None
        if len(range_value) != 1 or not 0 < len(range_text) <= QUICK_LENGTH:
            return None
        if alone and len(item) != 2:
            return None
        return crc32(partition).to_bytes(4, "big") + partition, sort

    return encode_both


def quick_blob(value: AttributeValue, tag: str) -> bytes:
    """The blob of one key attribute; raises `KeyError` or `ValueError` if it needs all checks."""
    text = value[tag]
    if len(value) != 1 or not 0 < len(text) <= QUICK_LENGTH or tag == "B":
        raise ValueError
    return text.encode() if tag == "S" else number_bytes(text)


def check_key(key: Item, attribute: KeyAttribute, *, is_hash: bool) -> None:
    value = key.get(attribute.name)
    if value is None or attribute.type not in value:
        raise ValidationException("The provided key element does not match the schema")
    check_key_value(attribute, value, is_hash=is_hash)


def check_item_key(item: Item, attribute: KeyAttribute, *, is_hash: bool) -> None:
    value = item.get(attribute.name)
    if value is None:
        raise ValidationException(
            "One or more parameter values were invalid: "
            f"Missing the key {attribute.name} in the item"
        )
    if attribute.type not in value:
        raise ValidationException(
            f"One or more parameter values were invalid: Type mismatch for key {attribute.name} "
            f"expected: {attribute.type} actual: {next(iter(value))}"
        )
    check_key_value(attribute, value, is_hash=is_hash)
