"""Sequences: numbers that count up, each given out once.

    ISSUES = sequence(Project, "last_issue", missing=UnknownProject)

    number = yield from ISSUES.next(project)
    yield from create(Issue(project=project, number=number, ...))

The number comes from a field of an item, which is incremented and read in one request, so no two
callers get the same. A number that is not used leaves a gap. In a key it is padded,
`ISSUE#{number:08}`, to sort as a number; where the id itself is text, `ISSUES.next_id(project)`
pads it.

If the items that use the numbers are declared, `verify` finds a sequence that is behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bigtime.model.errors import Conflict, DesignError, ValueRefused
from bigtime.model.invariants.audit import (
    OBSCURE,
    Audit,
    Found,
    Violation,
    looked_up,
    of_kind,
    place_of,
)
from bigtime.model.invariants.invariant import Reserved, declare, parent_fields, referred_key
from bigtime.model.operations import Add, At, ErrorLike, Fields, Set, Update, Write, update
from bigtime.model.schema import Entity, Key, attr
from bigtime.wire import Identity, Steps

E = TypeVar("E", bound=Entity)


class Sequence(Reserved, Generic[E]):
    """Numbers counted up in a field of an item."""

    def __init__(self, entity: type[E], field: str, width: int, missing: ErrorLike | None) -> None:
        super().__init__(entity, frozenset({field}), "a sequence")
        self.field = field
        self.width = width
        self.missing = missing
        self.used: tuple[type[Entity], str, Mapping[str, str]] | None = None

    def attendants(self, before: Fields | None, after: Fields | None) -> Iterable[Write[Any]]:
        """No writes for a new item: it may have any number. Refuses other writes of the field."""
        return () if before is None else super().attendants(before, after)

    def next(self, *key: Any) -> Steps[int]:
        """The next number for the item with this key."""
        numbers = yield from self.take(1, *key)
        return numbers[0]

    def next_id(self, *key: Any) -> Steps[str]:
        """The next number as padded text, which sorts as the number does."""
        number = yield from self.next(*key)
        return self.pad(number)

    def take(self, count: int, *key: Any) -> Steps[range]:
        """The next `count` numbers at once."""
        if count < 1:
            raise ValueRefused(f"a sequence gives 1 number or more, not {count}")
        counter: E = yield from self.addition(self.entity.key(*key), count)
        last: int = getattr(counter, self.field)
        return range(last - count + 1, last + 1)

    def addition(self, key: Key[Any], count: int) -> Update[Any]:
        change = At(self.field, Add(count))
        if self.missing is None:
            return update(key, change, upsert=True).replace(trusted=True)
        return update(key, change, if_exists=self.missing).replace(trusted=True)

    def pad(self, number: int) -> str:
        text = str(number).zfill(self.width)
        if number < 0 or len(text) > self.width:
            raise ValueRefused(f"{number} does not fit the {self.width} digits of {self}")
        return text

    def __str__(self) -> str:
        return f"the sequence {self.entity.__name__}.{self.field}"

    def audits(self) -> Iterable[Audit]:
        return (SequenceAudit(self),) if self.used else ()


def sequence(
    entity: type[E],
    field: str,
    *,
    width: int = 8,
    missing: ErrorLike | None = None,
    numbers: tuple[type[Entity], str] | None = None,
    by: Mapping[str, str] | None = None,
) -> Sequence[E]:
    """Declares that a field of an item holds the last number given out.

    `missing` is raised if the item does not exist; without it, one is created. `numbers` are the
    entity and field that use the numbers, `by` its fields that identify the sequence's item, where
    their names differ from those in the key.
    """
    layout = entity.layout
    layout.check_field(field)
    if layout.forms[field].tag != "N":
        raise DesignError(f"{entity.__name__}.{field} counts up; declare it as `{field}: int = 0`")
    made = Sequence(entity, field, width, missing)
    if numbers is not None:
        child, number = numbers
        child.layout.check_field(number)
        made.used = child, number, parent_fields(child, entity, by)
    declare(made)
    return made


# --- Verify and repair --------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class SequenceBehind(Violation):
    """A number is in use that the sequence has not given out yet."""

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
        yield from ahead.replace(trusted=True)


class SequenceAudit(Audit):
    """No number is in use that the sequence has not given out yet."""

    def __init__(self, sequence: Sequence[Any]) -> None:
        self.sequence = sequence
        self.highest: dict[Identity, tuple[Key[Any], int]] = {}

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        assert self.sequence.used is not None
        child, number, names = self.sequence.used
        for each in of_kind(found, child):
            key = referred_key(self.sequence.entity, names, each.__dict__)
            value = getattr(each, number)
            if key is not None and value is not None:
                place = key.identity
                _, before = self.highest.get(place, (key, value))
                self.highest[place] = key, max(before, value)
        return []
        yield

    def end(self) -> Steps[list[Violation]]:
        """Reads the counters last, so that numbers given out during the audit do no harm."""
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
                yield SequenceBehind(*place_of(key), sequence, key, last, highest)
