"""Conditions and updates that check their values before binding them.

Whether values fit their operators depends on their types, so it is checked once per combination of
types. A few conditions depend on the values too, and are checked each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeAlias, TypeVar

from bigtime.engine import expressions
from bigtime.wire import AttributeValue, ValidationException

Values: TypeAlias = Mapping[str, AttributeValue]
Types: TypeAlias = tuple[str, ...]
Bound_co = TypeVar("Bound_co", covariant=True)

MOST_TYPES = 64


class Program(Protocol[Bound_co]):
    def bind(self, values: Values) -> Bound_co: ...


@dataclass(slots=True, eq=False)
class CheckedProgram(Generic[Bound_co]):
    """A program that is compiled once its first values have been checked."""

    check: Callable[[Values], None]
    compile: Callable[[], Program[Bound_co]]
    depends_on_contents: bool = False
    program: Program[Bound_co] | None = None
    checked: set[Types] = field(default_factory=set)

    def bind(self, values: Values) -> Bound_co:
        types = tuple([next(iter(value)) for value in values.values()])
        if self.depends_on_contents or types not in self.checked:
            try:
                self.check(values)
            except expressions.ExpressionError as error:
                # What AWS puts before this text is not known.
                raise ValidationException(str(error)) from None
            if len(self.checked) >= MOST_TYPES:
                self.checked.clear()
            self.checked.add(types)
        if self.program is None:
            self.program = self.compile()
        return self.program.bind(values)


def checked_condition(
    parts: list[expressions.Condition],
) -> CheckedProgram[expressions.Filter] | None:
    if not parts:
        return None
    tree = parts[0] if len(parts) == 1 else expressions.And(tuple(parts))
    return CheckedProgram(
        partial(expressions.check_condition, tree, {}),
        partial(expressions.compile_condition, tree, {}),
        expressions.depends_on_contents(tree),
    )


def checked_update(actions: Sequence[expressions.Action]) -> CheckedProgram[expressions.Update]:
    return CheckedProgram(
        partial(expressions.check_update, actions, {}),
        partial(expressions.compile_update, actions, {}),
    )
