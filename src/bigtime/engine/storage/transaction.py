"""One SQLite write transaction, shared by all the works of a group commit."""

from __future__ import annotations

from collections.abc import Callable

import apsw


class Transaction:
    """One SQLite transaction, shared by the works of a group."""

    __slots__ = ("connection", "counts", "execute", "now", "on_commit")

    def __init__(self, connection: apsw.Connection, now: float) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.now = now
        self.counts: dict[int, list[int]] = {}
        self.on_commit: list[Callable[[], None]] = []

    def count(self, number: int, items: int, size: int) -> None:
        """Notes that a table or index grew; written once per group."""
        if items or size:
            total = self.counts.get(number)
            if total is None:
                self.counts[number] = [items, size]
            else:
                total[0] += items
                total[1] += size

    def write_counts(self) -> None:
        for number, (items, size) in self.counts.items():
            self.execute(
                "UPDATE counts SET items = items + ?, bytes = bytes + ? WHERE number = ?",
                (items, size, number),
            )
