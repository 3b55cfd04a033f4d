"""Trending places that are kept: asked for once, and again where a deal has moved."""

from __future__ import annotations

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.site.cache_tags import tags_shown
from bigtime.store import Store
from bigtime.systems.catalog import SYSTEM as CATALOG
from bigtime.web.pages.kept_places import Places, kept_places
from bigtime.web.pages.tagged_cache import TaggedCache
from tests.web.shopper.test_trending import place

DEAL = "0" * 27


def test_only_a_category_in_which_a_deal_has_moved_is_asked_again(engine: Engine) -> None:
    asked: list[str] = []
    store = Store(engine, hooks=[lambda one: asked.append(one.request.operation)])
    store.run(setup(CATALOG))
    kept: TaggedCache[Places] = TaggedCache(seconds=60)
    first_places = kept_places(kept)

    def queries() -> int:
        asked.clear()
        store.run(first_places(("HOME", "TOYS"), 4))
        return len(asked)

    assert (queries(), queries()) == (2, 0)
    kept.drop(tags_shown(place(DEAL, views=1)))
    assert (queries(), queries()) == (1, 0)
