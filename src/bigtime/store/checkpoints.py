"""Checkpoints: how far a consumer has come in each shard of a stream."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple, Protocol

from bigtime import wire
from bigtime.wire import Item, Request, Response, Steps


class Checkpoint(NamedTuple):
    """The last record of a shard that was handled; `done` when the shard has no more."""

    stream: str
    sequence: str | None = None
    done: bool = False


class Checkpoints(Protocol):
    """Keeps checkpoints somewhere, by consumer and shard."""

    def ready(self) -> Steps[bool]:
        """Makes ready what is missing; False while that takes time."""

    def load(self, consumer: str) -> Steps[dict[str, Checkpoint]]:
        """All that the consumer has saved, by shard."""

    def save(self, consumer: str, shard: str, checkpoint: Checkpoint) -> Steps[None]: ...

    def forget(self, consumer: str, shard: str) -> Steps[None]: ...


class TableCheckpoints:
    """Keeps checkpoints as items of a table, which it makes when there is none."""

    def __init__(self, table: str = "Checkpoints") -> None:
        self.table = table

    def ready(self) -> Steps[bool]:
        status = yield from self._status()
        if status is None:
            yield from self._create()
            status = yield from self._status()
        return status in ("ACTIVE", "UPDATING")

    def _status(self) -> Steps[str | None]:
        try:
            described: Response = yield Request("DescribeTable", {"TableName": self.table})
        except wire.ResourceNotFoundException:
            return None
        return str(described["Table"]["TableStatus"])

    def _create(self) -> Steps[None]:
        # Another process may be faster.
        with suppress(wire.ResourceInUseException):
            yield Request("CreateTable", definition(self.table))

    def load(self, consumer: str) -> Steps[dict[str, Checkpoint]]:
        params = {
            "TableName": self.table,
            "KeyConditionExpression": "Consumer = :consumer",
            "ExpressionAttributeValues": {":consumer": {"S": consumer}},
            "ConsistentRead": True,
        }
        found: dict[str, Checkpoint] = {}
        while True:
            page: Response = yield Request("Query", params)
            found.update({item["Shard"]["S"]: checkpoint_in(item) for item in page["Items"]})
            if "LastEvaluatedKey" not in page:
                return found
            params = {**params, "ExclusiveStartKey": page["LastEvaluatedKey"]}

    def save(self, consumer: str, shard: str, checkpoint: Checkpoint) -> Steps[None]:
        item = {
            **self._key(consumer, shard),
            "Stream": {"S": checkpoint.stream},
            "Done": {"BOOL": checkpoint.done},
        }
        if checkpoint.sequence is not None:
            item["Sequence"] = {"S": checkpoint.sequence}
        yield Request("PutItem", {"TableName": self.table, "Item": item})

    def forget(self, consumer: str, shard: str) -> Steps[None]:
        yield Request("DeleteItem", {"TableName": self.table, "Key": self._key(consumer, shard)})

    def _key(self, consumer: str, shard: str) -> Item:
        return {"Consumer": {"S": consumer}, "Shard": {"S": shard}}


class NoCheckpoints:
    """Keeps nothing, for a consumer that begins anew each time."""

    def ready(self) -> Steps[bool]:
        return True
        yield

    def load(self, consumer: str) -> Steps[dict[str, Checkpoint]]:
        return {}
        yield

    def save(self, consumer: str, shard: str, checkpoint: Checkpoint) -> Steps[None]:
        return
        yield

    def forget(self, consumer: str, shard: str) -> Steps[None]:
        return
        yield


def checkpoint_in(item: Item) -> Checkpoint:
    sequence = item["Sequence"]["S"] if "Sequence" in item else None
    return Checkpoint(item["Stream"]["S"], sequence, item["Done"]["BOOL"])


def definition(table: str) -> Response:
    return {
        "TableName": table,
        "AttributeDefinitions": [
            {"AttributeName": "Consumer", "AttributeType": "S"},
            {"AttributeName": "Shard", "AttributeType": "S"},
        ],
        "KeySchema": [
            {"AttributeName": "Consumer", "KeyType": "HASH"},
            {"AttributeName": "Shard", "KeyType": "RANGE"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
