"""Which item a request reads, and which it changes, by an identity that can be compared.

The attributes of a key are taken in the order of their names, because no schema is known here.
What is no key at all raises an error of the kinds in `MALFORMED`: the request is DynamoDB's to
refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from bigtime.wire import Identity, Item, Params, Request, ValidationException, item_identity

Names: TypeAlias = tuple[str, ...]
"""The names of a table's key attributes, in order."""
Changed: TypeAlias = tuple[str, Item]
"""A table, and an item that is changed in it: its key, or all of it."""

MALFORMED = (AttributeError, KeyError, TypeError, ValueError, ValidationException)

HARMLESS = {"ConsistentRead": (None, False), "ReturnConsumedCapacity": (None, "NONE")}
"""Options, and the values with which the answer is what it is without them."""
PLAIN_GET = {"TableName", "Key", *HARMLESS}


def key_identity(table: str, key: Item) -> Identity:
    return item_identity(table, key, sorted(key) if len(key) > 1 else key)


def names_in(identity: Identity) -> Names:
    return identity[1::2]


def identity_in(table: str, item: Item, names: Names) -> Identity | None:
    """The identity of an item whose key has these names; None if it lacks one."""
    if any(name not in item for name in names):
        return None
    return item_identity(table, item, names)


# Reads


def is_eventual(params: Params) -> bool:
    """Whether an older answer will do: a read that is not consistent, and that nobody meters."""
    return all(params.get(name) in values for name, values in HARMLESS.items())


def is_by_name(table: str) -> bool:
    """An ARN, instead of a name, may mean a table of another account."""
    return ":" not in table


def item_read(params: Params) -> Identity | None:
    """The whole item that a GetItem reads; None when it asks for something else."""
    if len(params) > 2 and not (params.keys() <= PLAIN_GET and is_eventual(params)):
        return None
    table = params["TableName"]
    return key_identity(table, params["Key"]) if is_by_name(table) else None


# Writes


def changed_by(request: Request) -> list[Changed] | None:
    """The items that a request changes; None when that cannot be told."""
    find = CHANGES.get(request.operation)
    if find is None:
        return None
    try:
        return [(name_of(table), item) for table, item in find(request.params)]
    except MALFORMED:
        return None


def name_of(table: str) -> str:
    return table.rpartition("/")[2]  # of an ARN; a name has no slash


def changed_by_put(params: Params) -> Iterable[Changed]:
    return [(params["TableName"], params["Item"])]


def changed_by_key(params: Params) -> Iterable[Changed]:
    return [(params["TableName"], params["Key"])]


def changed_by_batch(params: Params) -> Iterator[Changed]:
    for table, writes in params["RequestItems"].items():
        for write in writes:
            if "PutRequest" in write:
                yield table, write["PutRequest"]["Item"]
            else:
                yield table, write["DeleteRequest"]["Key"]


def changed_by_transaction(params: Params) -> Iterator[Changed]:
    for action in params["TransactItems"]:
        ((kind, content),) = action.items()
        if kind != "ConditionCheck":
            yield content["TableName"], content["Item" if kind == "Put" else "Key"]


CHANGES: dict[str, Callable[[Params], Iterable[Changed]]] = {
    "PutItem": changed_by_put,
    "UpdateItem": changed_by_key,
    "DeleteItem": changed_by_key,
    "BatchWriteItem": changed_by_batch,
    "TransactWriteItems": changed_by_transaction,
}
