"""One mistake in an otherwise sound request, and the error that AWS documents for it.

Every mistake here is found before any item is read, so the error does not depend on the tables.
The sentence is given where it is certain; elsewhere only the error's name is foretold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from bigtime.wire import AttributeValue
from tests.reference.designs import Design

Spoil: TypeAlias = Callable[[dict[str, Any], Design], None]
Sentence: TypeAlias = Callable[[Design], str]

ITEM_WRITES = ("PutItem", "UpdateItem", "DeleteItem")
BY_KEY = ("GetItem", "UpdateItem", "DeleteItem")
READS = ("Query", "Scan")
SINGLE = (*ITEM_WRITES, "GetItem", *READS)
BATCHES = ("BatchGetItem", "BatchWriteItem")
TRANSACTIONS = ("TransactGetItems", "TransactWriteItems")
WRONG_VALUES: dict[str, AttributeValue] = {"S": {"N": "1"}, "N": {"S": "1"}, "B": {"S": "z"}}
INVALID = "One or more parameter values were invalid: "
NO_MATCH = "The provided key element does not match the schema"
EITHER = "ValidationException or TransactionCanceledException"
"""AWS does not say which of the two a bad value in an item of a transaction is."""

NOT_FOUND = "Requested resource not found"


def anywhere(_params: dict[str, Any], _design: Design) -> bool:
    return True


@dataclass(frozen=True)
class Fault:
    name: str
    operations: tuple[str, ...]
    spoil: Spoil
    code: str = "ValidationException"
    sentence: Sentence | None = None
    fits: Callable[[dict[str, Any], Design], bool] = anywhere

    def __repr__(self) -> str:
        return f"<{self.name}>"


def part(params: dict[str, Any]) -> Any:
    """The first place in a request that names an item: itself, or its first action."""
    if "TransactItems" in params:
        return next(iter(params["TransactItems"][0].values()))
    if "RequestItems" in params:
        asked = next(iter(params["RequestItems"].values()))
        if isinstance(asked, dict):
            return {"Key": asked["Keys"][0]}
        return next(iter(asked[0].values()))
    return params


def item_or_key(params: dict[str, Any]) -> Any:
    found = part(params)
    return found["Item"] if "Item" in found else found["Key"]


def setting(**given: object) -> Spoil:
    return lambda params, _design: params.update(given)
