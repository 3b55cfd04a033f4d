"""A small system in an engine, its clock, and what a backup needs of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from bigtime import model as bt
from bigtime.engine import Engine
from bigtime.ops import BackupSource
from bigtime.store import Store
from bigtime.testing import Clock
from bigtime.wire import Request

START = datetime(2026, 1, 1, tzinfo=UTC)

BOOKS = bt.Table("Books", "PK", indexes=[bt.global_index("ByAuthor", "author")])
LOANS = bt.Table("Loans", "PK", "SK", stream="NEW_AND_OLD_IMAGES", ttl="ends_at")
CODES = bt.Table("Codes", "PK", ttl="ends_at")


class Book(bt.Entity, table=BOOKS):
    """A book."""

    keys = bt.Keys(main="BOOK#{id}", ByAuthor="{author}")
    id: str
    author: str
    copies: int = 1


class Loan(bt.Entity, table=LOANS):
    """A book that was lent; it may be for ever."""

    keys = bt.Keys(main=("BOOK#{book}", "LOAN#{id}"))
    book: str
    id: str
    ends_at: Annotated[datetime, bt.EpochSeconds] | None = None


class Code(bt.Entity, table=CODES):
    """A code that expires."""

    keys = bt.Keys(main="CODE#{id}")
    id: str
    ends_at: Annotated[datetime, bt.EpochSeconds]


SYSTEM = bt.System("library", (BOOKS, LOANS, CODES), unsaved=("Codes",))


class Library:
    """An engine with the tables, whose clock is moved."""

    def __init__(self, path: Path, *, start: datetime = START) -> None:
        self.clock = Clock()
        self.clock.stop(start)
        self.engine = Engine.open(
            path, durability="relaxed", housekeeping=False, clock=self.clock.seconds
        )
        self.store = Store(self.engine, clock=self.clock, sleep=lambda _: self.engine.tidy())
        self.store.run(bt.setup(SYSTEM))

    def source(self, environment: str | None = None) -> BackupSource:
        return BackupSource(self.engine, SYSTEM, environment)

    def add(self, *ids: str) -> None:
        """A book and its loan for each, in one transaction."""
        for id in ids:
            book, loan = Book(id=id, author="A"), Loan(book=id, id="1")
            self.store.run(bt.transact(bt.put(book), bt.put(loan)))

    def recover(self) -> None:
        """Switches point-in-time recovery on."""
        for table in ("Books", "Loans", "Codes"):
            on = {"PointInTimeRecoveryEnabled": True}
            self.engine(
                Request(
                    "UpdateContinuousBackups",
                    {"TableName": table, "PointInTimeRecoverySpecification": on},
                )
            )

    def ids(self, table: str = "Books") -> list[str]:
        found = self.engine(Request("Scan", {"TableName": table}))["Items"]
        return sorted(item["PK"]["S"].removeprefix("BOOK#") for item in found)

    def close(self) -> None:
        self.engine.close()
