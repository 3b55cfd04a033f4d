"""Which shard of a partition an item belongs to, computed from other fields of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pydantic import Field

from bigtime.model.errors import DesignError

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Sharding:
    """Which shard an item belongs to, by other fields of it."""

    count: int
    by: tuple[str, ...]
    round_robin: bool

    def __call__(self, fields: dict[str, Any]) -> int:
        if self.round_robin:
            return int(fields[self.by[0]]) % self.count
        text = "\0".join(plain_text(fields[name]) for name in self.by)
        return int.from_bytes(sha256(text.encode()).digest()[:8]) % self.count


def plain_text(value: Any) -> str:
    return str(value.value if isinstance(value, Enum) else value)


def sharded(count: int, *, by: str | Sequence[str], round_robin: bool = False) -> Any:
    """A field that holds an item's shard: `shard: int = sharded(10, by="voter")`.

    It goes by the hash of other fields, which are declared before it; with `round_robin`, by a
    number that counts up.
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    if count < 1 or not names or (round_robin and len(names) > 1):
        raise DesignError("sharded takes a number of shards, and fields to go by")
    return Field(default_factory=Sharding(count, names, round_robin), ge=0, lt=count)
