"""Finding and mending buckets that hold items and are not listed."""

from __future__ import annotations

from dataclasses import dataclass

from bigtime.model.invariants.audit import Audit, Found, Violation, looked_up
from bigtime.model.operations import BucketEntry, BucketList, put_entries
from bigtime.model.schema import Key
from bigtime.wire import Steps


@dataclass(frozen=True, repr=False)
class BucketUnlisted(Violation):
    """A bucket holds items, and has no entry in its list; a walk passes over it."""

    entry: BucketEntry

    @property
    def sentence(self) -> str:
        return f"is missing, and the bucket {self.entry.bucket} of {self.entry.series} holds items"

    def mend(self) -> Steps[None]:
        yield from put_entries([self.entry])


class BucketAudit(Audit):
    """Every bucket that holds an item is listed."""

    def __init__(self, listed: BucketList) -> None:
        self.listed = listed
        self.checked: set[Key[BucketEntry]] = set()

    def see(self, found: list[Found]) -> Steps[list[Violation]]:
        entries = {
            entry.own_key(): entry
            for one in found
            if one.layout is self.listed.layout and self.listed.place(one.entity.__dict__)
            for entry in (self.listed.entry_of(one.entity.__dict__),)
        }
        unseen = [key for key in entries if key not in self.checked]
        self.checked.update(unseen)
        items = yield from looked_up(unseen)
        return [
            self.violation(entries[key])
            for key, item in zip(unseen, items, strict=True)
            if item is None
        ]

    def violation(self, entry: BucketEntry) -> Violation:
        layout = entry.layout
        return BucketUnlisted(layout.table.name, entry.own_key().item, layout.hidden, entry)
