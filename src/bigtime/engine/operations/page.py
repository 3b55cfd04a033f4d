"""One page of a query or a scan.

Rows come from SQLite in key order and stop at the first of: `Limit` items evaluated, the item that
reaches 1 MB, the end. Both bounds count items before the filter, as DynamoDB's do. A page that
stopped at a bound has the key of the last item evaluated, returned or not. (AWS: "Paginating table
query results in DynamoDB",
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html)

One bound is the engine's own: a page also ends after half a second of work, so that no request
keeps the others waiting. Only a very costly filter over very small items takes that long.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from time import thread_time
from typing import Any

import apsw
import orjson

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.expressions import Expressions
from bigtime.engine.operations import table_schema
from bigtime.engine.operations.capacity import ConsumedCapacity, mode_of
from bigtime.engine.storage import Database, Index, KeyAttribute, Table, UnreadableItem
from bigtime.wire import Item, Params, Response

log = logging.getLogger("bigtime.engine")

PAGE_BYTES = 1024 * 1024
PAGE_SECONDS = 0.5


@dataclass(slots=True)
class Walk:
    """Which rows to read, in which direction, and where to start."""

    table: Table
    index: Index | None
    partition: bytes | None
    partitions: storage.SortRange
    sorts: storage.SortRange
    start: tuple[bytes, ...] | None = None
    forward: bool = True

    @property
    def is_of_one_item(self) -> bool:
        """Whether a query has a table's whole key: AWS takes and returns no start key then."""
        return self.index is None and self.partition is not None and len(self.table.key_names) == 1

    def key_of(self, row: tuple[bytes, ...]) -> Item:
        """The item's key, from a row of a walk that selects keys."""
        if self.index is None:
            return self.table.codec.key(*row)
        return self.table.codec.key(*storage.base_blobs(row[2])) | self.index.codec.key(*row[:2])

    def statement(self, limit: int) -> tuple[str, list[Any]]:
        given = (self.partition, *self.partitions, *self.sorts)
        values: list[Any] = [bound for bound in given if bound is not None]
        if self.start is not None:
            values.extend(self.start)
        values.append(limit)
        bounds = tuple(mark for mark, bound in zip(BOUNDS, given, strict=True) if bound is not None)
        index = self.index.rows if self.index else None
        started = self.start is not None
        return statement_of(self.table.rows, index, bounds, started, self.forward), values


BOUNDS = ("pk = ?", "pk >= ?", "pk < ?", "sk >= ?", "sk < ?")


@lru_cache(maxsize=4096)
def statement_of(
    rows: str, index: str | None, bounds: tuple[str, ...], started: bool, forward: bool
) -> str:
    """The SQL of a walk, which is the same for all values of its bounds."""
    columns = ["sk"] if BOUNDS[0] in bounds else ["pk", "sk"]
    if index is not None:
        columns.append("base_key")
    where = [*bounds]
    if started:
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        where.append(f"({names}) {'>' if forward else '<'} ({marks})")
    direction = "" if forward else " DESC"
    order = ", ".join(column + direction for column in columns)
    clause = f" WHERE {' AND '.join(where)}" if where else ""
    return f"{select_clause(rows, index)}{clause} ORDER BY {order} LIMIT ?"


def select_clause(rows: str, index: str | None) -> str:
    if index is None:
        return f"SELECT size, item FROM {rows}"
    # CROSS JOIN makes SQLite read the index first, then each item by its row number.
    return (
        "SELECT entry.size, base.item, base.size"
        f" FROM (SELECT pk, sk, base_key, base, size FROM {index}) AS entry"
        f" CROSS JOIN (SELECT id, size, item FROM {rows}) AS base ON base.id = entry.base"
    )


@dataclass(slots=True)
class PageOptions:
    """What to do with the rows of a walk."""

    limit: int | None
    keep: Callable[[Item], bool] | None
    shape: Callable[[Item], Item] | None
    count_only: bool
    whole_items: bool
    consistent: bool


@dataclass(slots=True)
class PageResult:
    """What a page has collected so far."""

    items: list[Item] = field(default_factory=list)
    kept: int = 0
    scanned: int = 0
    size: int = 0
    fetched: int = 0
    blob: bytes | None = None
    broken: list[bytes] = field(default_factory=list)
    stopped: bool = False


