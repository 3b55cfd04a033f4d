"""Checkpoints: how far a consumer has read each shard of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from bigtime.store.owned_table import OwnedTable
from bigtime.wire import Item, Steps


class Checkpoint(NamedTuple):
    """The last record of a shard that was handled; `done` when the shard has no more."""

    stream: str
    """The ARN of the stream."""
    sequence: str | None = None
    """The last record that was handled, if any."""
    done: bool = False
    """Whether the shard has no more records."""


class Checkpoints(Protocol):
    """Stores checkpoints by consumer and shard."""

    def ready(self) -> Steps[bool]:
        """Creates what is missing; False until it is ready."""

    def load(self, consumer: str) -> Steps[dict[str, Checkpoint]]:
        """All that the consumer has saved, by shard."""

    def save(self, consumer: str, shard: str, checkpoint: Checkpoint) -> Steps[None]: ...

    def forget(self, consumer: str, shard: str) -> Steps[None]: ...


class TableCheckpoints:
    """Stores checkpoints in a table, which it creates if it is missing."""

    def __init__(self, table: str = "Checkpoints") -> None:
        self.table = OwnedTable(table, "Consumer", "Shard")

    def ready(self) -> Steps[bool]:
        return self.table.ready()

    def load(self, consumer: str) -> Steps[dict[str, Checkpoint]]:
        items = yield from self.table.items_in(consumer)
        return {item["Shard"]["S"]: checkpoint_in(item) for item in items}

    def save(self, consumer: str, shard: str, checkpoint: Checkpoint) -> Steps[None]:
        item = {
            **self.table.key(consumer, shard),
            "Stream": {"S": checkpoint.stream},
            "Done": {"BOOL": checkpoint.done},
        }
        if checkpoint.sequence is not None:
            item["Sequence"] = {"S": checkpoint.sequence}
        return self.table.put(item)

    def forget(self, consumer: str, shard: str) -> Steps[None]:
        return self.table.delete(consumer, shard)


class MemoryCheckpoints:
    """Holds checkpoints in memory: for a consumer that commits them itself or needs none saved."""

    def __init__(self, places: Mapping[str, Checkpoint] | None = None) -> None:
        self.places = dict(places or {})
        self.are_moved = False

    def ready(self) -> Steps[bool]:
        return True
        yield

    def load(self, consumer: str) -> Steps[dict[str, Checkpoint]]:
        return dict(self.places)
        yield

    def save(self, consumer: str, shard: str, checkpoint: Checkpoint) -> Steps[None]:
        self.places[shard] = checkpoint
        self.are_moved = True
        return
        yield

    def forget(self, consumer: str, shard: str) -> Steps[None]:
        self.places.pop(shard, None)
        self.are_moved = True
        return
        yield


def checkpoint_in(item: Item) -> Checkpoint:
    sequence = item["Sequence"]["S"] if "Sequence" in item else None
    return Checkpoint(item["Stream"]["S"], sequence, item["Done"]["BOOL"])
