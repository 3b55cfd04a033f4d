"""Adding up the capacity that several statements, or several pages, consumed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bigtime.wire import Response


def add_capacity(used: Response | None, more: Response) -> Response:
    """The sum of two ConsumedCapacity of one table, index by index."""
    if used is None:
        return more
    total: dict[str, Any] = {**used}
    for name, amount in more.items():
        if isinstance(amount, dict):
            total[name] = add_capacity(used.get(name), amount)
        elif not isinstance(amount, str):
            total[name] = used.get(name, 0.0) + amount
    return total


def capacity_by_table(used: Iterable[Response]) -> list[Response]:
    by_table: dict[str, Response] = {}
    for consumed in used:
        name = consumed["TableName"]
        by_table[name] = add_capacity(by_table.get(name), consumed)
    return list(by_table.values())
