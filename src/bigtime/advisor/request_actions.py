"""What a request does to each item that it names by key, and ways to rewrite its expressions.

`GetItem`, a `Get` in a transaction and a key in a batch are treated alike, and so are `PutItem`,
a `Put` and a `PutRequest`: each is an `Action`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bigtime.wire import Item, Params, Request

SINGLE = {"GetItem": "Get", "PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}
BATCHED = {"PutRequest": "Put", "DeleteRequest": "Delete"}


@dataclass(frozen=True, slots=True)
class Action:
    """An operation on one item: Get, Put, Update, Delete or ConditionCheck."""

    kind: str
    table: str
    params: Params

    @property
    def key(self) -> Item:
        """The item's key; for a put, the whole item."""
        item: Item = self.params["Item" if self.kind == "Put" else "Key"]
        return item


def actions_of(request: Request) -> Iterator[Action]:
    """The actions of a request; a Query or a Scan has none."""
    params = request.params
    if request.operation in SINGLE:
        yield Action(SINGLE[request.operation], params["TableName"], params)
    for entry in params.get("TransactItems", ()):
        for kind, given in entry.items():
            yield Action(kind, given["TableName"], given)
    for table, given in params.get("RequestItems", {}).items():
        if request.operation == "BatchGetItem":
            yield from (Action("Get", table, {"Key": key}) for key in given["Keys"])
        else:
            yield from (
                Action(BATCHED[name], table, write)
                for writes in given
                for name, write in writes.items()
            )


def replace_actions(request: Request, change: Callable[[Action], Params]) -> dict[str, Any]:
    """The parameters of a request, with every action replaced."""
    params = request.params
    if request.operation in SINGLE:
        (action,) = actions_of(request)
        return dict(change(action))
    if request.operation == "TransactWriteItems":
        changed = [{action.kind: change(action)} for action in actions_of(request)]
        return {**params, "TransactItems": changed}
    if request.operation == "BatchWriteItem":
        tables = {
            table: [
                {
                    name: change(Action(BATCHED[name], table, write))
                    for name, write in writes.items()
                }
                for writes in given
            ]
            for table, given in params["RequestItems"].items()
        }
        return {**params, "RequestItems": tables}
    return dict(params)


def tables_in(request: Request) -> list[str]:
    """The distinct names of the tables that a request reads or writes."""
    if "TableName" in request.params:
        return [request.params["TableName"]]
    return list(dict.fromkeys(action.table for action in actions_of(request)))


# Requests with expressions removed, or with conditions made true

PLACEHOLDER = re.compile(r"[#:]\w+")
PLACEHOLDERS = ("ExpressionAttributeNames", "ExpressionAttributeValues")
ALIAS = "#bigtime_any"
ALWAYS = f"attribute_exists({ALIAS}) OR attribute_not_exists({ALIAS})"


def select_params(params: Params, *names: str) -> dict[str, Any]:
    """These parameters, and only the placeholders that their expressions use."""
    chosen = {name: params[name] for name in names if name in params}
    texts = (text for name, text in chosen.items() if name.endswith("Expression"))
    used = set(PLACEHOLDER.findall(" ".join(texts)))
    for name in PLACEHOLDERS:
        left = {mark: value for mark, value in params.get(name, {}).items() if mark in used}
        if left:
            chosen[name] = left
    return chosen


def always_true(params: Params, name: str) -> dict[str, Any]:
    """The parameters with a condition made true for every item, but still parsed and checked."""
    if name not in params:
        return dict(params)
    names = {**(params.get("ExpressionAttributeNames") or {}), ALIAS: "bigtime:any"}
    text = f"({params[name]}) OR {ALWAYS}"
    return {**params, name: text, "ExpressionAttributeNames": names}
