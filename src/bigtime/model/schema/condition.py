"""Conditions on an entity's fields, written in Python and sent as expressions.

`attr("like_count") >= 1`, `attr("address.city").exists() & ~attr("tags").contains("old")`. Names
are the entity's Python names; values are encoded exactly as the field they are compared with. Both
are resolved only when the condition is used with an entity; until then it is a small tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeAlias, TypeVar, cast

from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.schema.attribute import Path, Step
from bigtime.model.schema.layout import Layout
from bigtime.model.schema.stored import write_any
from bigtime.model.schema.table import MAIN
from bigtime.wire import AttributeValue, Item, comparable

if TYPE_CHECKING:
    from bigtime.model.schema.entity import Entity

AttributeType: TypeAlias = Literal["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]

V = TypeVar("V")

MOST_CHOICES = 100


class Placeholders:
    """The names and values in one request's expressions, with one placeholder for each.

    `attributes` are the stored names of all attributes that the expressions use, whole or by path.
    """

    __slots__ = ("attributes", "layout", "names", "values")

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.names: dict[str, str] = {}
        self.values: Item = {}
        self.attributes: set[str] = set()

    def name(self, stored: str) -> str:
        self.attributes.add(stored)
        return self.names.setdefault(stored, f"#n{len(self.names)}")

    def value(self, value: AttributeValue) -> str:
        mark = f":v{len(self.values)}"
        self.values[mark] = value
        return mark

    def path(self, path: Path) -> str:
        """A Python path such as `addresses.home` or `lines[0].count`, with placeholders."""
        if isinstance(path, str) and path in self.layout.names:
            return self.name(self.layout.names[path])
        first, *rest = self.layout.place(path).steps
        return self.name(str(first)) + "".join(map(self.step, rest))

    def step(self, step: Step) -> str:
        if isinstance(step, int):
            return f"[{step}]"
        return f".{self.names.setdefault(step, f'#n{len(self.names)}')}"

    def stored_value(self, path: Path, value: Any) -> str:
        """A value in the stored form of the field that the path leads to."""
        return self.value(self.layout.stored_value(path, value))

    def operand(self, path: Path, value: Any, operator: str = "=") -> str:
        """The right-hand side of a comparison: another path, or a value of the path's type."""
        if isinstance(value, Attr):
            return self.path(value.path)
        if value is None:
            raise DesignError(f"{path!r} is compared with None; ask missing() or exists()")
        if operator in ("=", "<>"):
            return self.stored_value(path, self.layout.check_value(path, value))
        return self.stored_value(path, self.layout.bound(path, value, up=operator in ("<", ">=")))

    def between(self, path: Path, low: Any, high: Any) -> str:
        first, last = self.operand(path, low, ">="), self.operand(path, high, "<=")
        ends = [comparable(self.values[mark]) for mark in (first, last) if mark in self.values]
        if len(ends) == 2 and None not in ends and ends[0] > ends[1]:
            raise ValueRefused(
                f"{self.layout.entity.__name__}.{path}: between takes the lower value first"
            )
        return f"{self.path(path)} BETWEEN {first} AND {last}"

    def member(self, path: Path, part: Any) -> str:
        """The operand of `contains`: part of a text, or an element of a set or list."""
        element = self.layout.place(path).form.element
        try:
            return self.value(element.write(part) if element else write_any(part))
        except (ValueError, TypeError, AttributeError) as error:
            raise self.layout.refusal(path, error) from None

    def parameters(self) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        if self.names:
            shown["ExpressionAttributeNames"] = dict(
                zip(self.names.values(), self.names, strict=True)
            )
        if self.values:
            shown["ExpressionAttributeValues"] = self.values
        return shown


class Condition:
    """A condition; `&`, `|` and `~` combine them."""

    __slots__ = ("render",)

    def __init__(self, render: Callable[[Placeholders], str]) -> None:
        self.render = render

    def __and__(self, other: Condition) -> Condition:
        check_condition(other)
        return Condition(lambda marks: f"({self.render(marks)}) AND ({other.render(marks)})")

    def __or__(self, other: Condition) -> Condition:
        check_condition(other)
        return Condition(lambda marks: f"({self.render(marks)}) OR ({other.render(marks)})")

    def __invert__(self) -> Condition:
        return Condition(lambda marks: f"NOT ({self.render(marks)})")

    def __bool__(self) -> NoReturn:
        raise DesignError("a condition is known only in the table; combine them with &, | and ~")


