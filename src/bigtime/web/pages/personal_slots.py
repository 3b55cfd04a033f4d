"""What is one visitor's own on a page that everybody reads: the header with their name and unread
messages, forms with their token, what they like and watch.

A slot has a name and perhaps words after it: `header`, `buy 2f...`, `interest brand APPLE`. Where
something has to be read for it, it is cached as bytes until that changes; and so are the slots of
everybody who is not signed in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from bigtime.site import Visitor
from bigtime.store import AsyncStore
from bigtime.web.pages.page import Page
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.wire import Steps

Words: TypeAlias = tuple[str, ...]
Ask: TypeAlias = Callable[[Visitor, Words], Steps[Any]]
Render: TypeAlias = Callable[[Visitor | None, Words, Any], bytes]

MOST_ANONYMOUS = 5_000


@dataclass(frozen=True, slots=True)
class Slot:
    """How slots of one name are rendered, what is asked of the store for that, and its tags.

    Nothing is asked for somebody who is not signed in.
    """

    render: Render
    ask: Ask | None = None
    tags: Callable[[Visitor], Collection[str]] = lambda visitor: ()


class SlotRenderer:
    """Fills pages, by the names of their slots."""

    def __init__(self, store: AsyncStore, slots: dict[str, Slot], cache: TaggedCache[Any]) -> None:
        self.store = store
        self.slots = slots
        self.cache = cache
        self.render_anonymous = lru_cache(MOST_ANONYMOUS)(self._render_anonymous)

    async def fill(self, page: Page, visitor: Visitor | None) -> bytes:
        """The bytes of a page for one visitor."""
        if visitor is None:
            return page.join(map(self.render_anonymous, page.slots))
        return page.join([await self.render(name, visitor) for name in page.slots])

    def _render_anonymous(self, name: str) -> bytes:
        kind, *words = name.split(" ")
        return self.slots[kind].render(None, tuple(words), None)

    async def render(self, name: str, visitor: Visitor) -> bytes:
        """A slot for somebody who is signed in."""
        kind, *parts = name.split(" ")
        slot, words = self.slots[kind], tuple(parts)
        if slot.ask is None:
            return slot.render(visitor, words, None)
        ask = slot.ask

        async def make() -> tuple[bytes, Collection[str]]:
            fact = await self.store.run(ask(visitor, words))
            return slot.render(visitor, words, fact), slot.tags(visitor)

        # The visitor is in the key with all that is known of them: a role may come or go.
        rendered: bytes = await self.cache.remember((visitor, name), make)
        return rendered
