"""The syntax trees of parsed expressions.

The legacy parameters (`Expected`, `AttributeUpdates`, ...) are built into these same shapes,
so that there is one evaluator. A value is always a reference, such as ``:v``, into the values
that come with a request: one tree serves every request with the same text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Comparator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Alias:
    """A ``#name`` to look up in ExpressionAttributeNames."""

    name: str


@dataclass(frozen=True, slots=True)
class Path:
    elements: tuple[str | int | Alias, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A ``:value`` to look up in ExpressionAttributeValues."""

    name: str


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: Literal["+", "-"]
    left: Operand
    right: Operand


Operand: TypeAlias = Path | Value | Function | Arithmetic


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: Comparator
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True, slots=True)
class In:
    operand: Operand
    choices: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Condition


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Condition, ...]


SimpleCondition: TypeAlias = Comparison | Between | In | Function
Condition: TypeAlias = SimpleCondition | Not | And | Or


@dataclass(frozen=True, slots=True)
class Set:
    path: Path
    operand: Operand


@dataclass(frozen=True, slots=True)
class Remove:
    path: Path


@dataclass(frozen=True, slots=True)
class Add:
    path: Path
    value: Value


@dataclass(frozen=True, slots=True)
class Delete:
    path: Path
    value: Value


Action: TypeAlias = Set | Remove | Add | Delete


def operands(condition: SimpleCondition) -> tuple[Operand, ...]:
    match condition:
        case Comparison(_, left, right):
            return (left, right)
        case Between(operand, low, high):
            return (operand, low, high)
        case In(operand, choices):
            return (operand, *choices)
        case Function(_, arguments):
            return arguments


def simple_conditions(condition: Condition) -> Iterator[SimpleCondition]:
    """The conditions that AND, OR and NOT combine, in the order of the text."""
    waiting = [condition]
    while waiting:
        match waiting.pop():
            case And(parts) | Or(parts):
                waiting.extend(reversed(parts))
            case Not(part):
                waiting.append(part)
            case simple:
                yield simple


def leaves(operand: Operand) -> Iterator[Path | Value]:
    """The paths and values in an operand, in the order of the text."""
    waiting = [operand]
    while waiting:
        match waiting.pop():
            case Function(_, arguments):
                waiting.extend(reversed(arguments))
            case Arithmetic(_, left, right):
                waiting.extend((right, left))
            case leaf:
                yield leaf


def operand_paths(operand: Operand) -> Iterator[Path]:
    return (leaf for leaf in leaves(operand) if isinstance(leaf, Path))


def condition_paths(condition: Condition) -> Iterator[Path]:
    """The paths in a condition, in the order of the text."""
    for simple in simple_conditions(condition):
        for operand in operands(simple):
            yield from operand_paths(operand)


def action_paths(action: Action) -> Iterator[Path]:
    yield action.path
    if isinstance(action, Set):
        yield from operand_paths(action.operand)
