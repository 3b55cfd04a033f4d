"""Search conditions: equality of attributes with constants, joined by AND.

The syntax is that of any condition, so every other kind of condition is rejected here. Which
attributes are allowed depends on the search schema of the index: the caller has it.

AWS: "SearchVectors"; the messages were seen on AWS by a suite that runs there:
https://github.com/paritysuite/dynamodb-conformance
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_SearchVectors.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bigtime.engine.expressions import parameters, paths, tree
from bigtime.engine.expressions.lexer import ExpressionError
from bigtime.wire import AttributeValue, Params

CONDITION = "SearchConditionExpression"
COMPARATOR = f"Invalid comparator used in {CONDITION}"


class Search(NamedTuple):
    """The expressions of a SearchVectors request."""

    equals: dict[str, AttributeValue]
    projection: paths.Projection | None


def read_search(params: Params) -> Search:
    parameters.check_parameters(params, expressions=(CONDITION, "ProjectionExpression"), legacy=())
    names = params.get("ExpressionAttributeNames") or {}
    given = params.get("ExpressionAttributeValues")
    parameters.check_placeholder_keys(params)
    values, size = parameters.read_values(given) if given else ({}, 0)
    parameters.check_placeholder_size(names, values, size)
    compiler = parameters.Compiler(params, names, values)
    equals = compiler.condition(CONDITION, compile_equals) or {}
    projection = compiler.projection()
    compiler.check_all_used()
    return Search({name: values[value] for name, value in equals.items()}, projection)


def compile_equals(condition: tree.Condition, names: paths.Names) -> dict[str, str]:
    """The placeholder of the value that each attribute must equal."""
    equals: dict[str, str] = {}
    for comparison in comparisons(condition):
        attribute, value = operands_of(comparison, names)
        if attribute in equals:
            raise ExpressionError(
                f"{CONDITION} must only contain one condition per attribute; attribute: {attribute}"
            )
        equals[attribute] = value
    return equals


def comparisons(condition: tree.Condition) -> Iterator[tree.Comparison]:
    match condition:
        case tree.And(parts):
            for part in parts:
                yield from comparisons(part)
        case tree.Comparison("="):
            yield condition
        case tree.Or() | tree.Not():
            operator = type(condition).__name__.upper()
            raise ExpressionError(f"Invalid operator used in {CONDITION}: {operator}")
        case _:
            raise ExpressionError(COMPARATOR)


def operands_of(comparison: tree.Comparison, names: paths.Names) -> tuple[str, str]:
    match comparison.left, comparison.right:
        case (tree.Path() as path, tree.Value(value)) | (tree.Value(value), tree.Path() as path):
            resolved = paths.resolve(path, names)
        case _:
            raise ExpressionError(f"{CONDITION} must compare an attribute with a value")
    if len(resolved) > 1:
        raise ExpressionError(f"{CONDITION} cannot have conditions on nested attributes")
    return str(resolved[0]), value
