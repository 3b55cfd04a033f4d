"""What differs between a table and the same table restored: item by item, a page at a time.

Every item of the current table is looked up in the restored one, a hundred to a request, and then
the other way round for those that the current one lacks. So it takes no more memory than a page,
on any store, while both are used.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from bigtime import model as bt
from bigtime.wire import Request, Response, Steps

ComparePlace: TypeAlias = tuple[bool, Response | None]
"""Whether it is the current table that is read, and the last key that was."""


class Difference(NamedTuple):
    """An item that is in one table only, or in both and not the same."""

    table: str
    kind: str
    key: Response
    attributes: tuple[str, ...] = ()


class Compared(NamedTuple):
    """A page of a comparison: how many items are new in it, and where the next page begins."""

    items: int
    differences: list[Difference]
    next: ComparePlace | None


PAGE: Final = 100  # keys of a BatchGetItem
BEGINNING: Final[ComparePlace] = (True, None)


def compare_page(
    name: str, current: str, restored: str, keys: Sequence[str], at: ComparePlace
) -> Steps[Compared]:
    """Compares a page: first the items of the current table, then the restored ones it lacks."""
    is_current, start = at
    here, there = (current, restored) if is_current else (restored, current)
    params: dict[str, Any] = {"TableName": here, "Limit": PAGE, "ConsistentRead": True}
    if start is not None:
        params["ExclusiveStartKey"] = start
    page: Response = yield Request("Scan", params)
    items = {key_text(item, keys): item for item in page["Items"]}
    others = yield from items_at(there, keys, list(items.values()))
    found: list[Difference] = []
    for key, item in items.items():
        shown = {part: item[part] for part in keys}
        if key not in others:
            kind = "only now" if is_current else "only restored"
            found.append(Difference(name, kind, shown))
        elif is_current and others[key] != item:
            found.append(Difference(name, "changed", shown, changed_in(item, others[key])))
    last = page.get("LastEvaluatedKey")
    following = (is_current, last) if last else (False, None) if is_current else None
    return Compared(len(items) if is_current else len(found), found, following)


def items_at(table: str, keys: Sequence[str], items: Sequence[Response]) -> Steps[dict[str, Any]]:
    found: dict[str, Any] = {}
    wanted = [{part: item[part] for part in keys} for item in items]
    pending: Any = {table: {"Keys": wanted, "ConsistentRead": True}} if wanted else {}
    while pending:
        response: Response = yield Request("BatchGetItem", {"RequestItems": pending})
        for item in response["Responses"].get(table, []):
            found[key_text(item, keys)] = item
        pending = response.get("UnprocessedKeys")
        if pending:
            yield from bt.pause(0.1)
    return found


def key_text(item: Response, keys: Sequence[str]) -> str:
    return json.dumps([item[part] for part in keys], default=repr, sort_keys=True)


def changed_in(item: Response, other: Response) -> tuple[str, ...]:
    return tuple(sorted(name for name in {*item, *other} if item.get(name) != other.get(name)))
