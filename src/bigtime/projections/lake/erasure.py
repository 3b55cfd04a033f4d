"""Erasing persons: their ids are replaced by a pseudonym in every file that contains them.

A person's items are erased in the tables first, and the lake receives that like any change. What
remains are the earlier rows. They are rewritten: the column that held the id, and the item's key,
get the pseudonym. So aggregates stay the same: how many changes there were, of how many different
accounts, on which day.

1. Erasure waits until all changes up to it are committed and no gap can still be closed; otherwise
   they would bring the id back.
2. Current state is brought up to date, so that it does not contain deleted items.
3. An item that was moved to the pseudonym was removed and inserted in the table. Here its earlier
   rows get the new key too, and these two changes are left out, as if the item had always had the
   pseudonym; otherwise it would count twice.
4. New files are added, and then they replace the old ones in the manifest. That is the only commit:
   after a crash before it, nothing has changed; after it, the id is no longer found. The old files
   are deleted some minutes later, as after a compaction.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_fields
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

import orjson

from bigtime.model import ItemMismatch, Key
from bigtime.projections.lake.current import missing_current, rebuild_current, refresh_current
from bigtime.projections.lake.gaps import closable_gaps
from bigtime.projections.lake.manifest import ChangeFile, next_name
from bigtime.projections.lake.parquet import CHANGE_ORDER
from bigtime.projections.lake.sql_text import parquet_rows, quote_name, text_literal
from bigtime.projections.lake.table_lake import TableLake
from bigtime.wire import Item

CLOCKS_DIFFER: Final = timedelta(minutes=1)

NewFiles: TypeAlias = dict[ChangeFile, ChangeFile | None]
"""Files and their replacements; None if no rows are left."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """An id in a column, in rows up to a moment, and the pseudonym that replaces it."""

    field: str
    old: str
    new: str
    until: datetime

    @property
    def last(self) -> datetime:
        """The time of the last row that may contain the id."""
        return self.until + CLOCKS_DIFFER

    @property
    def rows(self) -> str:
        """The SQL condition for rows that contain the id."""
        last = self.last.astimezone(UTC)
        return (
            f"({quote_name(self.field)} = {text_literal(self.old)}"
            f" AND changed_at <= TIMESTAMP '{last:%Y-%m-%d %H:%M:%S}')"
        )

    @property
    def moves(self) -> str:
        """The SQL condition for rows that insert an item under the pseudonym."""
        return f"({quote_name(self.field)} = {text_literal(self.new)} AND change = 'INSERT')"


def replace_ids(lake: TableLake, wanted: Mapping[str, Sequence[Replacement]]) -> bool:
    """Replaces ids in the files of a table; returns False if that has to wait."""
    concerned = {name: wanted[name] for name in lake.lakes if wanted.get(name)}
    if not concerned:
        return True
    lake.commit()
    if not is_complete(lake, max(each.last for found in concerned.values() for each in found)):
        return False
    refresh_current(lake, force=True)
    if any(holds_ids(lake, name, found) for name, found in concerned.items()):
        rebuild_current(lake)
    rewritten: NewFiles = {}
    for name, found in concerned.items():
        rewritten |= rewrite(lake, name, found)
    if rewritten:
        name_instead(lake, rewritten)
        lake.save()
    return True


def name_instead(lake: TableLake, rewritten: NewFiles) -> None:
    """Replaces the old files by the new ones in the manifest."""
    kept = [file for file in lake.manifest.files if file not in rewritten]
    lake.manifest.files = kept + [new for new in rewritten.values() if new is not None]
    lake.retire([file.name for file in rewritten])


def is_complete(lake: TableLake, last: datetime) -> bool:
    """Whether all changes up to a moment are committed, and current state exists."""
    moment = lake.store.clock()
    if moment - lake.behind(moment) <= last or missing_current(lake):
        return False
    return not closable_gaps(lake)


def holds_ids(lake: TableLake, name: str, wanted: Sequence[Replacement]) -> bool:
    """Whether current state still has an item with one of the ids."""
    path = lake.local(lake.manifest.current[name].name)
    return bool(count_rows(lake, path, any_of(each.rows for each in wanted)))


def rewrite(lake: TableLake, name: str, wanted: Sequence[Replacement]) -> NewFiles:
    """Adds files without the ids, and returns which files they replace."""
    theirs, moves = any_of(each.rows for each in wanted), any_of(each.moves for each in wanted)
    files = lake.manifest.files_of(name)
    keys = keys_of_rows(lake, files, theirs)
    if not keys:
        return {}
    moved = keys_of_rows(lake, files, moves)
    lake.writer.connection.execute(
        "CREATE OR REPLACE TABLE renamed (item_key VARCHAR, new_key VARCHAR, is_moved BOOLEAN)"
    )
    renamed = [(key, new_key(lake, name, key, wanted)) for key in sorted(keys)]
    rows = [(key, new, new in moved) for key, new in renamed]
    lake.writer.connection.executemany("INSERT INTO renamed VALUES (?, ?, ?)", rows)
    rewritten: NewFiles = {}
    for file in files:
        path = lake.local(file.name)
        if count_rows(lake, path, f"{theirs} OR {moves}"):
            rewritten[file] = rewrite_file(lake, file, rewritten_rows(path, wanted))
        forget_copy(lake, path)
    lake.writer.connection.execute("DROP TABLE renamed")
    return rewritten


def rewrite_file(lake: TableLake, file: ChangeFile, query: str) -> ChangeFile | None:
    """Adds a replacement for a file with the query's rows; None if there are none."""
    ((rows,),) = lake.writer.fetch(f"SELECT count(*) FROM ({query})")
    if not rows:
        return None
    name = next_name(file.name)
    size = lake.place.add(name, lambda draft: lake.writer.write_query(query, draft))
    return with_fields(file, name=name, rows=rows, bytes=size)


