"""Copies: items derived from the items of another table, maintained by a reaction to its stream.

    QUEUE = copies(Order, QueuedOrder, queue_entry, order_key)
    SITE = System("site", (SITE_TABLE,), copies=(QUEUE,))

A write of the source does not write the copy: a reaction does, soon after. The declaration here
is what `verify` checks and `repair` restores, so that copies can be rebuilt from their sources:
a copy that is missing, one that differs, and one whose source is gone.

A late copy looks like a missing one. Repairing it does what the reaction is about to do, and the
repair is guarded: a copy that has changed since it was seen is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bigtime.model.errors import Conflict
from bigtime.model.invariants.audit import (
    OBSCURE,
    Audit,
    Found,
    Mend,
    Violation,
    changed_attributes,
    look_through,
    looked_up,
    place_of,
    readable,
)
from bigtime.model.operations import Delete, Guard, create
from bigtime.model.schema import Entity, Key, layout_in
from bigtime.wire import Item, ResourceNotFoundException, Steps

S = TypeVar("S", bound=Entity)
C = TypeVar("C", bound=Entity)


@dataclass(frozen=True, slots=True, eq=False)
class Copies(Generic[S, C]):
    """Every `source` item has the copy that `make` returns for it, and every copy has a source."""

    source: type[S]
    entity: type[C]
    make: Callable[[S], C]
    key: Callable[[C], Key[S]]

    def audits(self) -> Iterable[Audit]:
        return CopyAudit(self), SourceAudit(self)


def copies(
    source: type[S], entity: type[C], make: Callable[[S], C], key: Callable[[C], Key[S]]
) -> Copies[S, C]:
    """Declares copies: `make` returns a source's copy, `key` the key of a copy's source."""
    return Copies(source, entity, make, key)


# --- Verify and repair --------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class CopyWrong(Violation):
    """A copy that differs from what its source should produce."""

    found: Item | None
    """The copy as found; None if it is missing."""
    right: Entity | None
    """What it should be; None if its source is gone."""
    entity: type[Entity]

    @property
    def sentence(self) -> str:
        if self.found is None:
            return "is missing, and its source is there"
        return "is the copy of what is gone" if self.right is None else "differs from its source"

    def mend(self) -> Steps[None]:
        """Writes or deletes the copy, if it is still as found."""
        if self.found is None:
            assert self.right is not None
            yield from create(self.right, unless_exists=Conflict)
            return
        seen = {name: value for name, value in self.found.items() if name not in self.key}
        if self.right is None:
            guard = Guard(if_exists=Conflict, seen=seen)
            yield from Delete(self.entity.key_of(self.found), guard)
            return
        right = self.right.layout.to_item(self.right)
        changed = changed_attributes(self.found, right, self.key)
        yield from Mend(self.entity.layout, self.key, changed, seen)


class CopyAudit(Audit):
    """Every copy matches its source."""

    def __init__(self, copies: Copies[Any, Any]) -> None:
        self.copies = copies

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        copies = [each for each in found if type(each.entity) is self.copies.entity]
        sources = yield from looked_up([self.copies.key(copy.entity) for copy in copies])
        return [
            CopyWrong(*place_of(copy.entity.own_key()), copy.item, right, self.copies.entity)
            for copy, source in zip(copies, sources, strict=True)
            if source is not OBSCURE
            and copy.entity != (right := None if source is None else self.copies.make(source))
        ]


class SourceAudit(Audit):
    """Every source has its copy. The sources are read after all copies have been seen."""

    def __init__(self, copies: Copies[Any, Any]) -> None:
        self.copies = copies

    def end(self) -> Steps[list[Violation]]:
        layout = self.copies.source.layout
        layout_of = layout_in(layout.table)
        violations: list[Violation] = []

        def look(items: list[Item]) -> Steps[None]:
            ours = readable(layout, (item for item in items if layout_of(item) is layout))
            rights = [self.copies.make(source) for source in ours]
            copies = yield from looked_up([right.own_key() for right in rights])
            violations.extend(
                CopyWrong(*place_of(right.own_key()), None, right, self.copies.entity)
                for right, copy in zip(rights, copies, strict=True)
                if copy is None
            )

        # The system with the sources may not be set up: then there are none.
        with suppress(ResourceNotFoundException):
            yield from look_through(layout.table, look)
        return violations
