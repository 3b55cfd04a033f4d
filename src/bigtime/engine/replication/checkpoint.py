"""How far a replica has come with what another region has written.

It is kept in the replica's own file and committed together with what it stands for: after a crash
the last chunk is applied again, which changes nothing, and none is left out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import apsw
import orjson

from bigtime.engine.storage import Table, Transaction


@dataclass(frozen=True, slots=True)
class Copy:
    """How far a comparison of all items has come: first those that are there, then the deleted."""

    phase: Literal["items", "tombstones"] = "items"
    row: int = 0
    partition: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The last record taken over from the other region's stream, and a copy that comes before."""

    stream: int
    sequence: int
    copy: Copy | None = None


def name_of(table: Table, source: str) -> str:
    return f"replication {table.number} {source}"


def read_checkpoint(connection: apsw.Connection, table: Table, source: str) -> Checkpoint | None:
    text = connection.execute(
        "SELECT value FROM settings WHERE name = ?", (name_of(table, source),)
    ).get
    if text is None:
        return None
    raw = orjson.loads(text)
    copy = raw.pop("copy")
    return Checkpoint(**raw, copy=Copy(**copy) if copy else None)


def write_checkpoint(
    transaction: Transaction, table: Table, source: str, checkpoint: Checkpoint
) -> None:
    text = orjson.dumps(asdict(checkpoint)).decode()
    transaction.execute(
        "INSERT OR REPLACE INTO settings VALUES (?, ?)", (name_of(table, source), text)
    )


def drop_checkpoints(transaction: Transaction, table: Table) -> None:
    transaction.execute(
        "DELETE FROM settings WHERE name GLOB ?", (f"replication {table.number} *",)
    )