def rewritten_rows(path: Path, wanted: Sequence[Replacement]) -> str:
    """The query for a file's rows with pseudonyms, without the moves to them."""
    theirs, moves = any_of(each.rows for each in wanted), any_of(each.moves for each in wanted)
    fields = dict.fromkeys(each.field for each in wanted)
    columns = [
        f"CASE {' '.join(case(each) for each in wanted if each.field == field)}"
        f" ELSE {quote_name(field)} END AS {quote_name(field)}"
        for field in fields
    ]
    found = "(SELECT {0} FROM renamed WHERE renamed.item_key = rows.item_key)"
    is_moved = f"coalesce({found.format('is_moved')}, false)"
    columns.append(
        f"CASE WHEN {theirs} THEN {found.format('new_key')} ELSE item_key END AS item_key"
    )
    is_move = f"({theirs} AND change = 'REMOVE' AND {is_moved}) OR {moves}"
    return (
        f"SELECT * REPLACE ({', '.join(columns)})"
        f" FROM {parquet_rows([path])} AS rows"
        f" WHERE coalesce(NOT ({is_move}), true) ORDER BY {CHANGE_ORDER}, changed_at"
    )


def case(replacement: Replacement) -> str:
    return f"WHEN {replacement.rows} THEN {text_literal(replacement.new)}"


def any_of(conditions: Iterable[str]) -> str:
    return f"({' OR '.join(conditions)})"


def keys_of_rows(lake: TableLake, files: Iterable[ChangeFile], condition: str) -> set[str]:
    """The keys of the items that have such rows; reads one file at a time."""
    found: set[str] = set()
    for file in files:
        path = lake.local(file.name)
        read = f"SELECT DISTINCT item_key FROM {parquet_rows([path])}"
        found |= {key for (key,) in lake.writer.fetch(f"{read} WHERE {condition}")}
        forget_copy(lake, path)
    return found


def count_rows(lake: TableLake, path: Path, condition: str) -> int:
    read = f"SELECT count(*) FROM {parquet_rows([path])}"
    ((rows,),) = lake.writer.fetch(f"{read} WHERE {condition}")
    return int(rows)


def forget_copy(lake: TableLake, path: Path) -> None:
    """Deletes the local copy of an S3 object: years of files may not fit on this disk."""
    if path.is_relative_to(lake.writer.scratch):
        path.unlink(missing_ok=True)


def new_key(lake: TableLake, name: str, key: str, wanted: Sequence[Replacement]) -> str:
    """An item's key with the pseudonym instead of the id; a key in an old format becomes a hash."""
    entity, names = lake.lakes[name].entity, lake.table.key_names
    values = orjson.loads(key)
    item: Item = {attribute: {"S": value} for attribute, value in zip(names, values, strict=True)}
    try:
        fields = dict(entity.key_of(item).fields)
    except ItemMismatch:
        return orjson.dumps([sha256(secrets.token_bytes(16) + key.encode()).hexdigest()]).decode()
    for each in wanted:
        if fields.get(each.field) == each.old:
            fields[each.field] = each.new
    return lake.makers[name].key_of(Key(entity, fields).item)
