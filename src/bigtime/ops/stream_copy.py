"""Following the stream of a table, and doing to its copy what was done to it.

1. Records are gathered as they are read, and written in batches just before the place after them
   is saved; of several records of an item the last is written. So a process that dies writes its
   last page again, in the same order, and the copy ends the same.
2. A record with the new image is written as it is. If the stream has no new images, the item is
   read from the source: it is then as new as the record, or newer, and its next record follows.
3. Records from long before the copy began are passed over: the copy has what they did.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final

from bigtime import model
from bigtime.ops.table_copy import key_item
from bigtime.store import Checkpoint, Consumer, Consumption, ShardTurn, Store
from bigtime.wire import Identity, Item, Request, Response, Steps, item_identity

PAGE: Final = 1_000
BATCH: Final = 25
SLACK_SECONDS: Final = 900.0
"""How far the clocks of this machine and of the source may differ."""

SavedPlaces = dict[str, list[Any]]


@dataclass(slots=True, eq=False, repr=False)
class StreamCopy:
    """Follows one table. It is its own checkpoints: `places` are those that a state file has."""

    source: Store
    target: Store
    table: str
    key: dict[str, str]
    places: SavedPlaces
    _: KW_ONLY
    began_at: float
    on_save: Callable[[], None]
    applied: int = field(init=False, default=0)
    consumer: Consumer = field(init=False)
    _waiting: dict[Identity, dict[str, Any]] = field(init=False, default_factory=dict)
    _writing: threading.RLock = field(init=False, default_factory=threading.RLock)

    def __post_init__(self) -> None:
        consumption = Consumption(
            "migrate",
            self.table,
            self.gather,
            checkpoints=self,
            dead_letters=None,
            max_attempts=1,
            hooks=(),
            page_size=PAGE,
        )
        self.consumer = Consumer(self.source, consumption)

    def run_round(self) -> list[ShardTurn]:
        return self.consumer.run_round()

    def drain(self) -> int:
        """Applies all that is there, and returns how many records that was."""
        return self.consumer.run_once()

    # --- Records ---

    def gather(self, record: Response) -> Steps[None]:
        change = record["dynamodb"]
        if change["ApproximateCreationDateTime"] < self.began_at - SLACK_SECONDS:
            return
        key: Item = change["Keys"]
        item: Item | None = change.get("NewImage")
        if item is None and record["eventName"] != "REMOVE":
            params = {"TableName": self.table, "Key": key, "ConsistentRead": True}
            item = (yield Request("GetItem", params)).get("Item")
        write = {"DeleteRequest": {"Key": key}} if item is None else {"PutRequest": {"Item": item}}
        with self._writing:
            identity = item_identity(self.table, key, self.key)
            self._waiting.pop(identity, None)
            self._waiting[identity] = write
            self.applied += 1

    def write_waiting(self) -> None:
        """The lock is held while it writes, lest a later record of an item overtake an earlier."""
        with self._writing:
            if self._waiting:
                write_all(self.target, self.table, list(self._waiting.values()))
                self._waiting.clear()

    # --- Checkpoints ---

    def ready(self) -> Steps[bool]:
        return True
        yield

    def load(self, consumer: str) -> Steps[dict[str, Checkpoint]]:
        return {shard: Checkpoint(*place) for shard, place in self.places.items()}
        yield

    def save(self, consumer: str, shard: str, checkpoint: Checkpoint) -> Steps[None]:
        self.write_waiting()
        self.places[shard] = list(checkpoint)
        self.on_save()
        return
        yield

    def forget(self, consumer: str, shard: str) -> Steps[None]:
        self.places.pop(shard, None)
        return
        yield


def write_all(target: Store, table: str, writes: list[dict[str, Any]]) -> None:
    """Writes in batches, each key at most once; over a network several at once."""
    batches = [writes[start : start + BATCH] for start in range(0, len(writes), BATCH)]
    chunks = [model.write_chunk([(table, write) for write in batch]) for batch in batches]
    target.run(model.together(*chunks))


def read_all(
    store: Store,
    table: str,
    key: Mapping[str, str],
    items: list[Item],
    identified_by: str | None = None,
) -> dict[Identity, Item]:
    """The items of a store with the keys of these, by their identity; read consistently.

    Those of a table that has another name elsewhere are identified by that one.
    """
    keys = [key_item(key, item) for item in items]
    chunks = [
        model.read_items(table, keys[start : start + 100]) for start in range(0, len(keys), 100)
    ]
    found = store.run(model.together(*chunks))
    name = identified_by or table
    return {item_identity(name, item, key): item for page in found for item in page}
