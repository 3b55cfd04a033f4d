"""Reactions: what a system does about the changes of a table, as its stream tells them.

    @reaction(BIG_TIME_DEALS)
    def tell_brand_watchers(change: Change[Any]) -> Steps[None]:
        if (deal := change.of(Deal)) and deal.kind == "insert":
            ...

A stream tells every change at least once. So a reaction must be able to happen again without a
trace: it writes under keys that follow from the change, and on condition that they are new.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bigtime.model.errors import DesignError
from bigtime.model.op import Steps
from bigtime.model.record import Change, decode
from bigtime.model.table import Table

React: TypeAlias = Callable[[Change[Any]], Steps[None]]


@dataclass(frozen=True, slots=True)
class Reaction:
    """Steps for each change of a table."""

    table: Table
    function: React

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def notes(self) -> str:
        return " ".join((inspect.getdoc(self.function) or "").split())

    def __call__(self, change: Change[Any]) -> Steps[None]:
        return self.function(change)

    def handle(self, record: Mapping[str, Any]) -> Steps[None]:
        """The steps for a stream's record, as a consumer takes them."""
        return self.function(decode(record, (self.table,)))


def reaction(table: Table) -> Callable[[React], Reaction]:
    """Makes a reaction to a table's changes of a generator."""

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
        return Reaction(table, function)

    return make
