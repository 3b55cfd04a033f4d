"""The identity of the item that a request reads: a hashable value.

A key's attributes are sorted by name, because the cache knows no schema. A malformed key raises
one of the errors in `MALFORMED`, and the request is passed on for DynamoDB to refuse.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Self, TypeAlias

from bigtime import wire
from bigtime.store.cache_entries import Answers
from bigtime.wire import Identity, Item, Params, Request, Response

Names: TypeAlias = tuple[str, ...]
"""The names of a table's key attributes, in order."""

MALFORMED = (AttributeError, KeyError, TypeError, ValueError, wire.ValidationException)

CAPACITY = "ReturnConsumedCapacity"
CONSUMED = "ConsumedCapacity"
HARMLESS = {"ConsistentRead": (None, False), CAPACITY: (None, "NONE")}
"""Options, and the values that make no difference to the response."""
PLAIN_GET = {"TableName", "Key", *HARMLESS}


def key_identity(table: str, key: Item) -> Identity:
    return wire.item_identity(table, key, sorted(key) if len(key) > 1 else key)


def names_in(identity: Identity) -> Names:
    return identity[1::2]


def identity_in(table: str, item: Item, names: Names) -> Identity | None:
    """The identity of an item whose key has these names; None if it lacks one."""
    if any(name not in item for name in names):
        return None
    return wire.item_identity(table, item, names)


# Reads


def params_of(request: Request) -> Params:
    """The caller's parameters, without the option that the store's meter added."""
    if not request.is_metered:
        return request.params
    return {name: value for name, value in request.params.items() if name != CAPACITY}


def without_units(response: Response) -> Response:
    """The response as it is cached: an answer from the cache consumes no capacity."""
    return {name: value for name, value in response.items() if name != CONSUMED}


def is_eventual(params: Params) -> bool:
    """Whether a read may be answered from a cache: no consistent read, no consumed capacity."""
    return all(params.get(name) in values for name, values in HARMLESS.items())


def is_by_name(table: str) -> bool:
    """False for an ARN, which may name another account's table."""
    return ":" not in table


def item_read(request: Request) -> Identity | None:
    """The whole item that a GetItem reads; None when it asks for something else."""
    params = params_of(request)
    if len(params) > 2 and not (params.keys() <= PLAIN_GET and is_eventual(params)):
        return None
    table = params["TableName"]
    return key_identity(table, params["Key"]) if is_by_name(table) else None


# Batches


MOST_KEYS = 100


class Batch:
    """A BatchGetItem; `items` are those that a cache can hold, the rest is always requested."""

    def __init__(self, request: Request) -> None:
        self.asking = request
        self.wanted: Mapping[str, Any] = request.params["RequestItems"]
        self.items: dict[Identity, tuple[str, Item]] = {
            key_identity(table, key): (table, key)
            for table, part in self.wanted.items()
            if is_whole(table, part)
            for key in part["Keys"]
        }

    @classmethod
    def read(cls, request: Request) -> Self | None:
        """The batch of a request; None when only DynamoDB can answer or refuse it."""
        params = params_of(request)
        if not params.keys() <= {"RequestItems", "ReturnConsumedCapacity"}:
            return None
        batch = cls(request)
        return batch if is_eventual(params) and batch.is_proper() else None

    def is_proper(self) -> bool:
        parts = self.wanted.items()
        keys = sum(len(part["Keys"]) for table, part in parts if is_whole(table, part))
        count = sum(len(part["Keys"]) for _, part in parts)
        return 0 < len(self.items) == keys and count <= MOST_KEYS

    def request(self, identities: Collection[Identity]) -> Request | None:
        """The request for these items and for what cannot be cached; None when there is nothing."""
        wanted = {table: part for table, part in self.wanted.items() if not is_whole(table, part)}
        wanted |= self.keys_of(identities)
        asked = {**self.asking.params, "RequestItems": wanted}
        return replace(self.asking, params=asked) if wanted else None

    def keys_of(self, identities: Collection[Identity]) -> dict[str, Any]:
        wanted: dict[str, Any] = {}
        for table, key in map(self.items.__getitem__, identities):
            wanted.setdefault(table, {"Keys": []})["Keys"].append(key)
        return wanted

    def answers(self, identities: Collection[Identity], response: Response) -> Answers:
        """A response's answer for each of these items: `{}` for a missing one."""
        names = {identity[0]: names_in(identity) for identity in identities}
        found: dict[Identity, Response] = {identity: {} for identity in identities}
        for table, items in response["Responses"].items():
            for item in items if table in names else ():
                identity = identity_in(table, item, names[table])
                if identity is not None:
                    found[identity] = {"Item": item}
        for table, part in response.get("UnprocessedKeys", {}).items():
            for key in part["Keys"] if table in names else ():
                found.pop(key_identity(table, key), None)
        return found

    def response(self, found: Answers, sent: Response | None) -> Response:
        """The complete response. Items without an answer are reported as unprocessed keys."""
        answered = sent or {"Responses": {}}
        items: dict[str, list[Item]] = {table: [] for table in self.wanted}
        for identity, answer in found.items():
            if "Item" in answer:
                items[identity[0]].append(answer["Item"])
        unprocessed = self.keys_of(self.items.keys() - found.keys())
        for table, part in self.wanted.items():
            if not is_whole(table, part):
                items[table] = answered["Responses"].get(table, [])
                if table in answered.get("UnprocessedKeys", {}):
                    unprocessed[table] = answered["UnprocessedKeys"][table]
        units = {CONSUMED: answered[CONSUMED]} if CONSUMED in answered else {}
        return {"Responses": items, "UnprocessedKeys": unprocessed, **units}


def is_whole(table: str, part: Mapping[str, Any]) -> bool:
    """Whether a table's part asks for whole items with eventual consistency."""
    return part.keys() <= {"Keys", "ConsistentRead"} and is_by_name(table) and is_eventual(part)
