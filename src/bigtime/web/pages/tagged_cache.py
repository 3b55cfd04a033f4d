"""What was read and is kept until it changes: pages by address, a visitor's slots by visitor.

1. A value is kept with tags: what it shows, such as `deal 2f...` or `latest`. To invalidate a tag
   is to forget its values.
2. A value that was read before a change and arrives after it would be old for ever. So a fill notes
   when it begins to read, and its value is not taken if one of its tags was invalidated since.
3. Where no stream is followed, as on AWS, values live for a moment only: `seconds`.
4. The oldest value makes room when there are too many.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Sequence
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

Make: TypeAlias = Callable[[], Awaitable[tuple[T, Collection[str]]]]
"""Reads and makes a value, and tells the tags of what it shows."""

MOST_TAGS_REMEMBERED = 100_000


class TaggedCache(Generic[T]):
    """Values by key. For one event loop."""

    def __init__(
        self,
        *,
        most: int = 20_000,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self.seconds = seconds
        self.clock = clock
        self.hits = 0
        self.misses = 0
        self.fills = 0
        self._values: dict[Hashable, tuple[T, float, Collection[str]]] = {}
        self._keys: dict[str, set[Hashable]] = {}
        self._moment = 0
        self._invalidated: dict[str, int] = {}
        self._all_invalidated = 0

    async def remember(self, key: Hashable, make: Make[T], *, seconds: float | None = None) -> T:
        """The value under a key, which is made where there is none.

        `seconds` is for what changes all the time: so long it lives, and needs no tag.
        """
        found = self.get(key)
        if found is not None:
            return found
        begun = self.begin()
        value, tags = await make()
        self.put(key, value, tags, begun=begun, seconds=seconds)
        return value

    async def remember_many(
        self,
        keys: Sequence[str],
        make: Callable[[list[str]], Awaitable[Iterable[tuple[str, T, Collection[str]]]]],
    ) -> dict[str, T]:
        """The values under keys, in their order; `make` makes those that are missing, if it can."""
        found = {key: self.get(key) for key in keys}
        missing = [key for key, value in found.items() if value is None]
        if missing:
            begun = self.begin()
            for key, value, tags in await make(missing):
                self.put(key, value, tags, begun=begun)
                found[key] = value
        return {key: value for key, value in found.items() if value is not None}

    def get(self, key: Hashable) -> T | None:
        found = self._values.get(key)
        if found is None:
            self.misses += 1
            return None
        value, until, _ = found
        if until and self.clock() >= until:
            self.forget(key)
            self.misses += 1
            return None
        self.hits += 1
        return value

    def begin(self) -> int:
        """The moment at which a fill begins to read."""
        return self._moment

    def put(
        self,
        key: Hashable,
        value: T,
        tags: Collection[str],
        *,
        begun: int,
        seconds: float | None = None,
    ) -> bool:
        """Keeps a value, unless what it shows has changed since its reading began."""
        self.fills += 1
        if begun < self._all_invalidated:
            return False
        for tag in tags:
            if self._invalidated.get(tag, 0) > begun:
                return False
        self.forget(key)
        while len(self._values) >= self.most:
            self.forget(next(iter(self._values)))
        lives = self.seconds if seconds is None else seconds
        until = self.clock() + lives if lives is not None else 0.0
        self._values[key] = value, until, tags
        for tag in tags:
            self._keys.setdefault(tag, set()).add(key)
        return True

    def invalidate(self, tags: Iterable[str]) -> None:
        """Forgets every value that shows one of these."""
        self._moment += 1
        for tag in tags:
            self._invalidated[tag] = self._moment
            for key in self._keys.pop(tag, ()):
                self.forget(key)
        if len(self._invalidated) > MOST_TAGS_REMEMBERED:
            self._invalidated.clear()
            self._all_invalidated = self._moment

    def clear(self) -> None:
        """Forgets everything, and takes nothing that is being read now."""
        self._moment += 1
        self._all_invalidated = self._moment
        self._values.clear()
        self._keys.clear()
        self._invalidated.clear()

    def forget(self, key: Hashable) -> None:
        found = self._values.pop(key, None)
        if found is None:
            return
        for tag in found[2]:
            keys = self._keys.get(tag)
            if keys is not None:
                keys.discard(key)
                if not keys:
                    del self._keys[tag]

    def __len__(self) -> int:
        return len(self._values)
