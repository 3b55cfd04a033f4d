"""The port of search: queries, results, and the operations of an index.

Two kinds of index stand behind it: tantivy in a folder, and OpenSearch over HTTP. Each has a reader
and a writer. Words of a user are never parsed as a query language: a reader splits them into words
and builds its query from those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final, NamedTuple, Protocol

import orjson

from bigtime.model import CursorError, Position, SearchIndex, Unavailable
from bigtime.projections.search.documents import Document
from bigtime.store import Checkpoint

MOST_OFFSET: Final = 10_000
"""By relevance, hits are listed up to here; a reader who wants more narrows the search."""


class SearchUnavailable(Unavailable):
    """Search is not available at the moment. Everything else works; please try again soon."""


class SearchOff(SearchUnavailable):
    """Search is turned off on this site."""


class NoIndex(Exception):
    """There is no index that can be written to, and why: a new one has to be built."""


class NotBuilt(NoIndex):
    """None was built yet, as at the first start."""


class IndexFault(Exception):
    """An index could not be read or written."""


class Range(NamedTuple):
    """From and to, both included; None is without a bound."""

    least: Decimal | None = None
    most: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for.

    `filters` are the wanted values of facets, `ranges` bounds of fields to sort by. `sort` is such
    a field, with `-` before it for the highest first; without one the best hits are first.
    """

    text: str = ""
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sort: str | None = None
    limit: int = 25
    after: Position | None = None

    def fingerprint(self, index: SearchIndex) -> str:
        """What a cursor is bound to."""
        filters = sorted((name, sorted(values)) for name, values in self.filters.items())
        ranges = sorted((name, *map(str, bounds)) for name, bounds in self.ranges.items())
        facts = ["search", index.name, self.text, filters, ranges, self.sort]
        return sha256(orjson.dumps(facts)).hexdigest()[:32]

    def place(self, index: SearchIndex) -> Mapping[str, object] | None:
        """Where the page begins; raises CursorError for the position of another query."""
        if self.after is None:
            return None
        if self.after.query != self.fingerprint(index):
            raise CursorError("This cursor belongs to another query.")
        return self.after.place


@dataclass(frozen=True, slots=True)
class Hit:
    """An entity that was found.

    `key` is the field of its main key, as text; if there are several, a JSON list of them. The
    `highlights` are HTML by the name of the field: escaped text, with `<mark>` around words found.
    """

    key: str
    highlights: Mapping[str, str]


class FacetCount(NamedTuple):
    """How many hits have a value."""

    value: str
    hits: int


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of hits. `total` counts all, `facets` the hits by value, most first.

    The counts of a facet are as if there were no filter by it. `corrections` are words of the query
    that no text has, with the word that was searched for instead.
    """

    hits: list[Hit]
    total: int
    facets: Mapping[str, list[FacetCount]]
    corrections: Mapping[str, str]
    position: Position | None


class IndexStatus(NamedTuple):
    """The state of an index: `ready`, `building` (also while an older one is used) or `missing`."""

    state: str
    documents: int = 0
    built_at: datetime | None = None
    followed_at: datetime | None = None
    """Up to when the stream was read, at the last commit."""
    bytes: int = 0
    building: BuildProgress | None = None


class BuildProgress(NamedTuple):
    """How far a rebuild is; `total` is about how many items will be looked at."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index has followed the stream; part of each of its commits."""

    stream: str
    """The ARN of the stream: a table that was made anew has another."""
    built_at: datetime
    followed_at: datetime
    shards: Mapping[str, Checkpoint] = field(default_factory=dict)


def progress_fields(progress: Progress) -> dict[str, Any]:
    """Progress as JSON has it."""
    return {
        "stream": progress.stream,
        "built_at": progress.built_at.isoformat(),
        "followed_at": progress.followed_at.isoformat(),
        "shards": progress.shards,
    }


def progress_from(fields: Mapping[str, Any]) -> Progress:
    return Progress(
        fields["stream"],
        datetime.fromisoformat(fields["built_at"]),
        datetime.fromisoformat(fields["followed_at"]),
        {shard: Checkpoint(*place) for shard, place in fields["shards"].items()},
    )


class Reader(Protocol):
    """Finds entities; safe for threads. Raises SearchUnavailable where there is no index."""

    index: SearchIndex

    def find(self, query: Query) -> SearchPage: ...

    def suggest(self, text: str, limit: int = 8) -> list[str]:
        """What the text may become when it is typed on: its last word, completed."""

    def status(self) -> IndexStatus: ...


class Writer(Protocol):
    """Writes to one generation of an index; only one process has it."""

    @property
    def progress(self) -> Progress | None:
        """What the last commit says; None in a new index."""

    def write(self, changes: Mapping[str, Document | None], progress: Progress) -> None:
        """Puts documents by their keys, deletes those that are None, and commits with progress."""

    def add(self, documents: Iterable[Document]) -> None:
        """Puts documents whose keys the index does not have yet; the next `write` commits them."""

    def is_replaced(self) -> bool:
        """Whether another generation is in use, or a reader found this one damaged."""

    def mark_damaged(self) -> None:
        """Has it built anew."""

    def close(self) -> None: ...


class Backend(Protocol):
    """Where an index is."""

    index: SearchIndex

    def reader(self) -> Reader: ...

    def open_writer(self) -> Writer:
        """The writer of the index in use; raises NoIndex if it is missing or damaged."""

    def build(self) -> AbstractContextManager[Building]:
        """A new generation, which is dropped at the end unless it was published."""


class Building(Protocol):
    """A new generation that is filled while the one before it is searched."""

    @property
    def writer(self) -> Writer: ...

    def note(self, progress: BuildProgress) -> None:
        """Shows how far it is to `status`."""

    def publish(self) -> None:
        """Readers and the worker take it from now on."""


def most_first(counts: Iterable[tuple[str, int]]) -> list[FacetCount]:
    return [FacetCount(*each) for each in sorted(counts, key=lambda each: (-each[1], each[0]))]
