"""What fills the gaps of a page for one visitor: the header with their name and unread messages,
forms with their token, what they like and watch.

A gap has a name and perhaps words after it: `header`, `buy 2f...`, `like brand APPLE`. A filler
says what has to be read for it, and makes bytes of what was read. What was read is kept until
something of this user changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from bigtime.site import Visitor, user_tag
from bigtime.store import AsyncStore
from bigtime.web.pages.page import Page
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.wire import Steps

Words: TypeAlias = tuple[str, ...]
Ask: TypeAlias = Callable[[Visitor, Words], Steps[Any]]
Show: TypeAlias = Callable[[Visitor | None, Words, Any], bytes]


@dataclass(frozen=True, slots=True)
class Filler:
    """How gaps of one name are filled: what is asked of the store, and what is shown of it.

    Nothing is asked for somebody who is not signed in.
    """

    shows: Show
    asks: Ask | None = None


class Fillings:
    """Fills pages, by the names of their gaps."""

    def __init__(
        self, store: AsyncStore, fillers: dict[str, Filler], kept: TaggedCache[Any]
    ) -> None:
        self.store = store
        self.fillers = fillers
        self.kept = kept
        self._nobody: dict[str, bytes] = {}

    async def fill(self, page: Page, visitor: Visitor | None) -> bytes:
        if visitor is None:
            return page.filled(self.for_nobody)
        facts = await self.facts(page.slots, visitor)
        return page.filled(lambda name: self.shown(name, visitor, facts.get(name)))

    def for_nobody(self, name: str) -> bytes:
        """The same for everybody who is not signed in, so it is kept."""
        found = self._nobody.get(name)
        if found is None:
            found = self.shown(name, None, None)
            if len(self._nobody) < MOST_KEPT:
                self._nobody[name] = found
        return found

    def shown(self, name: str, visitor: Visitor | None, fact: Any) -> bytes:
        filler, words = self.filler_of(name)
        return filler.shows(visitor, words, fact)

    async def facts(self, slots: Iterable[str], visitor: Visitor) -> dict[str, Any]:
        """What the gaps have to be told, by their names."""
        facts: dict[str, Any] = {}
        for name in slots:
            filler, words = self.filler_of(name)
            if filler.asks is None or name in facts:
                continue
            key = f"{visitor.username}\n{name}"  # no name has a newline in it
            known = self.kept.get(key)
            facts[name] = known[0] if known else await self.read(key, filler.asks, visitor, words)
        return facts

    async def read(self, key: str, asks: Ask, visitor: Visitor, words: Words) -> Any:
        begun = self.kept.begin()
        fact = await self.store.run(asks(visitor, words))
        self.kept.put(key, (fact,), [user_tag(visitor.username)], begun=begun)
        return fact

    def filler_of(self, name: str) -> tuple[Filler, Words]:
        kind, *words = name.split(" ")
        return self.fillers[kind], tuple(words)


MOST_KEPT = 5_000
