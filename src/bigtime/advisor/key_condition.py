"""What a query asks of its keys, read back from its request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from operator import eq, ge, gt, le, lt
from typing import cast

from bigtime.model import KeyCondition, Operator, comparable
from bigtime.wire import Item, Params

NAME, VALUE = r"(#?[\w.-]+)", r"(:\w+)"
TERM = re.compile(
    rf"begins_with\s*\(\s*{NAME}\s*,\s*{VALUE}\s*\)"
    rf"|{NAME}\s+BETWEEN\s+{VALUE}\s+AND\s+{VALUE}"
    rf"|{NAME}\s*(<=|>=|<|>|=)\s*{VALUE}",
    re.IGNORECASE,
)


def key_conditions(params: Params) -> tuple[KeyCondition, ...]:
    """The terms of a KeyConditionExpression."""
    names: dict[str, str] = params.get("ExpressionAttributeNames") or {}
    values: Item = params.get("ExpressionAttributeValues") or {}

    def condition(name: str, operator: str, *marks: str) -> KeyCondition:
        operands = tuple(values[mark] for mark in marks)
        return KeyCondition(names.get(name, name), cast(Operator, operator), operands)

    found = []
    for term in TERM.finditer(params["KeyConditionExpression"]):
        begun, prefix, between, low, high, compared, operator, operand = term.groups()
        if begun:
            found.append(condition(begun, "begins_with", prefix))
        elif between:
            found.append(condition(between, "between", low, high))
        else:
            found.append(condition(compared, operator, operand))
    return tuple(found)


def beginning(condition: KeyCondition) -> str:
    """How every text begins that a condition takes in, as far as the condition tells."""
    if condition.operator not in ("=", "begins_with", "between"):
        return ""
    low, *high = [str(operand.get("S", "")) for operand in condition.operands]
    while high and not high[0].startswith(low):
        low = low[:-1]
    return low


def meets_all(item: Item, conditions: Sequence[KeyCondition]) -> bool:
    return all(meets(item, one) for one in conditions)


def meets(item: Item, condition: KeyCondition) -> bool:
    value = item.get(condition.attribute)
    if value is None:
        return False
    return HOLDS[condition.operator](comparable(value), *map(comparable, condition.operands))


HOLDS: Mapping[Operator, Callable[..., bool]] = {
    "=": eq,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "between": lambda value, low, high: low <= value <= high,
    "begins_with": lambda value, start: value.startswith(start),
}
