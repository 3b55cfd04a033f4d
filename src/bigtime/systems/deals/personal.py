"""What belongs to a user: the user, their likes and watches, their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bigtime import model as bt
from bigtime.systems.deals import brands, design, interests

BRANDS_AT_ONCE: Final = 500


def find_in_brands(place: int) -> bt.Find:
    """Finds likes (0) or watches (1) of brands: no index lists them, so all brands are asked."""

    def find(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[bt.Entity]]:
        names = yield from brands.fetch_all_brands()
        found: list[bt.Entity] = []
        for start in range(0, len(names), BRANDS_AT_ONCE):
            pairs = interests.brand_keys(names[start : start + BRANDS_AT_ONCE], person.username)
            found += yield from items_at([pair[place] for pair in pairs])
        return bt.Page(found)

    return find


def find_in_categories(place: int) -> bt.Find:
    """Finds likes (0) or watches (1) of the eight categories."""

    def find(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[bt.Entity]]:
        pairs = interests.category_keys(brands.CATEGORIES, person.username)
        return bt.Page((yield from items_at([pair[place] for pair in pairs])))

    return find


def items_at(keys: Sequence[bt.Key[bt.Entity]]) -> bt.Steps[list[bt.Entity]]:
    found = yield from bt.get_many(keys, consistent=True)
    return [item for item in found if item is not None]


PERSONAL: Final = (
    bt.personal(design.User, "username", is_last=True),
    bt.personal(design.BrandLike, "username", find=find_in_brands(0)),
    bt.personal(design.BrandWatch, "username", find=find_in_brands(1)),
    bt.personal(design.CategoryLike, "username", find=find_in_categories(0)),
    bt.personal(design.CategoryWatch, "username", find=find_in_categories(1)),
    bt.personal(design.Message, "username"),
    bt.personal(design.SavedDeals, "username"),
)
