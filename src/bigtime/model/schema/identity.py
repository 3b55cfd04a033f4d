"""Which item is meant, as a value that can be compared."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, TypeAlias

from bigtime.model.schema.table import Table
from bigtime.wire import Item

Identity: TypeAlias = tuple[Any, ...]
"""A table and the key of an item in it."""


def identity_of(table: Table, item: Item) -> Identity:
    """A number has many spellings, and comes back in another than it was sent in."""
    identity: list[Any] = [table.name]
    for one in table.main.attributes:
        ((tag, content),) = item[one.name].items()
        identity.append(Decimal(content) if tag == "N" else content)
    return tuple(identity)
