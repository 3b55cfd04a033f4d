"""Pages as bytes with slots for what is personal: a name, unread messages, form tokens, likes.

A page costs half a millisecond to render, and most of it is the same for everyone. So it is
rendered once, as segments of bytes, and cached. Where something is personal, the template says
`{{ slot("header") }}`, which leaves a mark; the marks become the slots between the segments, and
each response is one join of the segments and of the visitor's slots.

A mark begins with `<`, which templates escape in all text that they are given: so no text of a user
can be taken for one. It also holds a word that is drawn when the program starts, so that no
template has one by chance.

A slot has a name and perhaps words after it: `header`, `buy 2f...`, `interest brand APPLE`. What is
read from the store for a slot is cached as bytes until that changes; so are all slots of visitors
who are not signed in. A slot that has one answer for all its words, such as which deals are saved,
caches that (`is_common`): else each deal would be asked for by itself. What differs between
visitors who are not signed in is the number in the header, of the products in the cart that their
browser keeps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
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
    """A rendered response: one segment more than there are slots."""

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
    """How the slots of one name are rendered, from what (`ask`), and the tags of that.

    The store is asked only for visitors who are signed in. What `is_common` is the same for all
    words after the slot's name: it is asked once, and each slot is rendered from it.
    """

    render: Render
    ask: Ask | None = None
    tags: Callable[[Visitor], Collection[str]] = lambda visitor: ()
    is_common: bool = False


class SlotRenderer:
    """Fills pages, by the names of their slots."""

    def __init__(self, store: AsyncStore, slots: dict[str, Slot], cache: TaggedCache[Any]) -> None:
        self.store = store
        self.slots = slots
        self.cache = cache
        self.render_anonymous = lru_cache(MOST_ANONYMOUS)(self._render_anonymous)

    async def fill(self, page: Page, visitor: Visitor | None, in_cart: int = 0) -> bytes:
        """The bytes of a page for one visitor; `in_cart` are the products in a guest's cart."""
        if visitor is None:
            return page.join(
                self.render_anonymous(name, in_cart if name == HEADER else 0) for name in page.slots
            )
        return page.join([await self.render(name, visitor) for name in page.slots])

    def _render_anonymous(self, name: str, in_cart: int) -> bytes:
        kind, *words = name.split(" ")
        return self.slots[kind].render(None, tuple(words), (0, in_cart) if in_cart else None)

    async def render(self, name: str, visitor: Visitor) -> bytes:
        """A slot for a visitor who is signed in."""
        kind, *parts = name.split(" ")
        slot, words = self.slots[kind], tuple(parts)
        if slot.ask is None:
            return slot.render(visitor, words, None)
        ask = slot.ask

        async def make_fact() -> tuple[Any, Collection[str]]:
            return await self.store.run(ask(visitor, words)), slot.tags(visitor)

        async def make() -> tuple[bytes, Collection[str]]:
            fact, tags = await make_fact()
            return slot.render(visitor, words, fact), tags

        if slot.is_common:
            fact = await self.cache.remember((visitor.username, kind), make_fact)
            return slot.render(visitor, words, fact)
        # All of the visitor is in the key: a role may come or go.
        rendered: bytes = await self.cache.remember((visitor, name), make)
        return rendered
