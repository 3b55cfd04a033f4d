"""Expressions as data: what the generator makes, the printer prints and the model evaluates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bigtime.wire import AttributeValue


@dataclass(frozen=True)
class Path:
    """A document path: an attribute's name, then map keys (text) and list positions (numbers)."""

    steps: tuple[str | int, ...]

    @property
    def root(self) -> str:
        return str(self.steps[0])


@dataclass(frozen=True)
class Literal:
    value: AttributeValue


@dataclass(frozen=True)
class SizeOf:
    path: Path


Operand: TypeAlias = Path | Literal | SizeOf


@dataclass(frozen=True)
class Compare:
    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True)
class Between:
    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True)
class OneOf:
    operand: Operand
    options: tuple[Operand, ...]


@dataclass(frozen=True)
class Exists:
    path: Path


@dataclass(frozen=True)
class Missing:
    path: Path


@dataclass(frozen=True)
class IsOfType:
    path: Path
    type: str


@dataclass(frozen=True)
class BeginsWith:
    path: Path
    prefix: Operand


@dataclass(frozen=True)
class Contains:
    path: Path
    member: Operand


@dataclass(frozen=True)
class And:
    left: Condition
    right: Condition


@dataclass(frozen=True)
class Or:
    left: Condition
    right: Condition


@dataclass(frozen=True)
class Not:
    inner: Condition


Condition: TypeAlias = (
    Compare | Between | OneOf | Exists | Missing | IsOfType | BeginsWith | Contains | And | Or | Not
)


@dataclass(frozen=True)
class IfMissing:
    """`if_not_exists(path, otherwise)`."""

    path: Path
    otherwise: Term


@dataclass(frozen=True)
class Append:
    """`list_append(first, second)`."""

    first: Term
    second: Term


@dataclass(frozen=True)
class Arithmetic:
    """`left + right` or `left - right`."""

    operator: str
    left: Term
    right: Term


Term: TypeAlias = Path | Literal | IfMissing | Append
Assigned: TypeAlias = Term | Arithmetic


@dataclass(frozen=True)
class Set:
    path: Path
    value: Assigned


@dataclass(frozen=True)
class Remove:
    path: Path


@dataclass(frozen=True)
class Add:
    path: Path
    value: Literal


@dataclass(frozen=True)
class DeleteFrom:
    """`DELETE path :members`: takes members out of a set."""

    path: Path
    value: Literal


Action: TypeAlias = Set | Remove | Add | DeleteFrom
Update: TypeAlias = tuple[Action, ...]
Projection: TypeAlias = tuple[Path, ...]


@dataclass(frozen=True)
class KeyTest:
    """One condition on one key attribute: `=`, `<`, ..., `BETWEEN` or `begins_with`."""

    name: str
    operator: str
    values: tuple[AttributeValue, ...]


KeyCondition: TypeAlias = tuple[KeyTest, ...]
