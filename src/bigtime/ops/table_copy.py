"""A copy of a table in another store: created alike, filled, and kept up to date by its stream.

The copy is created with the same keys, indexes, capacity, class and tags. Whatever would act on the
items on its own, or prevent deleting the copy, waits until the copy is complete: the time to live,
the stream (whose consumers would take every copied item for a new one), point-in-time recovery and
deletion protection.

Changes of the table are applied to the copy:

1. Stream records are gathered as they are read, and written in batches just before the position
   after them is saved; of several records of an item, the last is written. So after a crash the
   last page is written again, in the same order, and the copy ends up the same.
2. A record with the new image is written as it is. If the stream has no new images, the item is
   read from the source: it is then as new as the record, or newer, and a later record follows.
3. Records from long before the copy began are skipped: the copy already includes them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final

from bigtime import model
from bigtime.ops.job_state import CannotGoOn
from bigtime.ops.table_settings import describe_table, read_tags, wait_until_active
from bigtime.ops.table_walk import pages
from bigtime.store import Checkpoint, Consumer, Consumption, ShardTurn, Store
from bigtime.wire import (
    Identity,
    Item,
    Request,
    ResourceInUseException,
    Response,
    Steps,
    item_identity,
)

FOLLOWED: Final = "NEW_AND_OLD_IMAGES"
PAGE: Final = 1_000
BATCH: Final = 25
SLACK_SECONDS: Final = 900.0
"""How far the clocks of this machine and of the source may differ."""

SavedPlaces = dict[str, list[Any]]


# --- The table ------------------------------------------------------------------------------


def list_tables(store: Store) -> list[str]:
    found = pages(store, "ListTables", {}, after="TableName")
    return [name for page in found for name in page["TableNames"]]


def key_of(table: Response) -> dict[str, str]:
    """The attributes of the main key, with their types."""
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    return {each["AttributeName"]: types[each["AttributeName"]] for each in table["KeySchema"]}


def copy_table(source: Store, target: Store, name: str) -> bool:
    """Creates the table in the target if it is missing; returns whether it was."""
    table = source.run(describe_table(name))
    there = target.run(describe_table(name))
    assert table is not None
    if there is not None:
        check_same_key(name, table, there)
    else:
        tags = source.run(read_tags(table["TableArn"]))
        with suppress(ResourceInUseException):  # another process may be faster
            target.send(Request("CreateTable", create_params(table, name, tags)))
    target.run(wait_until_active(name))
    return there is None


def check_same_key(name: str, table: Response, there: Response) -> None:
    if key_of(table) != key_of(there):
        raise CannotGoOn(
            f"{name} has another main key in the target ({', '.join(key_of(there))}) than in the"
            f" source ({', '.join(key_of(table))}): delete it there, or choose another target."
        )


def check_empty(target: Store, name: str) -> None:
    if target.run(describe_table(name)) is None:
        return
    if target.send(Request("Scan", {"TableName": name, "Limit": 1}))["Items"]:
        raise CannotGoOn(
            f"{name} has items in the target already, which a copy would mix with the source's:"
            " delete the table there, or choose another target. (To continue a migration, run it"
            " with its state file.)"
        )


def create_params(table: Mapping[str, Any], name: str, tags: Mapping[str, str]) -> dict[str, Any]:
    """The CreateTable request for a table like this one, under that name."""
    params: dict[str, Any] = {
        "TableName": name,
        "AttributeDefinitions": table["AttributeDefinitions"],
        "KeySchema": table["KeySchema"],
    }
    provisioned = capacity_of(table)
    params |= provisioned or {"BillingMode": "PAY_PER_REQUEST"}
    if ceilings := table.get("OnDemandThroughput"):
        params["OnDemandThroughput"] = ceilings
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        if indexes := table.get(kind):
            params[kind] = [index_params(index) for index in indexes]
    if (table.get("SSEDescription") or {}).get("SSEType") == "KMS":
        # The KMS key itself belongs to the source's account and region.
        params["SSESpecification"] = {"Enabled": True, "SSEType": "KMS"}
    if table_class := (table.get("TableClassSummary") or {}).get("TableClass"):
        params["TableClass"] = table_class
    if tags:
        params["Tags"] = [{"Key": tag, "Value": value} for tag, value in tags.items()]
    return params


def index_params(index: Response) -> dict[str, Any]:
    kept = ("IndexName", "KeySchema", "Projection", "OnDemandThroughput")
    return {
        **{name: index[name] for name in kept if index.get(name)},
        **{name: value for name, value in capacity_of(index).items() if name != "BillingMode"},
    }


def capacity_of(described: Mapping[str, Any]) -> dict[str, Any]:
    """The provisioned throughput of a table or an index; empty for on-demand."""
    units = described.get("ProvisionedThroughput") or {}
    if not units.get("ReadCapacityUnits") or not units.get("WriteCapacityUnits"):
        return {}
    names = ("ReadCapacityUnits", "WriteCapacityUnits")
    return {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {name: units[name] for name in names},
    }


# --- Its items ------------------------------------------------------------------------------


def write_all(target: Store, table: str, writes: list[dict[str, Any]]) -> None:
    """Writes in batches, each key at most once; over a network several batches at once."""
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
    """Reads these items' keys from a store, consistently; returns the items by their identity.

    `identified_by` replaces the table's name in identities, if it has another name elsewhere.
    """
    keys = [key_item(key, item) for item in items]
    chunks = [
        model.read_items(table, keys[start : start + 100]) for start in range(0, len(keys), 100)
    ]
    found = store.run(model.together(*chunks))
    name = identified_by or table
    return {item_identity(name, item, key): item for page in found for item in page}


def key_item(key: Mapping[str, str], item: Item) -> Item:
    return {name: item[name] for name in key}


# --- Its stream -----------------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False)
class StreamCopy:
    """Follows one table's stream, and is its own checkpoint store: a state file keeps `places`."""

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
        """Applies all available records, and returns how many there were."""
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
        """Writes under the lock, lest a later record of an item overtake an earlier one."""
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
