"""The values of a statement: literals, parameters, and literals with parameters inside.

AWS: "PartiQL data types for DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.data-types.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bigtime.engine.partiql.tokens import statement_error
from bigtime.wire import AttributeValue, check_value


@dataclass(frozen=True, slots=True)
class Constant:
    value: AttributeValue


@dataclass(frozen=True, slots=True)
class Parameter:
    """A ``?``, by its place among the request's Parameters."""

    place: int


@dataclass(frozen=True, slots=True)
class ListLiteral:
    elements: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class MapLiteral:
    members: tuple[tuple[str, Literal], ...]


@dataclass(frozen=True, slots=True)
class SetLiteral:
    elements: tuple[Literal, ...]


Literal: TypeAlias = Constant | Parameter | ListLiteral | MapLiteral | SetLiteral

SET_TYPES = {"S": "SS", "N": "NS", "B": "BS"}


def fill(literal: Literal, parameters: Sequence[AttributeValue]) -> AttributeValue:
    """The value of a literal with its parameters filled in, not yet checked as a value."""
    match literal:
        case Constant(value):
            return value
        case Parameter(place):
            return parameters[place]
        case ListLiteral(elements):
            return {"L": [fill(element, parameters) for element in elements]}
        case MapLiteral(members):
            return {"M": {name: fill(member, parameters) for name, member in members}}
        case SetLiteral(elements):
            return set_of([fill(element, parameters) for element in elements])


def set_of(elements: list[AttributeValue]) -> AttributeValue:
    types = {tag for element in elements for tag in element}
    if len(types) != 1 or not types <= SET_TYPES.keys():
        # AWS's text is not known.
        raise statement_error("The elements of a set must be numbers, or strings, of one type")
    (tag,) = types
    return {SET_TYPES[tag]: [element[tag] for element in elements]}


def fold(literal: Literal) -> Literal:
    """A literal without parameters as the constant that it is, checked once."""
    if has_parameters(literal):
        return literal
    return Constant(check_value(fill(literal, ()))[0])


def has_parameters(literal: Literal) -> bool:
    match literal:
        case Constant():
            return False
        case Parameter():
            return True
        case ListLiteral(elements) | SetLiteral(elements):
            return any(map(has_parameters, elements))
        case MapLiteral(members):
            return any(has_parameters(member) for _, member in members)
