"""Reactions: what a system does about the changes of a table, as its stream tells them.

    @reaction(BIG_TIME_DEALS, of=[Deal])
    def tell_brand_watchers(change: Change[Any]) -> Steps[None]:
        if (deal := change.of(Deal)) and deal.kind == "insert":
            ...

A stream tells every change at least once. So a reaction must be able to happen again without a
trace: it writes under keys that follow from the change, and on condition that they are new.

A reaction that writes to its own table is told of that too. With `of`, changes whose type says that
they are of other entities are passed over before they are read.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bigtime.model.errors import DesignError
from bigtime.model.record import Change, decode
from bigtime.model.schema import Entity, Table
from bigtime.wire import PatternName, Steps, name_steps

React: TypeAlias = Callable[[Change[Any]], Steps[None]]


@dataclass(frozen=True, slots=True, eq=False)
class Reaction:
    """Steps for each change of a table, or of those of its entities that are named."""

    table: Table
    function: React
    kinds: frozenset[str] = frozenset()
    name: PatternName = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", PatternName.of(self.function))

    @property
    def notes(self) -> str:
        return " ".join((inspect.getdoc(self.function) or "").split())

    def __call__(self, change: Change[Any]) -> Steps[None]:
        return name_steps(self.function(change), self.name)

    def handle(self, record: Mapping[str, Any]) -> Steps[None]:
        """The steps for a stream's record, as a consumer takes them."""
        if self.may_concern(record):
            yield from self(decode(record, (self.table,)))

    def may_concern(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is of the entities named, or does not say of which it is."""
        data = record["dynamodb"]
        image = data.get("NewImage") or data.get("OldImage") or {}
        named = image.get(self.table.type_attribute)
        return not self.kinds or named is None or named.get("S") in self.kinds


def reaction(table: Table, *, of: Iterable[type[Entity]] = ()) -> Callable[[React], Reaction]:
    """Makes a reaction to a table's changes of a generator; `of` are the entities it is about."""

    def make(function: React) -> Reaction:
        if not inspect.isgeneratorfunction(function):
            raise DesignError(
                f"{function.__name__} is not a generator: a reaction yields its operations with"
                " `yield from`"
            )
        if table.stream != "NEW_AND_OLD_IMAGES":
            raise DesignError(
                f"{function.__name__} reacts to table {table.name}, whose stream does not tell"
                ' what an item was and is; declare it with stream="NEW_AND_OLD_IMAGES"'
            )
        return Reaction(table, function, frozenset(one.__name__ for one in of))

    return make
