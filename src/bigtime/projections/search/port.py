"""The port of search: queries, results, and the operations of an index.

It has two implementations: tantivy in a folder, and OpenSearch over HTTP. Each has a reader and a
writer. User input is never parsed as a query language: a reader splits it into words and builds
its query from those.
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
"""The limit on hits listed by relevance; to see others, one has to narrow the search."""


class SearchUnavailable(Unavailable):
    """Search is not available at the moment. Everything else works; please try again soon."""


class SearchOff(SearchUnavailable):
    """Search is turned off on this site."""


class NoIndex(Exception):
    """Why there is no index to write to; a new one has to be built."""


class NotBuilt(NoIndex):
    """No index was built yet, as at the first start."""


class IndexFault(Exception):
    """An index could not be read or written."""


class Range(NamedTuple):
    """An inclusive range; None means unbounded."""

    least: Decimal | None = None
    most: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for.

    `filters` are the wanted values of facets, `ranges` bounds on sortable fields. `sort` is such a
    field, with a leading `-` for descending order; without it hits are sorted by relevance.
    """

    text: str = ""
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    sort: str | None = None
    limit: int = 25
    after: Position | None = None

    def fingerprint(self, index: SearchIndex) -> str:
        """A hash of the query, to which a cursor is bound."""
        filters = sorted((name, sorted(values)) for name, values in self.filters.items())
        ranges = sorted((name, *map(str, bounds)) for name, bounds in self.ranges.items())
        facts = ["search", index.name, self.text, filters, ranges, self.sort]
        return sha256(orjson.dumps(facts)).hexdigest()[:32]

    def place(self, index: SearchIndex) -> Mapping[str, object] | None:
        """Where the page begins; raises CursorError for a cursor of another query."""
        if self.after is None:
            return None
        if self.after.query != self.fingerprint(index):
            raise CursorError("This cursor belongs to another query.")
        return self.after.place


@dataclass(frozen=True, slots=True)
class Hit:
    """An entity that was found.

    `key` is the field of its main key, as text; if there are several, a JSON list of them.
    `highlights` are HTML by field name: escaped text, with `<mark>` around the words found.
    """

    key: str
    highlights: Mapping[str, str]


class FacetCount(NamedTuple):
    """The number of hits with a value."""

    value: str
    hits: int


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of hits. `total` counts all, `facets` the hits by value, most frequent first.

    The counts of a facet ignore the filter on that facet. `corrections` are words of the query that
    occur in no text, with the word that was searched for instead.
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
    """The time up to which the stream was read at the last commit."""
    bytes: int = 0
    building: BuildProgress | None = None


class BuildProgress(NamedTuple):
    """The progress of a rebuild; `total` is the approximate number of items to scan."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an index has read the stream; part of each of its commits."""

    stream: str
    """The ARN of the stream: a recreated table has a different one."""
    built_at: datetime
    followed_at: datetime
    shards: Mapping[str, Checkpoint] = field(default_factory=dict)


def progress_fields(progress: Progress) -> dict[str, Any]:
    """Progress as JSON."""
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
    """Finds entities; safe for threads. Raises SearchUnavailable if there is no index."""

    index: SearchIndex

    def find(self, query: Query) -> SearchPage: ...

    def suggest(self, text: str, limit: int = 8) -> list[str]:
        """Completions of the text's last word."""

    def status(self) -> IndexStatus: ...


class Writer(Protocol):
    """Writes to one generation of an index; only one process may hold it."""

    @property
    def progress(self) -> Progress | None:
        """The progress in the last commit; None in a new index."""

    def write(self, changes: Mapping[str, Document | None], progress: Progress) -> None:
        """Puts documents by key, deletes the keys with None, and commits them with the progress."""

    def add(self, documents: Iterable[Document]) -> None:
        """Adds documents whose keys are not in the index yet; the next `write` commits them."""

    def is_replaced(self) -> bool:
        """Whether another generation is in use, or a reader found this one damaged."""

    def mark_damaged(self) -> None:
        """Has the index rebuilt."""

    def close(self) -> None: ...


class Backend(Protocol):
    """The place of an index, with its readers and writers."""

    index: SearchIndex

    def reader(self) -> Reader: ...

    def open_writer(self) -> Writer:
        """A writer for the index in use; raises NoIndex if it is missing or damaged."""

    def build(self) -> AbstractContextManager[Building]:
        """A new generation, which is deleted at the end unless it was published."""


class Building(Protocol):
    """A new generation that is filled while the previous one is searched."""

    @property
    def writer(self) -> Writer: ...

    def note(self, progress: BuildProgress) -> None:
        """Records the progress for `status`."""

    def publish(self) -> None:
        """Makes it the generation that readers and the worker use."""


def most_first(counts: Iterable[tuple[str, int]]) -> list[FacetCount]:
    return [FacetCount(*each) for each in sorted(counts, key=lambda each: (-each[1], each[0]))]
