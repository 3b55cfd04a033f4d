"""One page of a query or a scan.

Rows come from SQLite in key order and stop at the first of: `Limit` items looked at, the item
that reaches 1 MB, the end. Both bounds count items before the filter, as DynamoDB's do. A page
that stopped at a bound carries the key of the last item looked at, kept or not.

One bound is ours: a page also ends after half a second of work, which only a very costly filter
over very small items can take, so that no request keeps the others waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from time import thread_time
from typing import Any

import orjson

from bigtime.engine.operations.capacity import Consumed, mode_of
from bigtime.engine.storage import Database, Index, SortRange, Table
from bigtime.wire import READ_BLOCK, Item, Params, Response, read_units

PAGE_BYTES = 1024 * 1024
PAGE_SECONDS = 0.5


@dataclass(slots=True)
class Walk:
    """Which rows to walk, in which direction, and where to start."""

    table: Table
    index: Index | None
    partition: bytes | None
    partitions: SortRange
    sorts: SortRange
    start: tuple[bytes, ...] | None = None
    forward: bool = True

    def statement(self, limit: int) -> tuple[str, list[Any]]:
        given = (self.partition, *self.partitions, *self.sorts)
        values: list[Any] = [one for one in given if one is not None]
        if self.start is not None:
            values.extend(self.start)
        values.append(limit)
        bounds = tuple(mark for mark, one in zip(BOUNDS, given, strict=True) if one is not None)
        index = self.index.rows if self.index else None
        started = self.start is not None
        return statement_of(self.table.rows, index, bounds, started, self.forward), values


BOUNDS = ("pk = ?", "pk >= ?", "pk < ?", "sk >= ?", "sk < ?")


@lru_cache(maxsize=4096)
def statement_of(
    rows: str, index: str | None, bounds: tuple[str, ...], started: bool, forward: bool
) -> str:
    """The text of a walk, which is the same for all values of its bounds."""
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
    return f"{selecting(rows, index)}{clause} ORDER BY {order} LIMIT ?"


def selecting(rows: str, index: str | None) -> str:
    if index is None:
        return f"SELECT size, item FROM {rows}"
    # The index leads and the item follows by row number: CROSS JOIN keeps that order.
    return (
        "SELECT entry.size, base.item, base.size"
        f" FROM (SELECT pk, sk, base_key, base, size FROM {index}) AS entry"
        f" CROSS JOIN (SELECT id, size, item FROM {rows}) AS base ON base.id = entry.base"
    )


@dataclass(slots=True)
class Page:
    """What to do with the rows of a walk."""

    limit: int | None
    keep: Callable[[Item], bool] | None
    shape: Callable[[Item], Item] | None
    count_only: bool
    whole_items: bool
    consistent: bool


class Found:
    """What a page has come to so far."""

    __slots__ = ("blob", "fetched", "items", "kept", "scanned", "size", "stopped")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.kept = 0
        self.scanned = 0
        self.size = 0
        self.fetched = 0
        self.blob: bytes | None = None
        self.stopped = False


def read_page(database: Database, params: Params, walk: Walk, page: Page) -> Response:
    statement, values = walk.statement(page.limit or -1)
    with database.reading(walk.index) as reader:
        cursor = reader.execute(statement, values)
        try:
            found = collect(cursor, walk.index, page)
        finally:
            # An open cursor would keep its snapshot, and the log with it.
            cursor.close()
    response: Response = {"Count": found.kept, "ScannedCount": found.scanned}
    if not page.count_only:
        response["Items"] = found.items
    if found.blob is not None and (found.stopped or found.scanned == page.limit):
        last = orjson.loads(found.blob)
        names = walk.index.key_names if walk.index else walk.table.key_names
        response["LastEvaluatedKey"] = {name: last[name] for name in names}
    mode = mode_of(params)
    if mode:
        response["ConsumedCapacity"] = consumed(params["TableName"], walk, page, found).shown(mode)
    return response


def collect(rows: Iterable[Any], index: Index | None, page: Page) -> Found:
    """Takes rows until a bound is reached, keeping the items that pass the filter."""
    found = Found()
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
            item = orjson.loads(row[1])
            if view:
                item = view(item)
            if keep is None or keep(item):
                kept += 1
                if not page.count_only:
                    items.append(shape(item) if shape else item)
        if index and page.whole_items:
            found.fetched += -(-row[2] // READ_BLOCK)
        if size >= PAGE_BYTES or (scanned % 64 == 0 and thread_time() > deadline):
            found.stopped = True
            break
    found.size, found.scanned, found.blob = size, scanned, blob
    found.kept = kept if needs_item else scanned
    return found


def consumed(name: str, walk: Walk, page: Page, found: Found) -> Consumed:
    used = Consumed(name)
    units = read_units(found.size, consistent=page.consistent)
    if walk.index is None:
        used.table = units
    else:
        used.add_index(walk.index, units)
        # A local index that is asked for more than it projects fetches each item whole.
        used.table = float(found.fetched) if page.consistent else found.fetched / 2
    return used
