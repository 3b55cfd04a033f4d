"""Query and Scan of the model: which entries, in which order, and what of each is shown."""

from __future__ import annotations

from tests.reference import operations as o
from tests.reference import trees as t
from tests.reference.designs import Index
from tests.reference.evaluation import begins_with, compare, holds
from tests.reference.outcomes import Row, Rows
from tests.reference.tables import Table
from tests.reference.updates import project
from tests.reference.values import Item, decode, decode_item, order


def query(table: Table, read: o.Query) -> Rows:
    index = table.design.index(read.index)
    sort = sort_names(table, index)
    entries = [item for item in table.view(index) if all(passes(item, k) for k in read.keys)]
    entries.sort(key=lambda item: position(item, sort), reverse=read.forward is False)
    if read.start is not None:
        entries = [item for item in entries if is_after(item, read, sort)]
    rows = tuple(row(table, index, read, item, position(item, sort)) for item in entries)
    return Rows(rows, True, read.select == "COUNT", read.limit)


def scan(table: Table, read: o.Scan) -> Rows:
    index = table.design.index(read.index)
    rows = tuple(row(table, index, read, item, None) for item in table.view(index))
    return Rows(rows, False, read.select == "COUNT", read.limit)


def sort_names(table: Table, index: Index | None) -> tuple[str, ...]:
    own = (table.design.sort,) if table.design.sort else ()
    return own if index is None else index.sort


def position(item: Item, sort: tuple[str, ...]) -> tuple[object, ...]:
    return tuple(order(item[name]) for name in sort)


def is_after(item: Item, read: o.Query, sort: tuple[str, ...]) -> bool:
    assert read.start is not None
    here, there = position(item, sort), position(decode_item(read.start), sort)
    return here < there if read.forward is False else here > there


def passes(item: Item, test: t.KeyTest) -> bool:
    value, bounds = item[test.name], [decode(bound) for bound in test.values]
    match test.operator:
        case "BETWEEN":
            return compare(">=", value, bounds[0]) and compare("<=", value, bounds[1])
        case "begins_with":
            return begins_with(value, bounds[0])
        case _:
            return compare(test.operator, value, bounds[0])


def row(table: Table, index: Index | None, read: o.Read, entry: Item, at: object) -> Row:
    """A local index fetches from the table what it does not project, a global one cannot
    (developerguide/LSI.html "Fetching attributes from the table")."""
    whole = entry
    if index is not None and not index.is_global:
        whole = table.items[table.key_of(entry)]
    kept = read.filter is None or holds(read.filter, entry)
    cursor = {name: entry[name] for name in (*table.design.keys, *(index.keys if index else ()))}
    if read.projection:
        return Row(project(read.projection, whole), at, kept, cursor)
    return Row(whole if read.select == "ALL_ATTRIBUTES" else entry, at, kept, cursor)
