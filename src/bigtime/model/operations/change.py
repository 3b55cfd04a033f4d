"""Changes to single fields in an update: their values, expressions, and results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, TypeAlias

from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.schema import MAIN, SETS, Layout, Path, Placeholders, Step, may_be_none, split

Clause: TypeAlias = tuple[str, str]
"""A part of an update expression: its section (SET, ADD...), and its text."""

PENDING = object()
"""A time that is not known yet."""


class FieldChange(ABC):
    """A change to one field; a plain value in an update sets it.

    `tells` says that the new value does not depend on the old one. `types` are the attribute types
    that it can change, if not all.
    """

    __slots__ = ()

    tells: ClassVar[bool] = False
    types: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def check(self, layout: Layout, path: Path) -> FieldChange:
        """The same change with its value validated by the field's type."""

    @abstractmethod
    def clause(self, marks: Placeholders, path: Path) -> Clause | None:
        """Its part of the update expression; None if there is nothing to do."""

    def after(self, before: Any) -> Any:
        """The field's new value, given the old; None means that it is not stored."""
        return before


@dataclass(frozen=True, slots=True, eq=False)
class Valued(FieldChange):
    """A change that takes a value."""

    value: Any


class Set(Valued):
    """Sets a field. An empty set is not stored, so it removes the field."""

    __slots__ = ()

    tells = True

    def check(self, layout: Layout, path: Path) -> FieldChange:
        form = layout.place(path).form
        if self.value is None:
            if isinstance(path, str) and not may_be_none(form.annotation):
                raise ValueRefused(f"{layout.entity.__name__}.{path} cannot be None")
            return Remove()
        value = layout.check_value(path, self.value)
        if form.is_set and not value:
            return Remove()
        layout.stored_value(path, value)
        return Set(value)

    def clause(self, marks: Placeholders, path: Path) -> Clause:
        return "SET", f"{marks.path(path)} = {marks.stored_value(path, self.value)}"

    def after(self, before: Any) -> Any:
        return self.value


@dataclass(frozen=True, slots=True, eq=False)
class Remove(FieldChange):
    """Removes a field; one that has a default is set to it."""

    tells = True

    def check(self, layout: Layout, path: Path) -> FieldChange:
        form = layout.place(path).form
        if not isinstance(path, str) or form.is_set:
            return self
        default = layout.default(path)
        if default is None and not may_be_none(form.annotation):
            raise ValueRefused(f"{layout.entity.__name__}.{path} cannot be taken away")
        return self if default is None else Set(default)

    def clause(self, marks: Placeholders, path: Path) -> Clause:
        return "REMOVE", marks.path(path)

    def after(self, before: Any) -> Any:
        return None


class Stamp(FieldChange):
    """Sets a field to the time of the write, by the store's clock."""

    __slots__ = ()

    tells = True

    def check(self, layout: Layout, path: Path) -> FieldChange:
        return self

    def clause(self, marks: Placeholders, path: Path) -> None:
        return None

    def at(self, moment: Any) -> FieldChange:
        return Set(moment)

    def after(self, before: Any) -> Any:
        return PENDING


class FirstStamp(Stamp):
    """Sets a field to the time of the write, if it is missing."""

    __slots__ = ()

    tells = False

    def at(self, moment: Any) -> FieldChange:
        return IfMissing(moment)

    def after(self, before: Any) -> Any:
        return PENDING if before is None else before


class IfMissing(Valued):
    """Sets a field only if it is missing."""

    __slots__ = ()

    def check(self, layout: Layout, path: Path) -> FieldChange:
        value = layout.check_value(path, self.value)
        layout.stored_value(path, value)
        return IfMissing(value)

    def clause(self, marks: Placeholders, path: Path) -> Clause:
        target = marks.path(path)
        return "SET", f"{target} = if_not_exists({target}, {marks.stored_value(path, self.value)})"

    def after(self, before: Any) -> Any:
        return self.value if before is None else before


