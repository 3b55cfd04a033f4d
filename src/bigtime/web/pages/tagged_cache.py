"""What was read and is kept until it changes: pages by key, facts about a visitor.

1. A value is kept with tags: what it shows, such as `deal 2f...` or `latest`. A change drops the
   values of its tags.
2. A value that was read before a change and arrives after it would be old for ever. So whoever
   fills notes when it began to read, and a value is not taken if one of its tags was dropped
   since.
3. Where nobody tells of changes, as on AWS, values live for a moment only: `seconds`.
4. The oldest value makes room when there are too many.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_TAGS_REMEMBERED = 100_000


class TaggedCache(Generic[T]):
    """Values by key. For one event loop."""

    def __init__(
        self,
        *,
        most: int = 10_000,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self.seconds = seconds
        self.clock = clock
        self.hits = 0
        self.misses = 0
        self.fills = 0
        self._kept: dict[str, tuple[T, float, frozenset[str]]] = {}
        self._tagged: dict[str, set[str]] = {}
        self._moment = 0
        self._dropped: dict[str, int] = {}
        self._dropped_before = 0

    def get(self, key: str) -> T | None:
        found = self._kept.get(key)
        if found is None:
            self.misses += 1
            return None
        value, until, _ = found
        if until and self.clock() >= until:
            self._forget(key)
            self.misses += 1
            return None
        self.hits += 1
        return value

    def begin(self) -> int:
        """The moment at which a fill begins to read."""
        return self._moment

    def put(
        self,
        key: str,
        value: T,
        tags: Collection[str],
        *,
        begun: int,
        seconds: float | None = None,
    ) -> bool:
        """Keeps a value, unless what it shows has changed since its reading began.

        `seconds` is for what changes all the time: so long it lives, and no tag need tell of it.
        """
        self.fills += 1
        if begun < self._dropped_before or any(self._dropped.get(tag, 0) > begun for tag in tags):
            return False
        self._forget(key)
        while len(self._kept) >= self.most:
            self._forget(next(iter(self._kept)))
        lives = self.seconds if seconds is None else seconds
        until = self.clock() + lives if lives is not None else 0.0
        self._kept[key] = value, until, frozenset(tags)
        for tag in tags:
            self._tagged.setdefault(tag, set()).add(key)
        return True

    def drop(self, tags: Iterable[str]) -> None:
        """Forgets every value that shows one of these."""
        self._moment += 1
        for tag in tags:
            self._dropped[tag] = self._moment
            for key in self._tagged.pop(tag, ()):
                self._forget(key)
        if len(self._dropped) > MOST_TAGS_REMEMBERED:
            self._dropped.clear()
            self._dropped_before = self._moment

    def clear(self) -> None:
        """Forgets everything, and takes nothing that is being read now."""
        self._moment += 1
        self._dropped_before = self._moment
        self._kept.clear()
        self._tagged.clear()
        self._dropped.clear()

    def _forget(self, key: str) -> None:
        found = self._kept.pop(key, None)
        if found is None:
            return
        for tag in found[2]:
            keys = self._tagged.get(tag)
            if keys is not None:
                keys.discard(key)
                if not keys:
                    del self._tagged[tag]

    def __len__(self) -> int:
        return len(self._kept)
