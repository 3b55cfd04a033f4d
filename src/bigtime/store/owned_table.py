"""A table that the store needs for itself, and creates if it is missing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bigtime import wire


@dataclass(frozen=True, slots=True)
class OwnedTable:
    """A table with a partition key and a sort key, both strings."""

    name: str
    partition_key: str
    sort_key: str

    def ready(self) -> wire.Steps[bool]:
        """Creates the table if it is missing; returns False until it is active."""
        status = yield from self._status()
        if status is None:
            yield from self._create()
            status = yield from self._status()
        return status in ("ACTIVE", "UPDATING")

    def _status(self) -> wire.Steps[str | None]:
        try:
            described: wire.Response = yield wire.Request("DescribeTable", {"TableName": self.name})
        except wire.ResourceNotFoundException:
            return None
        return str(described["Table"]["TableStatus"])

    def _create(self) -> wire.Steps[None]:
        # Another process may have created it first.
        with suppress(wire.ResourceInUseException):
            yield wire.Request("CreateTable", self.definition())

    def definition(self) -> wire.Response:
        keys = (self.partition_key, "HASH"), (self.sort_key, "RANGE")
        return {
            "TableName": self.name,
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "S"} for name, _ in keys
            ],
            "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in keys],
            "BillingMode": "PAY_PER_REQUEST",
        }

    def key(self, partition: str, sort: str) -> wire.Item:
        return {self.partition_key: {"S": partition}, self.sort_key: {"S": sort}}

    def put(self, item: wire.Item) -> wire.Steps[None]:
        yield wire.Request("PutItem", {"TableName": self.name, "Item": item})

    def delete(self, partition: str, sort: str) -> wire.Steps[None]:
        yield wire.Request("DeleteItem", {"TableName": self.name, "Key": self.key(partition, sort)})

    def items_in(self, partition: str) -> wire.Steps[list[wire.Item]]:
        """All items of a partition in sort key order, read consistently."""
        params: wire.Params = {
            "TableName": self.name,
            "KeyConditionExpression": f"{self.partition_key} = :partition",
            "ExpressionAttributeValues": {":partition": {"S": partition}},
            "ConsistentRead": True,
        }
        query = wire.Request("Query", params)
        return pages(query, ("Items",), after=("ExclusiveStartKey", "LastEvaluatedKey"))


def pages(
    request: wire.Request, path: Sequence[str], *, after: tuple[str, str]
) -> wire.Steps[list[dict[str, Any]]]:
    """The lists at that path in the responses, joined over all pages."""
    start, last = after
    params = dict(request.params)
    found: list[dict[str, Any]] = []
    while True:
        page: wire.Response = yield wire.Request(request.operation, params)
        for name in path[:-1]:
            page = page[name]
        found += page[path[-1]]
        if not page.get(last):
            return found
        params[start] = page[last]
