"""Key conditions: a condition that names each key attribute once and compares it with constants.

The syntax is that of any condition, so every other kind of condition is rejected here. Which
attributes are keys is not known yet: the caller has the schema.

AWS documents what a key condition may be, but no error messages: "Key condition expressions for the
Query operation in DynamoDB". (The messages were seen on AWS by dynalite's tests.)
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
https://github.com/architect/dynalite/blob/main/test/query.js
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, cast

from bigtime.engine.expressions import tree
from bigtime.engine.expressions.condition import MIRRORED, Values
from bigtime.engine.expressions.paths import Names, resolve
from bigtime.engine.expressions.tree import operands
from bigtime.wire import AttributeValue, ValidationException

KeyOperator: TypeAlias = Literal["=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"]

INVALID_OPERATOR = "Invalid operator used in KeyConditionExpression: "
INVALID_CONDITION = "Invalid condition in KeyConditionExpression: "
INVALID = "Invalid KeyConditionExpression: KeyConditionExpressions "


class KeyTerm(NamedTuple):
    attribute: str
    operator: KeyOperator
    operands: tuple[AttributeValue, ...]


class UnboundTerm(NamedTuple):
    attribute: str
    operator: KeyOperator
    value_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeyProgram:
    """The terms of a key condition, or its error.

    The error is raised only on use: DynamoDB checks the request's other expressions first.
    """

    terms: tuple[UnboundTerm, ...]
    refusal: str | None

    def bind(self, values: Values) -> tuple[KeyTerm, ...]:
        if self.refusal is not None:
            raise ValidationException(self.refusal)
        return tuple(
            [
                KeyTerm(attribute, operator, tuple([values[name] for name in names]))
                for attribute, operator, names in self.terms
            ]
        )


def compile_key_condition(condition: tree.Condition, names: Names) -> KeyProgram:
    try:
        return KeyProgram(unbound_terms(condition, names), None)
    except ValidationException as error:
        return KeyProgram((), error.message)


def unbound_terms(condition: tree.Condition, names: Names) -> tuple[UnboundTerm, ...]:
    terms: dict[str, UnboundTerm] = {}
    for simple in conjuncts(condition):
        term = unbound_term(simple, names)
        if term.attribute in terms:
            raise ValidationException(f"{INVALID}must only contain one condition per key")
        terms[term.attribute] = term
    return tuple(terms.values())


def conjuncts(condition: tree.Condition) -> Iterator[tree.SimpleCondition]:
    match condition:
        case tree.And(parts):
            for part in parts:
                yield from conjuncts(part)
        case tree.Or():
            raise ValidationException(f"{INVALID_OPERATOR}OR")
        case tree.Not():
            raise ValidationException(f"{INVALID_OPERATOR}NOT")
        case simple:
            yield simple


def unbound_term(simple: tree.SimpleCondition, names: Names) -> UnboundTerm:
    operator = key_operator(simple)
    first, *others = operands(simple)
    if operator in ("BETWEEN", "begins_with") and not isinstance(first, tree.Path):
        raise ValidationException(
            f"{INVALID_CONDITION}{operator} operator must have the key attribute as its "
            "first operand"
        )
    attribute = key_attribute((first, *others), names)
    if not isinstance(first, tree.Path):
        first, others, operator = others[0], [first], cast(KeyOperator, MIRRORED[operator])
    constants = [other.name for other in others if isinstance(other, tree.Value)]
    return UnboundTerm(attribute, operator, tuple(constants))


def key_operator(simple: tree.SimpleCondition) -> KeyOperator:
    match simple:
        case tree.Comparison("<>"):
            refused = "<>"
        case tree.Comparison(operator):
            return cast(KeyOperator, operator)
        case tree.Between():
            return "BETWEEN"
        case tree.Function("begins_with"):
            return "begins_with"
        case tree.Function(name):
            refused = name
        case tree.In():
            refused = "IN"
    raise ValidationException(f"{INVALID_OPERATOR}{refused}")


def key_attribute(all_operands: tuple[tree.Operand, ...], names: Names) -> str:
    found = None
    for operand in all_operands:
        if isinstance(operand, tree.Path):
            if found is not None:
                raise ValidationException(
                    f"{INVALID_CONDITION}Multiple attribute names used in one condition"
                )
            found = resolve(operand, names)
            if len(found) > 1:
                raise ValidationException(f"{INVALID}cannot have conditions on nested attributes")
        elif not isinstance(operand, tree.Value):
            raise ValidationException(f"{INVALID}cannot contain nested operations")
    if found is None:
        raise ValidationException(f"{INVALID_CONDITION}No key attribute specified")
    return str(found[0])