def check_condition(given: object) -> None:
    """Refuses anything but a Condition or None as the condition of a filter or a write."""
    if given is not None and not isinstance(given, Condition):
        raise DesignError(f"{given!r} is no condition; one looks like attr('total') > 100")


class Compared(Generic[V]):
    """Turns Python's comparison operators into DynamoDB conditions."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def compare(self, operator: str, value: V) -> Condition:
        raise NotImplementedError

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return self.compare("=", cast(V, value))

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return self.compare("<>", cast(V, value))

    def __lt__(self, value: V) -> Condition:
        return self.compare("<", value)

    def __le__(self, value: V) -> Condition:
        return self.compare("<=", value)

    def __gt__(self, value: V) -> Condition:
        return self.compare(">", value)

    def __ge__(self, value: V) -> Condition:
        return self.compare(">=", value)


@dataclass(frozen=True, slots=True, eq=False)
class Attr(Compared[Any]):
    """A field, or a path into one, that conditions compare."""

    path: Path

    def compare(self, operator: str, value: Any) -> Condition:
        return Condition(
            lambda marks: (
                f"{marks.path(self.path)} {operator} {marks.operand(self.path, value, operator)}"
            )
        )

    def between(self, low: Any, high: Any) -> Condition:
        return Condition(lambda marks: marks.between(self.path, low, high))

    def one_of(self, *values: Any) -> Condition:
        if not 1 <= len(values) <= MOST_CHOICES:
            raise ValueRefused(f"one_of takes 1 to {MOST_CHOICES} values, not {len(values)}")

        def render(marks: Placeholders) -> str:
            listed = ", ".join(marks.operand(self.path, value) for value in values)
            return f"{marks.path(self.path)} IN ({listed})"

        return Condition(render)

    def exists(self) -> Condition:
        return Condition(lambda marks: f"attribute_exists({marks.path(self.path)})")

    def missing(self) -> Condition:
        return Condition(lambda marks: f"attribute_not_exists({marks.path(self.path)})")

    def of_type(self, type: AttributeType) -> Condition:
        return Condition(
            lambda marks: f"attribute_type({marks.path(self.path)}, {marks.value({'S': type})})"
        )

    def begins_with(self, start: str | bytes) -> Condition:
        """Compares with the text, or the bytes, as stored."""
        return Condition(
            lambda marks: f"begins_with({marks.path(self.path)}, {marks.value(write_any(start))})"
        )

    def contains(self, part: Any) -> Condition:
        """True for a substring of a text, a member of a set, or an element of a list."""
        return Condition(
            lambda marks: f"contains({marks.path(self.path)}, {marks.member(self.path, part)})"
        )

    def size(self) -> Size:
        return Size(self.path)


@dataclass(frozen=True, slots=True, eq=False)
class Size(Compared[int]):
    """The size of a text, a set, a list or a map."""

    path: Path

    def compare(self, operator: str, count: int) -> Condition:
        return Condition(
            lambda marks: f"size({marks.path(self.path)}) {operator} {marks.value(whole(count))}"
        )

    def between(self, low: int, high: int) -> Condition:
        return Condition(
            lambda marks: (
                f"size({marks.path(self.path)}) BETWEEN {marks.value(whole(low))}"
                f" AND {marks.value(whole(high))}"
            )
        )


def whole(count: object) -> AttributeValue:
    if not isinstance(count, int) or isinstance(count, bool):
        raise ValueRefused(f"a size is a whole number, not {count!r}")
    return {"N": str(count)}


def attr(first: str, *rest: Step) -> Attr:
    """A field of the entity that the condition will be used with, or a path into it.

    `attr("addresses.home")` and `attr("addresses", name)`: pass an untrusted name as its own step.
    """
    return Attr((first, *rest) if rest else first)


def every(conditions: Iterable[Condition]) -> Condition:
    """The conjunction of the conditions; at least one is required."""
    return reduce(Condition.__and__, conditions)


def unchanged(entity: Entity, *names: str) -> Condition:
    """The condition that these fields, or all but the key, still have the values that were read."""
    layout = entity.layout
    others = (name for name in layout.names if name not in layout.keys[MAIN].fields)
    return every(still(layout, name, getattr(entity, name)) for name in names or others)


def still(layout: Layout, name: str, value: object) -> Condition:
    """The condition that a field has a value; None and an empty set mean that it is not stored."""
    is_stored = value is not None and (value or not layout.forms[name].is_set)
    return attr(name) == value if is_stored else attr(name).missing()


def item_missing() -> Condition:
    return Condition(
        lambda marks: f"attribute_not_exists({marks.name(marks.layout.table.key_names[0])})"
    )
