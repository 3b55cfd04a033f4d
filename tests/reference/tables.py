"""A table of the model: its items by key, and what each of its indexes shows of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.reference.designs import Design, Index
from tests.reference.values import Item, Key


@dataclass
class Table:
    design: Design
    items: dict[Key, Item] = field(default_factory=dict)

    def key_of(self, item: Item) -> Key:
        return tuple(item[name] for name in self.design.keys)

    def view(self, index: Index | None) -> list[Item]:
        """What an index holds: the items that have all of its keys, as it projects them."""
        if index is None:
            return list(self.items.values())
        present = (item for item in self.items.values() if all(k in item for k in index.keys))
        return [self.project(item, index) for item in present]

    def project(self, item: Item, index: Index) -> Item:
        if index.projection == "ALL":
            return item
        kept = {*self.design.keys, *index.keys, *index.included}
        return {name: value for name, value in item.items() if name in kept}
