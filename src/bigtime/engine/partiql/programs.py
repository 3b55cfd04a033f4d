"""Conditions and updates that are bound only to values that fit them.

Whether values fit their operators depends on their types, so that is checked once for each
combination of types. A few conditions depend on more, and are checked each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from bigtime.engine import expressions
from bigtime.wire import AttributeValue, ValidationException

Values: TypeAlias = Mapping[str, AttributeValue]
Types: TypeAlias = tuple[str, ...]

MOST_TYPES = 64
SETS = frozenset(("SS", "NS", "BS"))


def value_types(values: Values) -> Types:
    return tuple([next(iter(value)) for value in values.values()])


@dataclass(slots=True, eq=False)
class CheckedCondition:
    """A filter or condition that is bound only to values that fit it."""

    tree: expressions.Condition
    program: expressions.ConditionProgram
    depends_on_contents: bool
    checked: set[Types] = field(default_factory=set)

    def bind(self, values: Values) -> expressions.Filter:
        types = value_types(values)
        if self.depends_on_contents or types not in self.checked:
            try:
                expressions.check_condition(self.tree, {}, values)
            except expressions.ExpressionError as error:
                # What AWS puts before this text is not known.
                raise ValidationException(str(error)) from None
            remember(self.checked, types)
        return self.program.bind(values)


@dataclass(slots=True, eq=False)
class CheckedUpdate:
    """An update that is compiled when its paths have been checked, with its first values."""

    actions: tuple[expressions.Action, ...]
    program: expressions.UpdateProgram | None = None
    checked: set[Types] = field(default_factory=set)

    def bind(self, values: Values) -> expressions.Update:
        types = value_types(values)
        if self.program is None or types not in self.checked:
            self.check(values)
            remember(self.checked, types)
        if self.program is None:
            self.program = expressions.compile_update(self.actions, {})
        return self.program.bind(values)

    def check(self, values: Values) -> None:
        try:
            expressions.check_update(self.actions, {}, values)
        except expressions.ExpressionError as error:
            raise ValidationException(str(error)) from None
        for action in self.actions:
            if isinstance(action, expressions.Add) and SETS.isdisjoint(values[action.value.name]):
                # ADD takes a number too, SET_ADD does not. AWS's text is not known.
                raise ValidationException("SET_ADD can only add the elements of a set")


def remember(checked: set[Types], types: Types) -> None:
    if len(checked) >= MOST_TYPES:
        checked.clear()
    checked.add(types)


def checked_condition(parts: list[expressions.Condition]) -> CheckedCondition | None:
    if not parts:
        return None
    tree = parts[0] if len(parts) == 1 else expressions.And(tuple(parts))
    program = expressions.compile_condition(tree, {})
    return CheckedCondition(tree, program, expressions.depends_on_contents(tree))
