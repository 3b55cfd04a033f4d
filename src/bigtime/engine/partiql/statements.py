"""The shapes that a statement can take once it is parsed.

Conditions, paths and assignments are the trees of the expressions. Their values are names, such
as ``:0``, of the statement's literals: one tree serves every request with the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bigtime.engine.expressions import Action, Condition, Path, Value
from bigtime.engine.partiql.literals import Constant, Literal, fill
from bigtime.wire import AttributeValue, ValidationException, check_value


@dataclass(frozen=True, slots=True)
class Order:
    attribute: str
    ascending: bool


@dataclass(frozen=True, slots=True)
class Select:
    """`paths` is None for ``*``."""

    table: str
    index: str | None
    paths: tuple[Path, ...] | None
    where: Condition | None
    order: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    select: Select

    @property
    def table(self) -> str:
        return self.select.table


@dataclass(frozen=True, slots=True)
class Insert:
    table: str
    item: Value


@dataclass(frozen=True, slots=True)
class Update:
    """`returning` is the ReturnValues of an UpdateItem."""

    table: str
    actions: tuple[Action, ...]
    where: Condition | None
    returning: str


@dataclass(frozen=True, slots=True)
class Delete:
    table: str
    where: Condition | None
    returning: str


Body: TypeAlias = Select | Exists | Insert | Update | Delete


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A statement and its literals, of which `parameters` are question marks."""

    text: str
    body: Body
    literals: dict[str, Literal]
    parameters: int

    @property
    def is_read(self) -> bool:
        return isinstance(self.body, Select)

    def check_parameters(self, given: Sequence[AttributeValue]) -> None:
        if len(given) != self.parameters:
            raise ValidationException("Number of parameters in request and statement don't match.")

    def bind(self, given: Sequence[AttributeValue]) -> dict[str, AttributeValue]:
        """The values of one request, as they are compared and stored."""
        self.check_parameters(given)
        return {
            name: literal.value
            if isinstance(literal, Constant)
            else check_value(fill(literal, given))[0]
            for name, literal in self.literals.items()
        }
