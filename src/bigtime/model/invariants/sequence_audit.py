"""Finding and mending sequences that are behind the numbers in use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bigtime.model.errors import Conflict
from bigtime.model.invariants.audit import OBSCURE, Audit, Found, Violation, looked_up, of_kind
from bigtime.model.invariants.invariant import referred_key
from bigtime.model.invariants.sequence import Sequence
from bigtime.model.operations import At, Set, update
from bigtime.model.schema import Key, attr
from bigtime.wire import Identity, Steps


@dataclass(frozen=True, repr=False)
class SequenceBehind(Violation):
    """A number is in use that a sequence has yet to give out."""

    sequence: Sequence[Any]
    owner: Key[Any]
    found: int
    highest: int

    @property
    def sentence(self) -> str:
        return f"{self.sequence.field} is {self.found}, and {self.highest} is in use"

    def mend(self) -> Steps[None]:
        field = self.sequence.field
        behind = attr(field).missing() | (attr(field) < self.highest)
        ahead = update(self.owner, At(field, Set(self.highest)), when=behind, otherwise=Conflict)
        yield from ahead.but(trusted=True)


class SequenceAudit(Audit):
    """No number is in use that is yet to come."""

    def __init__(self, sequence: Sequence[Any]) -> None:
        self.sequence = sequence
        self.highest: dict[Identity, tuple[Key[Any], int]] = {}

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        assert self.sequence.used is not None
        child, number, names = self.sequence.used
        for one in of_kind(found, child):
            key = referred_key(self.sequence.entity, names, one.__dict__)
            value = getattr(one, number)
            if key is not None and value is not None:
                place = key.identity
                _, before = self.highest.get(place, (key, value))
                self.highest[place] = key, max(before, value)
        return []
        yield

    def end(self) -> Steps[list[Violation]]:
        """The counters are read last, so that numbers given out meanwhile do no harm."""
        keys = [key for key, _ in self.highest.values()]
        counters = yield from looked_up(keys)
        return list(self.behind(counters))

    def behind(self, counters: list[Any]) -> Iterator[Violation]:
        sequence = self.sequence
        for (key, highest), counter in zip(self.highest.values(), counters, strict=True):
            if counter is OBSCURE:
                continue
            last = 0 if counter is None else getattr(counter, sequence.field)
            if last < highest:
                layout = sequence.entity.layout
                where = layout.table.name, key.item, layout.hidden
                yield SequenceBehind(*where, sequence, key, last, highest)
