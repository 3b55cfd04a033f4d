"""The first places among the trending deals of each category, kept until one of them moves.

Views are written every few seconds, and clicks as they come, so most categories are as they were
when the next reader comes; one in which a deal has moved is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from bigtime.model import together
from bigtime.site import trending_tag
from bigtime.systems import catalog
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.wire import Steps

Places: TypeAlias = Sequence[catalog.TrendingDeal]
FirstPlaces: TypeAlias = Callable[[Sequence[str], int], Steps[dict[str, Places]]]
"""Gives so many places of each of those categories."""


def kept_places(places: TaggedCache[Places]) -> FirstPlaces:
    """Asks for those that are not kept, and keeps them."""

    def fetch(categories: Sequence[str], limit: int) -> Steps[dict[str, Places]]:
        begun = places.begin()
        keys = {one: f"{trending_tag(one)} {limit}" for one in categories}
        found = {one: places.get(key) for one, key in keys.items()}
        missing = [one for one, kept in found.items() if kept is None]
        asked = yield from together(
            *(catalog.get_trending_by_category(one, limit=limit) for one in missing)
        )
        for one, page in zip(missing, asked, strict=True):
            found[one] = page.items
            places.put(keys[one], page.items, (trending_tag(one),), begun=begun)
        return {one: kept or () for one, kept in found.items()}

    return fetch
