"""An update expression, carried out on an item that exists only in a dry run.

Every operand sees the item as it was before; so the values are worked out first, and written then.
What DynamoDB would refuse is not looked for: the engine does that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from decimal import Context, Decimal
from typing import Any, TypeAlias

from bigtime.advisor.capacity import canonical, canonical_item, canonical_number
from bigtime.wire import AttributeValue, Item, Params

TOKEN = re.compile(r"[#:]?\w+|[().,\[\]=+-]")
SECTIONS = ("SET", "REMOVE", "ADD", "DELETE")
EXACT = Context(prec=80)

Route: TypeAlias = tuple[str | int, ...]


def updated(item: Item, params: Params) -> Item:
    """The item as an UpdateItem, or an update of a transaction, leaves it."""
    expression = params.get("UpdateExpression") or ""
    return Evaluation(expression, params, canonical_item(item)).carried_out()


class Evaluation:
    """One expression on its way through one item."""

    def __init__(self, expression: str, params: Params, item: Item) -> None:
        self.tokens = TOKEN.findall(expression)
        self.place = 0
        self.names: Mapping[str, str] = params.get("ExpressionAttributeNames") or {}
        self.values: Item = params.get("ExpressionAttributeValues") or {}
        self.before = item
        self.after = deepcopy(item)
        self.removed: list[Route] = []

    def carried_out(self) -> Item:
        writes: list[tuple[Route, AttributeValue]] = []
        section = ""
        while self.place < len(self.tokens):
            if self.next.upper() in SECTIONS:
                section = self.take().upper()
            writes += self.clause(section)
            if self.is_next(","):
                self.take()
        for path, value in writes:
            write(self.after, path, canonical(value))
        for path in sorted(self.removed, key=last_step, reverse=True):
            remove(self.after, path)
        return self.after

    # The expression, read from left to right

    @property
    def next(self) -> str:
        return str(self.tokens[self.place])

    def is_next(self, *tokens: str) -> bool:
        return self.place < len(self.tokens) and self.next in tokens

    def take(self) -> str:
        self.place += 1
        return str(self.tokens[self.place - 1])

    def clause(self, section: str) -> list[tuple[Route, AttributeValue]]:
        path = self.path()
        match section:
            case "SET":
                self.take()
                return [(path, self.operand_or_sum())]
            case "ADD":
                return [(path, added(read(self.before, path), self.values[self.take()]))]
            case "DELETE":
                return self.discarded(path, self.values[self.take()])
            case _:
                self.removed.append(path)
                return []

    def path(self) -> Route:
        name = self.take()
        steps: list[str | int] = [self.names.get(name, name)]
        while self.is_next(".", "["):
            if self.take() == ".":
                name = self.take()
                steps.append(self.names.get(name, name))
            else:
                steps.append(int(self.take()))
                self.take()
        return tuple(steps)

    def operand_or_sum(self) -> AttributeValue:
        value = self.operand()
        while self.is_next("+", "-"):
            sign = self.take()
            value = summed(value, self.operand(), negative=sign == "-")
        return value

    def operand(self) -> AttributeValue:
        if self.next.startswith(":"):
            return self.values[self.take()]
        if self.next in ("if_not_exists", "list_append"):
            return self.function(self.take())
        found = read(self.before, self.path())
        return {"NULL": True} if found is None else found

    def function(self, name: str) -> AttributeValue:
        self.take()
        path = self.path() if name == "if_not_exists" else None
        first = self.operand() if path is None else read(self.before, path)
        self.take()
        second = self.operand()
        self.take()
        if path is not None:
            return second if first is None else first
        return {"L": [*(first or {})["L"], *second["L"]]}

    def discarded(self, path: Route, members: AttributeValue) -> list[tuple[Route, AttributeValue]]:
        found = read(self.before, path)
        ((tag, taken),) = canonical(members).items()
        left = [one for one in (found or {}).get(tag, []) if one not in taken]
        if left:
            return [(path, {tag: left})]
        self.removed.append(path)
        return []


# Values


def summed(value: AttributeValue, other: AttributeValue, *, negative: bool) -> AttributeValue:
    one, two = Decimal(value["N"]), Decimal(other["N"])
    result = EXACT.subtract(one, two) if negative else EXACT.add(one, two)
    return {"N": canonical_number(str(result))}


def added(value: AttributeValue | None, more: AttributeValue) -> AttributeValue:
    """ADD: to a number, or members to a set; a missing one starts from nothing."""
    if value is None:
        return more
    if "N" in more:
        return summed(value, more, negative=False)
    ((tag, members),) = canonical(more).items()
    return {tag: sorted({*value[tag], *members})}


# Places in an item


def read(item: Item, path: Route) -> AttributeValue | None:
    value: Any = {"M": item}
    for step in path:
        if isinstance(step, int):
            elements = value.get("L", [])
            value = elements[step] if step < len(elements) else None
        else:
            value = value.get("M", {}).get(step)
        if value is None:
            return None
    return dict(value)


def holder(item: Item, path: Route) -> Any:
    """The map or list that holds what a path leads to."""
    found = read(item, path[:-1]) if len(path) > 1 else {"M": item}
    return None if found is None else found.get("M", found.get("L"))


def write(item: Item, path: Route, value: AttributeValue) -> None:
    inside, step = holder(item, path), path[-1]
    if isinstance(inside, list) and isinstance(step, int) and step >= len(inside):
        inside.append(value)
    elif inside is not None:
        inside[step] = value


def remove(item: Item, path: Route) -> None:
    inside, step = holder(item, path), path[-1]
    if isinstance(inside, dict):
        inside.pop(step, None)
    elif isinstance(inside, list) and isinstance(step, int) and step < len(inside):
        del inside[step]


def last_step(path: Route) -> int:
    """So that of the elements of one list the last goes first."""
    step = path[-1]
    return step if isinstance(step, int) else -1
