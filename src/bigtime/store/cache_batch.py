"""A BatchGetItem, taken apart into items and put together again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Self

from bigtime.store.cache_entries import Answers
from bigtime.store.cache_identity import (
    identity_in,
    is_by_name,
    is_eventual,
    key_identity,
    names_in,
)
from bigtime.wire import Identity, Item, Params, Request, Response

OPERATION = "BatchGetItem"
MOST_KEYS = 100


class Batch:
    """`items` are those that a cache can hold; the other parts are always asked for."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        self.asked = asked
        self.items: dict[Identity, tuple[str, Item]] = {
            key_identity(table, key): (table, key)
            for table, part in asked.items()
            if is_whole(table, part)
            for key in part["Keys"]
        }

    @classmethod
    def read(cls, params: Params) -> Self | None:
        """The batch of a request; None when it is for DynamoDB alone to answer, or to refuse."""
        if not params.keys() <= {"RequestItems", "ReturnConsumedCapacity"}:
            return None
        batch = cls(params["RequestItems"])
        return batch if is_eventual(params) and batch.is_proper() else None

    def is_proper(self) -> bool:
        parts = self.asked.items()
        keys = sum(len(part["Keys"]) for table, part in parts if is_whole(table, part))
        count = sum(len(part["Keys"]) for _, part in parts)
        return 0 < len(self.items) == keys and count <= MOST_KEYS

    def request(self, identities: Collection[Identity]) -> Request | None:
        """Asks for these items, and for the other parts; None when that is nothing."""
        asked = {table: part for table, part in self.asked.items() if not is_whole(table, part)}
        asked |= self.keys_of(identities)
        return Request(OPERATION, {"RequestItems": asked}) if asked else None

    def keys_of(self, identities: Collection[Identity]) -> dict[str, Any]:
        asked: dict[str, Any] = {}
        for table, key in map(self.items.__getitem__, identities):
            asked.setdefault(table, {"Keys": []})["Keys"].append(key)
        return asked

    def answers(self, identities: Collection[Identity], response: Response) -> Answers:
        """What a response tells of these items: `{}` of one that is missing."""
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
        """The whole answer. An item of which nothing was found out is one left unprocessed."""
        told = sent or {"Responses": {}}
        items: dict[str, list[Item]] = {table: [] for table in self.asked}
        for identity, answer in found.items():
            if "Item" in answer:
                items[identity[0]].append(answer["Item"])
        unprocessed = self.keys_of(self.items.keys() - found.keys())
        for table, part in self.asked.items():
            if not is_whole(table, part):
                items[table] = told["Responses"].get(table, [])
                if table in told.get("UnprocessedKeys", {}):
                    unprocessed[table] = told["UnprocessedKeys"][table]
        return {"Responses": items, "UnprocessedKeys": unprocessed}


def is_whole(table: str, part: Mapping[str, Any]) -> bool:
    """Whether a table is asked for whole items, and not consistently."""
    return part.keys() <= {"Keys", "ConsistentRead"} and is_by_name(table) and is_eventual(part)
