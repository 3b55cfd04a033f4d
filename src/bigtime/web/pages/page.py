"""Pages as bytes, with slots for personal content: a name, unread messages, form tokens, likes.

A page takes half a millisecond to render, and most of it is the same for everyone. So it is
rendered once, as segments of bytes, and cached. Where something is personal, the template says
`{{ slot("header") }}`, which inserts a mark; the marks become the slots between the segments, and
each response is one join of the segments and the visitor's slots.

A mark begins with `<`, which templates escape in all text that they are given: so no user's text
can contain one. It also contains a random word, generated when the program starts, so that no
template contains one by chance.

A slot has a name and perhaps words after it: `header`, `buy 2f...`, `interest brand APPLE`. A slot
that is read from the store is cached as bytes until its data changes; so are all slots of visitors
who are not signed in. A slot that needs one result for all its words, such as which deals are
saved, caches that result (`is_common`): otherwise each deal would be a request of its own. For
visitors who are not signed in only the number in the header differs, of the products in their
browser's cart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from secrets import token_hex
from typing import Any, TypeAlias

from markupsafe import Markup

from bigtime.site import Visitor
from bigtime.store import AsyncStore
from bigtime.web.pages.page_cache import TaggedCache
from bigtime.wire import Steps

OPENS, CLOSES = f"<\x02{token_hex(8)}:", "\x03"
MARK = re.compile(f"{OPENS}([^{CLOSES}]*){CLOSES}")

HTML = b"text/html; charset=utf-8"
JSON = b"application/json"


def slot(name: str) -> Markup:
    """The mark of a slot, for a template."""
    return Markup(f"{OPENS}{name}{CLOSES}")


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A rendered response, with one more segment than slots."""

    segments: tuple[bytes, ...]
    slots: tuple[str, ...] = ()
    status: int = 200
    content_type: bytes = HTML

    @classmethod
    def from_text(cls, text: str, *, status: int = 200) -> Page:
        parts = MARK.split(text)
        segments = tuple(part.encode() for part in parts[::2])
        return cls(segments, tuple(parts[1::2]), status)

    @classmethod
    def json(cls, body: bytes, *, status: int = 200) -> Page:
        return cls((body,), (), status, JSON)

    def join(self, slots: Iterable[bytes]) -> bytes:
        """The bytes of the response, with these in its slots."""
        parts = [self.segments[0]]
        for rendered, segment in zip(slots, self.segments[1:], strict=True):
            parts += (rendered, segment)
        return b"".join(parts)


Words: TypeAlias = tuple[str, ...]
Ask: TypeAlias = Callable[[Visitor, Words], Steps[Any]]
Render: TypeAlias = Callable[[Visitor | None, Words, Any], bytes]
MOST_ANONYMOUS = 5_000
HEADER = "header"
"""The slot that shows how many products are in the cart."""


@dataclass(frozen=True, slots=True)
class Slot:
    """How the slots of one name are rendered, from which data (`ask`), and the cache tags of that.

    The store is only read for visitors who are signed in. If the data `is_common`, it is the same
    for all words after the slot's name: it is read once, and each slot is rendered from it.
    """

    render: Render
    ask: Ask | None = None
    tags: Callable[[Visitor], Collection[str]] = lambda visitor: ()
    is_common: bool = False


class SlotRenderer:
    """Fills the slots of pages."""

    def __init__(self, store: AsyncStore, slots: dict[str, Slot], cache: TaggedCache[Any]) -> None:
        self.store = store
        self.slots = slots
        self.cache = cache
        self.render_anonymous = lru_cache(MOST_ANONYMOUS)(self._render_anonymous)
        self.parse = lru_cache(MOST_ANONYMOUS)(self._parse)

    async def fill(self, page: Page, visitor: Visitor | None, in_cart: int = 0) -> bytes:
        """The bytes of a page for one visitor; `in_cart` are the products in a guest's cart."""
        if visitor is None:
            return page.join(
                self.render_anonymous(name, in_cart if name == HEADER else 0) for name in page.slots
            )
        return page.join([await self.render(name, visitor) for name in page.slots])

    def _parse(self, name: str) -> tuple[Slot, str, Words]:
        kind, *words = name.split(" ")
        return self.slots[kind], kind, tuple(words)

    def _render_anonymous(self, name: str, in_cart: int) -> bytes:
        slot, _, words = self.parse(name)
        return slot.render(None, words, (0, in_cart) if in_cart else None)

    async def render(self, name: str, visitor: Visitor) -> bytes:
        """A slot for a visitor who is signed in."""
        slot, kind, words = self.parse(name)
        if slot.ask is None:
            return slot.render(visitor, words, None)
        # Otherwise the key is the whole visitor, as their roles may change.
        key = (visitor.username, kind) if slot.is_common else (visitor, name)
        found = await self.cache.remember(key, partial(self.make, slot, visitor, words))
        return slot.render(visitor, words, found) if slot.is_common else found

    async def make(self, slot: Slot, visitor: Visitor, words: Words) -> tuple[Any, Collection[str]]:
        """The cached value of a slot, and its tags: data of the store, or bytes made of it."""
        assert slot.ask is not None
        fact = await self.store.run(slot.ask(visitor, words))
        cached = fact if slot.is_common else slot.render(visitor, words, fact)
        return cached, slot.tags(visitor)
