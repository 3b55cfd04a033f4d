"""What an operation has in it, for the rules that say where a second opinion is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bigtime.wire import AttributeValue
from tests.reference import operations as o
from tests.reference import trees as t
from tests.reference.evaluation import read
from tests.reference.model import Model
from tests.reference.values import Item, Value

KINDS = frozenset(("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"))


def writes_of(operation: o.Operation) -> tuple[o.Write, ...]:
    match operation:
        case o.BatchWrite() | o.TransactWrite():
            return operation.writes
        case o.Write():
            return (operation,)
        case _:
            return ()


def updates_of(operation: o.Operation) -> list[o.Update]:
    return [write for write in writes_of(operation) if isinstance(write, o.Update)]


def condition_of(call: o.Call) -> t.Condition | None:
    match call:
        case o.Write():
            return call.condition
        case o.Read():
            return call.filter
        case _:
            return None


def nodes(tree: t.Condition) -> Iterator[t.Condition]:
    yield tree
    match tree:
        case t.And(left, right) | t.Or(left, right):
            yield from nodes(left)
            yield from nodes(right)
        case t.Not(inner):
            yield from nodes(inner)
        case _:
            return


def conditions(operation: o.Operation) -> Iterator[t.Condition]:
    for call in writes_of(operation) or (operation,):
        condition = condition_of(call)
        if condition is not None:
            yield from nodes(condition)


def tests(operation: o.Operation, model: Model) -> Iterator[tuple[t.Condition, list[Value | None]]]:
    """Every test of every condition with what its operands are, for each item it may meet."""
    for call in writes_of(operation) or (operation,):
        condition = condition_of(call)
        if condition is None:
            continue
        for item in items_met(call, model):
            for node in nodes(condition):
                yield node, [read(operand, item) for operand in operands(node)]


def items_met(call: o.Call, model: Model) -> list[Item]:
    match call:
        case o.OnItem():
            return [model.old(call) or {}]
        case o.Read():
            return list(model.table(call).items.values())
        case _:
            return []


def operands(node: t.Condition) -> list[t.Operand]:
    found: list[t.Operand] = []
    for part in vars(node).values():
        parts = part if isinstance(part, tuple) else (part,)
        found += [each for each in parts if isinstance(each, t.Path | t.Literal | t.SizeOf)]
    return found


def values_in(given: Any) -> Iterator[AttributeValue]:
    """Every attribute value in a request, also inside lists and maps."""
    if isinstance(given, dict):
        if len(given) == 1 and next(iter(given)) in KINDS:
            yield given
        for part in given.values():
            yield from values_in(part)
    elif isinstance(given, list | tuple):
        for part in given:
            yield from values_in(part)


def numbers_in(operation: o.Operation) -> Iterator[str]:
    for value in values_in(operation.params()):
        yield from [value["N"]] if "N" in value else value.get("NS", [])


def is_empty(value: Value | None) -> bool:
    return value in (("S", ""), ("B", b""))


def paths_in(term: t.Assigned) -> Iterator[t.Path]:
    """The attributes that the right side of a SET reads."""
    match term:
        case t.Path():
            yield term
        case t.IfMissing(path, otherwise):
            yield path
            yield from paths_in(otherwise)
        case t.Append(left, right) | t.Arithmetic(_, left, right):
            yield from paths_in(left)
            yield from paths_in(right)
        case _:
            return