def read_page(database: Database, params: Params, walk: Walk, page: PageOptions) -> Response:
    statement, values = walk.statement(page.limit or -1)
    with database.reading(walk.index) as reader:
        cursor = reader.execute(statement, values)
        try:
            found = collect(cursor, walk.index, page)
        finally:
            # An open cursor would keep its snapshot, and the log with it.
            cursor.close()
        keys = name_broken(reader, walk, statement, values, found.broken) if found.broken else {}
    response: Response = {"Count": found.kept, "ScannedCount": found.scanned}
    if not page.count_only:
        response["Items"] = found.items
    is_cut = found.stopped or found.scanned == page.limit
    if found.blob is not None and is_cut and not walk.is_of_one_item:
        last = keys.get(found.blob) or orjson.loads(found.blob)
        names = walk.index.key_names if walk.index else walk.table.key_names
        response["LastEvaluatedKey"] = {name: last[name] for name in names}
    mode = mode_of(params)
    if mode:
        response["ConsumedCapacity"] = capacity_of_page(
            params["TableName"], walk, page, found
        ).to_response(mode)
    return response


def collect(rows: Iterable[Any], index: Index | None, page: PageOptions) -> PageResult:
    """Reads rows until a bound is reached, keeping the items that pass the filter."""
    found = PageResult()
    keep, shape, items = page.keep, page.shape, found.items
    view = index.view if index and index.projected and not page.whole_items else None
    deadline = thread_time() + PAGE_SECONDS
    needs_item = keep is not None or not page.count_only
    size = scanned = kept = 0
    blob: bytes | None = None
    for row in rows:
        blob = row[1]
        size += row[0]
        scanned += 1
        if needs_item:
            try:
                item = orjson.loads(row[1])
            except orjson.JSONDecodeError:
                # An item that cannot be read is logged by its key; the others are still returned.
                found.broken.append(row[1])
                item = None
            if view and item is not None:
                item = view(item)
            if item is not None and (keep is None or keep(item)):
                kept += 1
                if not page.count_only:
                    items.append(shape(item) if shape else item)
        if index and page.whole_items:
            found.fetched += -(-row[2] // wire.READ_BLOCK)
        if size >= PAGE_BYTES or (scanned % 64 == 0 and thread_time() > deadline):
            found.stopped = True
            break
    if blob is not None and not needs_item and not is_item(blob):
        found.broken.append(blob)
    found.size, found.scanned, found.blob = size, scanned, blob
    found.kept = kept if needs_item else scanned
    return found


def is_item(blob: bytes) -> bool:
    try:
        orjson.loads(blob)
    except orjson.JSONDecodeError:
        return False
    return True


def name_broken(
    reader: apsw.Connection, walk: Walk, statement: str, values: list[Any], broken: list[bytes]
) -> dict[bytes, Item]:
    """The keys of unreadable items, by their bytes; each is logged as an error."""
    _, _, walked = statement.partition(" FROM ")
    columns = "entry.pk, entry.sk, entry.base_key, base.item" if walk.index else "pk, sk, item"
    keys: dict[bytes, Item] = {}
    for *row, blob in storage.all_rows(reader, f"SELECT {columns} FROM {walked}", tuple(values)):
        if blob in broken:
            keys[blob] = walk.key_of(tuple(row))
            shown = {name: keys[blob][name] for name in walk.table.key_names}
            log.error("left out of a page: %s", UnreadableItem(walk.table.name, shown))
        if len(keys) == len(broken):
            break
    return keys


def capacity_of_page(
    name: str, walk: Walk, page: PageOptions, found: PageResult
) -> ConsumedCapacity:
    used = ConsumedCapacity(name)
    units = wire.read_units(found.size, consistent=page.consistent)
    if walk.index is None:
        used.table = units
    else:
        used.add_index(walk.index, units)
        # A local index fetches the whole item if more than its projection is requested.
        used.table = float(found.fetched) if page.consistent else found.fetched / 2
    return used


# --- Select: what a page returns of each item ---------------------------------------------
# AWS: Select of "Query"; messages as seen by dynalite's test/query.js and the suite in `query`.
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html#DDB-Query-request-Select


# What Query, unlike Scan, puts before these messages. (Seen on AWS in several regions:
# https://github.com/nubo-db/dynoxide/issues/96, https://github.com/nubo-db/dynoxide/issues/121,
# https://github.com/floci-io/floci/pull/3410)
OF_QUERY = "1 validation error detected: "


def check_select(params: Params, *, prefix: str) -> None:
    """Checks `Select` as far as is possible without the table; `prefix` begins the messages."""
    select = params.get("Select")
    named = [member for member in ("ProjectionExpression", "AttributesToGet") if member in params]
    if named and select not in (None, "SPECIFIC_ATTRIBUTES"):
        wanted = "only the Count" if select == "COUNT" else select
        raise wire.ValidationException(
            f"{prefix}Cannot specify the {named[0]} when choosing to get {wanted}"
        )
    if select == "SPECIFIC_ATTRIBUTES" and not named:
        raise wire.ValidationException(
            f"{prefix}Must specify the AttributesToGet or ProjectionExpression "
            "when choosing to get SPECIFIC_ATTRIBUTES"
        )
    if select == "ALL_PROJECTED_ATTRIBUTES" and "IndexName" not in params:
        # AWS says "Querying" for a Scan as well.
        raise wire.ValidationException(
            f"{prefix}ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
        )


def read_selection(params: Params, index: Index | None, expressions: Expressions) -> PageOptions:
    """Checks `Select` against the index, and returns the page options that implement it."""
    select = params.get("Select")
    return PageOptions(
        limit=params.get("Limit"),
        keep=expressions.filter,
        shape=expressions.projection,
        count_only=select == "COUNT",
        whole_items=needs_whole_items(index, select, expressions),
        consistent=bool(params.get("ConsistentRead")),
    )


def needs_whole_items(index: Index | None, select: str | None, expressions: Expressions) -> bool:
    """Whether the index lacks requested attributes: a local one fetches them, a global cannot."""
    if index is None or index.projected is None:
        return False
    if select == "ALL_ATTRIBUTES":
        if index.is_global:
            table_schema.invalid(
                "Select type ALL_ATTRIBUTES is not supported for global secondary index "
                f"{index.name} because its projection type is not ALL"
            )
        return True
    wanted = expressions.projection.attributes if expressions.projection else frozenset()
    missing = wanted - index.projected
    if missing and index.is_global:
        table_schema.invalid(
            f"Global secondary index {index.name} does not project [{', '.join(sorted(missing))}]"
        )
    return bool(missing)


# --- ExclusiveStartKey: where a page starts -----------------------------------------------

# AWS prefixes only some of the value errors. (Seen by dynalite's test/query.js)
WITHOUT_PREFIX = re.compile(
    "contains duplicates|number set|numeric value|significant digits|number with magnitude"
)
INVALID = "The provided starting key is invalid"


def read_start_key(params: Params) -> Item | None:
    """The start key with its values checked; the rest depends on the table."""
    given = params.get("ExclusiveStartKey")
    if given is None:
        return None
    try:
        return {name: wire.check_value(value)[0] for name, value in given.items()}
    except wire.ValidationException as error:
        if WITHOUT_PREFIX.search(error.message):
            raise
        raise wire.ValidationException(f"{INVALID}: {error.message}") from None


def check_start_value(start: Item, attribute: KeyAttribute, *, is_hash: bool) -> None:
    """Checks one attribute of the start key against the key schema that is read."""
    value = start.get(attribute.name)
    if value is None:
        raise wire.ValidationException(INVALID)
    if attribute.type not in value:
        raise wire.ValidationException("The provided key element does not match the schema")
    storage.check_key_value(attribute, value, is_hash=is_hash)


def position(table: Table, index: Index | None, start: Item) -> tuple[bytes, ...]:
    """The key blobs of the start key: (pk, sk), and for an index also the table's key."""
    try:
        blobs = table.key_blobs(table.key_of(start))
    except KeyError:
        raise wire.ValidationException(
            f"{INVALID}: The provided key element does not match the schema"
        ) from None
    except wire.ValidationException as error:
        raise wire.ValidationException(f"{INVALID}: {error.message}") from None
    if index is None:
        return blobs
    return index.codec.partition(start), index.codec.sort(start), storage.base_key(*blobs)
