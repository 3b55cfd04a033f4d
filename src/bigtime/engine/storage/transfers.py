"""Exports, imports and bulk operations: their requests, their progress and their outcomes.

A row is written with the request, updated with every step, in one transaction with the step's
changes, and kept for 90 days. So a process that is killed loses at most a step, and the next
housekeeper continues. The SQL table is created with the first row: a file without exports and
imports does not have it.

AWS: "Lists completed exports within the past 90 days", and likewise imports.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListExports.html
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

import apsw
import orjson

from bigtime.engine.storage import recovery
from bigtime.engine.storage.catalogue import Catalogue
from bigtime.engine.storage.change_log import unpin
from bigtime.engine.storage.definition import TableDefinition
from bigtime.engine.storage.file import Transaction, all_rows
from bigtime.engine.storage.restore import Restore, end_restore, give_up
from bigtime.engine.storage.table import Table

TransferKind: TypeAlias = Literal["export", "import", "bulk"]
Status: TypeAlias = Literal[
    "IN_PROGRESS", "COMPLETED", "FAILED", "COMPLETED_WITH_ERRORS", "CANCELLING", "CANCELLED"
]

LISTED_SECONDS: Final = 90 * 24 * 3600.0
TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS transfers (arn TEXT PRIMARY KEY, kind TEXT NOT NULL,"
    " table_name TEXT NOT NULL, status TEXT NOT NULL, started_at REAL NOT NULL, token TEXT,"
    " state BLOB NOT NULL) WITHOUT ROWID"
)
UNFINISHED: Final = "status IN ('IN_PROGRESS', 'CANCELLING')"
COLUMNS: Final = "arn, kind, table_name, status, started_at, token, state"


class Transfer(NamedTuple):
    """An export, an import or a bulk operation.

    `state` has the request and its progress.
    """

    arn: str
    kind: TransferKind
    table_name: str
    status: Status
    started_at: float
    token: str | None
    state: dict[str, Any]

    def with_state(self, **state: Any) -> Transfer:
        return self._replace(state={**self.state, **state})

    def end(self, status: Status, at: float, **state: Any) -> Transfer:
        return self.with_state(ended_at=round(at, 3), **state)._replace(status=status)


def add_transfer(transaction: Transaction, transfer: Transfer) -> None:
    transaction.execute(TABLE)
    oldest = transaction.settled - LISTED_SECONDS
    transaction.execute(
        f"DELETE FROM transfers WHERE started_at < ? AND NOT ({UNFINISHED})", (oldest,)
    )
    save_transfer(transaction, transfer)


def save_transfer(transaction: Transaction, transfer: Transfer) -> None:
    row = (*transfer[:6], orjson.dumps(transfer.state))
    transaction.execute("INSERT OR REPLACE INTO transfers VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def find_transfer(reader: apsw.Connection, kind: TransferKind, arn: str) -> Transfer | None:
    return next(iter(select(reader, "kind = ? AND arn = ?", (kind, arn))), None)


def find_by_token(
    reader: apsw.Connection, kind: TransferKind, token: str, since: float
) -> Transfer | None:
    """The export or import requested with the same ClientToken since that time."""
    where = "kind = ? AND token = ? AND started_at > ?"
    return next(iter(select(reader, where, (kind, token, since))), None)


def transfers_in_progress(
    reader: apsw.Connection, kind: TransferKind, table_name: str | None = None
) -> list[Transfer]:
    found = select(reader, f"kind = ? AND {UNFINISHED}", (kind,))
    return [transfer for transfer in found if table_name in (None, transfer.table_name)]


def list_transfers(
    reader: apsw.Connection, kind: TransferKind, table_name: str | None, since: float
) -> list[Transfer]:
    """The transfers of a table or of all tables, newest first."""
    where = "kind = ? AND started_at > ? AND (? IS NULL OR table_name = ?)"
    found = select(reader, where, (kind, since, table_name, table_name))
    return sorted(found, key=lambda transfer: (transfer.started_at, transfer.arn), reverse=True)


def finish_export(catalogue: Catalogue, ended: Transfer, transaction: Transaction) -> None:
    """Records the end of an export, and unpins the changes that it needed."""
    save_transfer(transaction, ended)
    for pin in ended.state["pins"]:
        unpin(transaction, pin)
    recovery.drop_needless_logs(catalogue, transaction)


# --- Imports: their tables are created like restored ones -----------------------------------


def imported_definition(transfer: Transfer) -> TableDefinition:
    """The table that an import creates."""
    return TableDefinition.from_json(transfer.state["definition"].encode())


def finish_import(catalogue: Catalogue, ended: Transfer, transaction: Transaction) -> None:
    """Gives the table its name."""
    definition = imported_definition(ended)
    end_restore(catalogue, Restore(definition, {}), transaction)
    catalogue.store(transaction, Table(definition))
    save_transfer(transaction, ended)


def give_up_import(catalogue: Catalogue, ended: Transfer, transaction: Transaction) -> None:
    """Drops the table."""
    give_up(catalogue, Restore(imported_definition(ended), {}), transaction)
    save_transfer(transaction, ended)


def select(reader: apsw.Connection, where: str, bindings: tuple[Any, ...]) -> list[Transfer]:
    try:
        rows = all_rows(reader, f"SELECT {COLUMNS} FROM transfers WHERE {where}", bindings)
    except (apsw.SQLError, apsw.SchemaChangeError):  # the second if another table has just changed
        if reader.table_exists("main", "transfers"):
            raise
        return []
    return [Transfer(*(*known, orjson.loads(state))) for *known, state in rows]