@dataclass(frozen=True, slots=True, eq=False)
class Add(FieldChange):
    """Adds to a number, or members to a set; a missing field starts from its default."""

    value: Any
    start: Any = 0

    types = ("N", *SETS)

    def check(self, layout: Layout, path: Path) -> FieldChange:
        if layout.place(path).form.is_set:
            return Add(members(layout, path, self.value))
        layout.stored_value(path, self.value)
        start = layout.default(path) if isinstance(path, str) else None
        return Add(self.value, start or 0)

    def clause(self, marks: Placeholders, path: Path) -> Clause | None:
        if isinstance(self.value, set | frozenset) and not self.value:
            return None
        target, value = marks.path(path), marks.stored_value(path, self.value)
        # ADD starts from 0, and is for whole attributes only
        # (AWS: Expressions.UpdateExpressions.html).
        if isinstance(self.value, set | frozenset) or (isinstance(path, str) and not self.start):
            return "ADD", f"{target} {value}"
        start = marks.stored_value(path, self.start)
        return "SET", f"{target} = if_not_exists({target}, {start}) + {value}"

    def after(self, before: Any) -> Any:
        if isinstance(self.value, set | frozenset):
            return {*(before or ()), *self.value}
        return (self.start if before is None else before) + self.value


class Discard(Valued):
    """Removes members from a set."""

    __slots__ = ()

    types = SETS

    def check(self, layout: Layout, path: Path) -> FieldChange:
        return Discard(members(layout, path, self.value))

    def clause(self, marks: Placeholders, path: Path) -> Clause | None:
        if not self.value:
            return None
        return "DELETE", f"{marks.path(path)} {marks.stored_value(path, self.value)}"


@dataclass(frozen=True, slots=True, eq=False)
class Append(FieldChange):
    """Adds elements to the end of a list, or to its start; a missing list starts empty."""

    value: list[Any]
    at_start: bool = False

    types = ("L",)

    def check(self, layout: Layout, path: Path) -> FieldChange:
        return Append([layout.checked_part(path, each) for each in self.value], self.at_start)

    def clause(self, marks: Placeholders, path: Path) -> Clause:
        target, more = marks.path(path), marks.stored_value(path, self.value)
        before = f"if_not_exists({target}, {marks.value({'L': []})})"
        pair = f"{more}, {before}" if self.at_start else f"{before}, {more}"
        return "SET", f"{target} = list_append({pair})"


@dataclass(frozen=True, slots=True, eq=False)
class At:
    """A change inside a field: `At("addresses.home", Remove())`, `At(("addresses", name), home)`.

    Pass an untrusted name as a step of its own, as in the second.
    """

    path: Path
    change: Any


def members(layout: Layout, path: Path, value: Any) -> Any:
    """The members of a set, each validated by its type."""
    if not isinstance(value, set | frozenset):
        raise layout.refusal(path, ValueError(f"takes a set, not {value!r}"))
    return {layout.checked_part(path, each) for each in value}


def read_changes(
    layout: Layout, paths: tuple[At, ...], fields: Mapping[str, Any]
) -> dict[Path, FieldChange]:
    """The changes given to an update, validated against their fields."""
    given: list[tuple[Path, Any]] = [*fields.items(), *((each.path, each.change) for each in paths)]
    if not given:
        raise DesignError("update() was given nothing to change")
    steps = [split(path) for path, _ in given]
    for path in steps:
        check_changeable(layout, str(path[0]))
    check_apart(steps)
    return {
        place: read_change(layout, place, value)
        for place, (_, value) in zip(map(path_from, steps), given, strict=True)
    }


def path_from(steps: tuple[Step, ...]) -> Path:
    """The path from steps: a field's name alone, or the steps to a place inside it."""
    return str(steps[0]) if len(steps) == 1 else steps


def read_change(layout: Layout, path: Path, value: Any) -> FieldChange:
    change = value if isinstance(value, FieldChange) else Set(value)
    tag = layout.place(path).form.tag
    if change.types and tag and tag not in change.types:
        raise DesignError(
            f"{layout.entity.__name__}.{path} is of type {tag}, which {type(change).__name__}"
            " cannot change"
        )
    return change.check(layout, path)


def check_changeable(layout: Layout, name: str) -> None:
    layout.check_field(name)
    where = f"{layout.entity.__name__}.{name}"
    if name in layout.keys[MAIN].fields:
        raise DesignError(
            f"{where} is part of its key, and a key never changes; delete the item and put another"
            " in one transaction"
        )
    if name in (layout.roles.version, layout.roles.updated):
        raise DesignError(f"{where} is changed by every update, and by nobody else")


def check_apart(paths: list[tuple[Step, ...]]) -> None:
    """Refuses overlapping paths: DynamoDB takes one change per path, and none inside another."""
    for each, other in combinations(paths, 2):
        shorter = min(len(each), len(other))
        if each[:shorter] == other[:shorter]:
            raise DesignError(
                f"{each!r} and {other!r} are changed at once, and one holds the other"
            )
