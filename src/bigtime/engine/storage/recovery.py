"""Point-in-time recovery: how far back a table can be restored, and which deleted tables can be.

A table with point-in-time recovery has a change log. When it is deleted, its items and its log stay
in the file for 35 days, as AWS keeps a system backup; its indexes are dropped at once. A table
without it has a log only while a backup of it is being copied; if it is deleted meanwhile, its
items stay until the copy is done.

AWS: "Enable point-in-time recovery in DynamoDB", "Delete a table with PITR enabled"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final, NamedTuple

import apsw

from bigtime.engine.storage import change_log
from bigtime.engine.storage.catalogue import Catalogue
from bigtime.engine.storage.commit import Work
from bigtime.engine.storage.definition import CHANGE_LOG, TableDefinition
from bigtime.engine.storage.discard import discard
from bigtime.engine.storage.file import Transaction, all_rows
from bigtime.engine.storage.format import has_backups
from bigtime.engine.storage.table import Table

RECOVERY: Final = "PointInTimeRecovery"  # of a definition's notes
DAY_SECONDS: Final = 24 * 3600.0
KEPT_SECONDS: Final = 35 * DAY_SECONDS


class Window(NamedTuple):
    """When point-in-time recovery was enabled, and how many days back it goes."""

    since: float
    days: int

    def earliest(self, now: float) -> float:
        """The earliest moment that the table can be restored to."""
        return min(max(self.since, now - self.days * DAY_SECONDS), now)


def recovery_window(definition: TableDefinition) -> Window | None:
    notes = definition.notes.get(RECOVERY)
    return Window(notes["since"], notes["days"]) if notes else None


def with_window(definition: TableDefinition, window: Window | None) -> TableDefinition:
    return definition.with_note(RECOVERY, window._asdict() if window else None)


# --- Logs -----------------------------------------------------------------------------------


def ensure_log(
    catalogue: Catalogue, transaction: Transaction, definition: TableDefinition
) -> TableDefinition:
    """The definition with a change log, which is created if there is none."""
    if definition.change_log is not None:
        return definition
    number = catalogue.next_number(transaction)
    change_log.open_log(transaction, number)
    return definition.with_note(CHANGE_LOG, number)


def without_needless_log(transaction: Transaction, definition: TableDefinition) -> TableDefinition:
    """The definition, whose change log is dropped if nothing needs it any more."""
    log = definition.change_log
    if log is None or recovery_window(definition) is not None:
        return definition
    if change_log.lowest_pin(transaction.connection, log) is not None:
        return definition
    discard(transaction, f"l{log}")
    return definition.with_note(CHANGE_LOG, None)


def drop_needless_logs(catalogue: Catalogue, transaction: Transaction) -> None:
    """Called after a pin is removed: drops the logs that no table needs any more."""
    for table in list(catalogue.tables_for_writing().values()):
        changed = without_needless_log(transaction, table.definition)
        if changed is not table.definition:
            catalogue.change(transaction, changed)


def logs_to_trim(
    reader: apsw.Connection, tables: Iterable[TableDefinition], settled: float
) -> list[Work[bool]]:
    """Work that trims changes beyond every restore window. A table may just have been deleted."""
    works: list[Work[bool]] = []
    present = set(change_log.logs_of(reader))
    for definition in (*tables, *(kept.definition for kept in kept_tables(reader))):
        window, log = recovery_window(definition), definition.change_log
        if window is not None and log in present:
            oldest = settled - window.days * DAY_SECONDS
            if change_log.is_to_trim(reader, log, oldest):
                works.append(partial(change_log.trim_log, log, oldest))
    return works


# --- Deleted tables -------------------------------------------------------------------------


class KeptTable(NamedTuple):
    """A deleted table whose items and log are still in the file."""

    definition: TableDefinition
    deleted_at: float


def keep_table(transaction: Transaction, table: Table) -> None:
    """Records that the items and the log of a table are kept when it is deleted."""
    transaction.execute(
        "INSERT INTO kept_tables VALUES (?, ?, ?)",
        (table.number, table.definition.to_json(), transaction.now),
    )


def kept_tables(connection: apsw.Connection) -> list[KeptTable]:
    """The deleted tables still in the file, the most recently deleted first."""
    if not has_backups(connection):
        return []
    query = "SELECT definition, deleted_at FROM kept_tables ORDER BY deleted_at DESC, number DESC"
    return [
        KeptTable(TableDefinition.from_json(text), deleted_at)
        for text, deleted_at in all_rows(connection, query)
    ]


def tables_to_forget(reader: apsw.Connection, settled: float) -> list[KeptTable]:
    return [kept for kept in kept_tables(reader) if is_over(reader, kept, settled)]


def is_over(connection: apsw.Connection, kept: KeptTable, settled: float) -> bool:
    """Whether a deleted table is no longer needed: it has expired, and nobody is copying it."""
    log = kept.definition.change_log
    assert log is not None
    seconds = KEPT_SECONDS if recovery_window(kept.definition) else 0.0
    is_late = kept.deleted_at + seconds <= settled
    return is_late and change_log.lowest_pin(connection, log) is None


def forget_table(kept: KeptTable, transaction: Transaction) -> bool:
    """Drops the remains of a deleted table, and its system backup."""
    number = kept.definition.number
    if is_over(transaction.connection, kept, transaction.settled):
        transaction.execute("DELETE FROM kept_tables WHERE number = ?", (number,))
        if transaction.connection.changes():
            discard(transaction, f"t{number}")
            discard(transaction, f"l{kept.definition.change_log}")
            transaction.execute(
                "DELETE FROM backups WHERE type = 'SYSTEM' AND description ->> 'table' = ?",
                (number,),
            )
    return False
