"""What a condition says of an item, and what is wrong with a condition before any item is read.

From "Condition and filter expressions, operators, and functions"
(developerguide/Expressions.OperatorsAndFunctions.html). Three things it does not say, as measured
on AWS: a missing attribute is `<>` to everything, even to another missing one
(github.com/ExtendDB/extenddb/pull/5); `size` of a string counts UTF-16 units
(github.com/ExtendDB/extenddb/pull/67); an ordered comparison of different types is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

from tests.reference import trees as t
from tests.reference.values import SCALARS, SETS, Item, Value, decode, order

ORDERED: dict[str, Callable[[object, object], bool]] = {
    "<": lambda left, right: left < right,  # type: ignore[operator]
    "<=": lambda left, right: left <= right,  # type: ignore[operator]
    ">": lambda left, right: left > right,  # type: ignore[operator]
    ">=": lambda left, right: left >= right,  # type: ignore[operator]
}

NOT_DISTINCT = "the first operand must be distinct from the remaining operands"


def resolve(path: t.Path, item: Item) -> Value | None:
    found: Value | None = ("M", item)
    for step in path.steps:
        found = child(found, step)
    return found


def child(value: Value | None, step: str | int) -> Value | None:
    match value, step:
        case ("M", dict(members)), str():
            return members.get(step)
        case ("L", list(members)), int() if step < len(members):
            return members[step]  # type: ignore[no-any-return]
        case _:
            return None


def read(operand: t.Operand, item: Item) -> Value | None:
    match operand:
        case t.Path():
            return resolve(operand, item)
        case t.Literal(value):
            return decode(value)
        case t.SizeOf(path):
            return size(resolve(path, item))


def size(value: Value | None) -> Value | None:
    match value:
        case ("S", str(text)):
            return "N", Decimal(len(text.encode("utf-16-le")) // 2)
        case ("B" | "SS" | "NS" | "BS" | "L" | "M", content):
            return "N", Decimal(len(content))
        case _:
            return None


def holds(tree: t.Condition, item: Item) -> bool:
    match tree:
        case t.And(left, right):
            return holds(left, item) and holds(right, item)
        case t.Or(left, right):
            return holds(left, item) or holds(right, item)
        case t.Not(inner):
            return not holds(inner, item)
        case t.Exists(path):
            return resolve(path, item) is not None
        case t.Missing(path):
            return resolve(path, item) is None
        case _:
            return compares(tree, item)


def compares(tree: t.Condition, item: Item) -> bool:
    match tree:
        case t.Compare(operator, left, right):
            return compare(operator, read(left, item), read(right, item))
        case t.Between(operand, low, high):
            value = read(operand, item)
            above = compare(">=", value, read(low, item))
            return above and compare("<=", value, read(high, item))
        case t.OneOf(operand, options):
            value = read(operand, item)
            return any(compare("=", value, read(option, item)) for option in options)
        case t.IsOfType(path, kind):
            found = resolve(path, item)
            return found is not None and found[0] == kind
        case t.BeginsWith(path, prefix):
            return begins_with(resolve(path, item), read(prefix, item))
        case t.Contains(path, member):
            return contains(resolve(path, item), read(member, item))
        case _:
            raise TypeError(tree)


def compare(operator: str, left: Value | None, right: Value | None) -> bool:
    if operator in ("=", "<>"):
        equal = left is not None and left == right
        return equal == (operator == "=")
    if left is None or right is None or left[0] != right[0] or left[0] not in SCALARS:
        return False
    return ORDERED[operator](order(left), order(right))


def begins_with(value: Value | None, prefix: Value | None) -> bool:
    if value is None or prefix is None or value[0] != prefix[0] or value[0] not in ("S", "B"):
        return False
    return bool(value[1].startswith(prefix[1]))


def contains(value: Value | None, member: Value | None) -> bool:
    if value is None or member is None:
        return False
    kind, content = value
    if kind in SETS:
        return SETS[kind] == member[0] and member[1] in content
    if kind == "L":
        return member in content
    return kind in ("S", "B") and kind == member[0] and member[1] in content


def mistakes(tree: t.Condition) -> Iterator[str]:
    """What DynamoDB refuses in a condition before it looks at any item."""
    match tree:
        case t.And(left, right) | t.Or(left, right):
            yield from mistakes(left)
            yield from mistakes(right)
        case t.Not(inner):
            yield from mistakes(inner)
        case t.Compare(operator, left, right):
            yield from comparison_mistakes(operator, left, right)
        case t.Between(_, low, high):
            yield from between_mistakes(low, high)
        case t.BeginsWith(_, prefix) if literal_type(prefix) not in (None, "S", "B"):
            yield "begins_with is for strings and binaries"
        case t.Contains(path, member) if path == member:
            yield NOT_DISTINCT
        case t.BeginsWith(path, prefix) if path == prefix:
            yield NOT_DISTINCT
        case _:
            return


def comparison_mistakes(operator: str, left: t.Operand, right: t.Operand) -> Iterator[str]:
    if isinstance(left, t.Path) and left == right:
        yield NOT_DISTINCT
    elif operator in ORDERED and {literal_type(left), literal_type(right)} - {None, *SCALARS}:
        yield f"{operator} is for strings, numbers and binaries"


def between_mistakes(low: t.Operand, high: t.Operand) -> Iterator[str]:
    kinds = {literal_type(low), literal_type(high)} - {None}
    if kinds - {*SCALARS}:
        yield "BETWEEN is for strings, numbers and binaries"
    elif len(kinds) > 1:
        yield "BETWEEN requires same data type for lower and upper bounds"
    elif isinstance(low, t.Literal) and isinstance(high, t.Literal) and reversed_bounds(low, high):
        yield "BETWEEN requires upper bound to be greater than or equal to lower bound"


def reversed_bounds(low: t.Literal, high: t.Literal) -> bool:
    return compare(">", decode(low.value), decode(high.value))


def literal_type(operand: object) -> str | None:
    return next(iter(operand.value)) if isinstance(operand, t.Literal) else None
