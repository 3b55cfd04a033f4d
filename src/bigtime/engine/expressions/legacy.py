"""The legacy parameters that preceded expressions, built into the same trees.

`Expected`, `QueryFilter`, `ScanFilter` and `KeyConditions` have one simple condition per attribute;
`ConditionalOperator` joins them. `AttributeUpdates` has one update clause per attribute. Their
names are literal, never placeholders, and their values are numbered: ``:0``, ``:1`` and so on.

AWS: "Legacy DynamoDB conditional parameters"; the messages were seen on AWS by dynalite's tests.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.html
https://github.com/architect/dynalite/tree/main/test
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bigtime.engine.expressions import tree
from bigtime.engine.expressions.check import type_of
from bigtime.engine.expressions.condition import Filter, compile_condition
from bigtime.engine.expressions.key_condition import KeyOperator, KeyTerm
from bigtime.engine.expressions.paths import Projection, projection
from bigtime.engine.expressions.update import Update, compile_update
from bigtime.wire import AttributeValue, ValidationException
from bigtime.wire import values as attribute_values

TYPE_MISMATCH = "Type mismatch for attribute to update"
SETS = ("SS", "NS", "BS")
SCALARS = ("S", "N", "B")

COMPARATORS: dict[str, tree.Comparator] = {
    "EQ": "=",
    "NE": "<>",
    "LE": "<=",
    "LT": "<",
    "GE": ">=",
    "GT": ">",
}
OPERAND_TYPES = {
    "LE": SCALARS,
    "LT": SCALARS,
    "GE": SCALARS,
    "GT": SCALARS,
    "CONTAINS": SCALARS,
    "NOT_CONTAINS": SCALARS,
    "BEGINS_WITH": ("S", "B"),
    "IN": SCALARS,
    "BETWEEN": SCALARS,
}
KEY_OPERATORS: dict[str, KeyOperator] = {
    "EQ": "=",
    "LE": "<=",
    "LT": "<",
    "GE": ">=",
    "GT": ">",
    "BETWEEN": "BETWEEN",
    "BEGINS_WITH": "begins_with",
}


def invalid(problem: str) -> ValidationException:
    return ValidationException(attribute_values.INVALID + problem)


class Literals:
    """The values of a legacy parameter, numbered in order."""

    def __init__(self) -> None:
        self.values: dict[str, AttributeValue] = {}

    def add(self, value: AttributeValue) -> tree.Value:
        name = f":{len(self.values)}"
        self.values[name] = value
        return tree.Value(name)


def check_name(name: str) -> None:
    if not name:
        raise invalid(attribute_values.EMPTY_NAME)


def check_operand(value: AttributeValue) -> AttributeValue:
    return attribute_values.check_value(value)[0]


def read_filter(conditions: Mapping[str, Any], conditional_operator: str | None) -> Filter | None:
    """The filter of a `QueryFilter` or `ScanFilter`; None if it has no conditions."""
    read = {name: read_condition(condition) for name, condition in conditions.items()}
    return joined_filter(read, conditional_operator)


def read_expected(expected: Mapping[str, Any], conditional_operator: str | None) -> Filter | None:
    read = {name: read_expectation(name, expectation) for name, expectation in expected.items()}
    return joined_filter(read, conditional_operator)


def joined_filter(
    conditions: Mapping[str, tuple[str, list[AttributeValue]]], conditional_operator: str | None
) -> Filter | None:
    literals = Literals()
    parts = [legacy_condition(name, *read, literals) for name, read in conditions.items()]
    if not parts:
        return None
    joined = (tree.Or if conditional_operator == "OR" else tree.And)(tuple(parts))
    return compile_condition(parts[0] if len(parts) == 1 else joined, {}).bind(literals.values)


def read_condition(condition: Mapping[str, Any]) -> tuple[str, list[AttributeValue]]:
    operator = condition["ComparisonOperator"]
    operands = [check_operand(value) for value in condition.get("AttributeValueList") or ()]
    check_operand_count(operator, operands)
    check_operand_types(operator, operands)
    return operator, operands


def read_expectation(name: str, expectation: Mapping[str, Any]) -> tuple[str, list[AttributeValue]]:
    value, listed = expectation.get("Value"), expectation.get("AttributeValueList")
    if value is not None and listed is not None:
        raise invalid(f"Value and AttributeValueList cannot be used together for Attribute: {name}")
    operator = expectation.get("ComparisonOperator")
    if operator is not None:
        return read_compared_expectation(name, operator, expectation)
    if listed is not None:
        raise invalid(
            f"AttributeValueList can only be used with a ComparisonOperator for Attribute: {name}"
        )
    return read_existence(name, expectation.get("Exists"), value)


def read_compared_expectation(
    name: str, operator: str, expectation: Mapping[str, Any]
) -> tuple[str, list[AttributeValue]]:
    if expectation.get("Exists") is not None:
        raise invalid(
            f"Exists and ComparisonOperator cannot be used together for Attribute: {name}"
        )
    value, listed = expectation.get("Value"), expectation.get("AttributeValueList")
    if value is None and listed is None and operator not in ("NULL", "NOT_NULL"):
        raise invalid(
            f"Value or AttributeValueList must be used with ComparisonOperator: {operator} "
            f"for Attribute: {name}"
        )
    given = listed if listed is not None else [] if value is None else [value]
    return read_condition({"ComparisonOperator": operator, "AttributeValueList": given})


def read_existence(
    name: str, exists: bool | None, value: AttributeValue | None
) -> tuple[str, list[AttributeValue]]:
    if exists is False:
        if value is not None:
            raise invalid(f"Value cannot be used when Exists is false for Attribute: {name}")
        return "NULL", []
    if value is None:
        text = "null" if exists is None else "true"
        raise invalid(f"Value must be provided when Exists is {text} for Attribute: {name}")
    return "EQ", [check_operand(value)]


def check_operand_count(operator: str, operands: Sequence[AttributeValue]) -> None:
    count = len(operands)
    if operator == "IN":
        right = count > 0
    elif operator == "BETWEEN":
        right = count == 2
    else:
        right = count == (0 if operator in ("NULL", "NOT_NULL") else 1)
    if not right:
        raise invalid(f"Invalid number of argument(s) for the {operator} ComparisonOperator")


def check_operand_types(operator: str, operands: Sequence[AttributeValue]) -> None:
    if len({type_of(operand) for operand in operands}) > 1:
        raise invalid("AttributeValues inside AttributeValueList must be of same type")
    for operand in operands:
        if operator in OPERAND_TYPES and type_of(operand) not in OPERAND_TYPES[operator]:
            raise invalid(
                f"ComparisonOperator {operator} is not valid for {type_of(operand)} "
                "AttributeValue type"
            )
    if operator == "BETWEEN" and (attribute_values.order(*operands) or 0) > 0:
        raise ValidationException(
            "The BETWEEN condition was provided a range where the lower bound is greater "
            "than the upper bound"
        )


def legacy_condition(
    name: str, operator: str, operands: Sequence[AttributeValue], literals: Literals
) -> tree.Condition:
    check_name(name)
    path = tree.Path((name,))
    given = tuple(literals.add(operand) for operand in operands)
    if operator in COMPARATORS:
        return tree.Comparison(COMPARATORS[operator], path, given[0])
    return BUILDERS[operator](path, given)


BUILDERS: dict[str, Callable[[tree.Path, tuple[tree.Value, ...]], tree.Condition]] = {
    "NOT_NULL": lambda path, given: tree.Function("attribute_exists", (path,)),
    "NULL": lambda path, given: tree.Function("attribute_not_exists", (path,)),
    "CONTAINS": lambda path, given: tree.Function("contains", (path, *given)),
    "NOT_CONTAINS": lambda path, given: tree.And(
        # NOT_CONTAINS is false for a missing attribute, whereas NE is true.
        (
            tree.Function("attribute_exists", (path,)),
            tree.Not(tree.Function("contains", (path, *given))),
        )
    ),
    "BEGINS_WITH": lambda path, given: tree.Function("begins_with", (path, *given)),
    "IN": tree.In,
    "BETWEEN": lambda path, given: tree.Between(path, *given),
}


def read_key_conditions(conditions: Mapping[str, Any]) -> tuple[KeyTerm, ...]:
    return tuple(key_term(name, *read_condition(each)) for name, each in conditions.items())


def key_term(name: str, operator: str, operands: Sequence[AttributeValue]) -> KeyTerm:
    if operator not in KEY_OPERATORS:
        raise ValidationException("Attempted conditional constraint is not an indexable operation")
    return KeyTerm(name, KEY_OPERATORS[operator], tuple(operands))


def read_attributes_to_get(names: Sequence[str]) -> Projection:
    seen: set[str] = set()
    for name in names:
        check_name(name)
        if name in seen:
            raise invalid(f"Duplicate value in attribute name: {name}")
        seen.add(name)
    return projection([(name,) for name in names])


def read_attribute_updates(updates: Mapping[str, Any]) -> Update:
    literals = Literals()
    actions = [action(name, update, literals) for name, update in updates.items()]
    return compile_update(actions, {}, TYPE_MISMATCH).bind(literals.values)


def action(name: str, update: Mapping[str, Any], literals: Literals) -> tree.Action:
    check_name(name)
    verb, path = update.get("Action") or "PUT", tree.Path((name,))
    value = update.get("Value")
    if value is None:
        if verb != "DELETE":
            raise invalid("Only DELETE action is allowed when no attribute value is specified")
        return tree.Remove(path)
    value = check_operand(value)
    check_action_type(verb, type_of(value))
    if verb == "PUT":
        return tree.Set(path, literals.add(value))
    return (tree.Add if verb == "ADD" else tree.Delete)(path, literals.add(value))


def check_action_type(verb: str, given: str) -> None:
    if verb == "DELETE" and given not in SETS:
        raise invalid(f"DELETE action with value is not supported for the type {given}")
    # That ADD also takes a list is undocumented. (Seen on AWS by dynalite's test/updateItem.js)
    if verb == "ADD" and given not in ("N", "L", *SETS):
        raise invalid(f"ADD action is not supported for the type {given}")
