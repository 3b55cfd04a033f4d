"""The same trees as the parameters from before expressions say them, where those can.

Expected, QueryFilter, ScanFilter, KeyConditions, AttributeUpdates and AttributesToGet know whole
attributes and given values only (developerguide/LegacyConditionalParameters.html). What they
cannot say comes back as None, and is then said by expressions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.reference import trees as t
from tests.reference.evaluation import mistakes
from tests.reference.values import SCALARS, SETS

OPERATORS = {
    "=": "EQ", "<>": "NE", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE",
    "BETWEEN": "BETWEEN", "begins_with": "BEGINS_WITH",
}  # fmt: skip
TYPES = {
    "EQ": (*SCALARS, *SETS), "NE": (*SCALARS, *SETS), "BEGINS_WITH": ("S", "B"),
}  # fmt: skip
"""The types that an operator takes, where they are not just the scalars."""

Params = dict[str, Any]


def tests(tree: t.Condition | None, parameter: str) -> Params | None:
    """A condition as Expected, QueryFilter or ScanFilter, with its ConditionalOperator."""
    if tree is None:
        return {}
    both = (tree.left, tree.right) if isinstance(tree, t.And | t.Or) else (tree,)
    said = [test(leaf) for leaf in both]
    if None in said or any(True for leaf in both for _ in mistakes(leaf)):
        return None
    named = {name: check for pair in said if pair for name, check in [pair]}
    if len(named) < len(both):
        return None
    joined = {"ConditionalOperator": "OR" if isinstance(tree, t.Or) else "AND"}
    return {parameter: named, **(joined if len(both) > 1 else {})}


def test(leaf: t.Condition) -> tuple[str, Params] | None:
    operands: tuple[t.Operand, ...] = ()
    match leaf:
        case t.Compare(sign, t.Path() as path, right):
            operator, operands = OPERATORS[sign], (right,)
        case t.Between(t.Path() as path, low, high):
            operator, operands = "BETWEEN", (low, high)
        case t.OneOf(t.Path() as path, options):
            operator, operands = "IN", options
        case t.BeginsWith(path, prefix):
            operator, operands = "BEGINS_WITH", (prefix,)
        case t.Contains(path, member):
            operator, operands = "CONTAINS", (member,)
        case t.Exists(path) | t.Missing(path):
            operator = "NOT_NULL" if isinstance(leaf, t.Exists) else "NULL"
        case _:
            return None
    return legacy_condition(path, operator, operands)


def legacy_condition(
    path: t.Path, operator: str, operands: tuple[t.Operand, ...]
) -> tuple[str, Params] | None:
    values = [operand.value for operand in operands if isinstance(operand, t.Literal)]
    types = {kind for value in values for kind in value}
    if len(path.steps) > 1 or len(values) < len(operands) or len(types) > 1:
        return None
    if types - {*TYPES.get(operator, SCALARS)}:
        return None
    given = {"AttributeValueList": values} if values else {}
    return path.root, {"ComparisonOperator": operator, **given}


def key_conditions(keys: t.KeyCondition) -> Params:
    """As many as the key of an index has attributes (scylladb/scylladb#31393)."""
    return {
        "KeyConditions": {
            key.name: {
                "ComparisonOperator": OPERATORS[key.operator],
                "AttributeValueList": list(key.values),
            }
            for key in keys
        }
    }


def attributes_to_get(projection: t.Projection) -> Params | None:
    names = whole_attributes(projection)
    if names is None:
        return None
    return {"AttributesToGet": names} if names else {}


def attribute_updates(actions: t.Update) -> Params | None:
    names = whole_attributes(action.path for action in actions)
    said = [update(action) for action in actions]
    if names is None or None in said:
        return None
    return {"AttributeUpdates": dict(zip(names, said, strict=True))} if said else {}


def update(action: t.Action) -> Params | None:
    match action:
        case t.Set(_, t.Literal(value)):
            return {"Action": "PUT", "Value": value}
        case t.Remove():
            return {"Action": "DELETE"}
        case t.Add(_, t.Literal(value)) if {*value} <= {"N", *SETS}:
            return {"Action": "ADD", "Value": value}
        case t.DeleteFrom(_, t.Literal(value)) if {*value} <= {*SETS}:
            return {"Action": "DELETE", "Value": value}
        case _:
            return None


def whole_attributes(paths: Iterable[t.Path]) -> list[str] | None:
    """Names, each once; None where a path goes deeper or comes twice."""
    given = list(paths)
    names = [path.root for path in given]
    deeper = any(len(path.steps) > 1 for path in given)
    return None if deeper or len({*names}) < len(names) else names
