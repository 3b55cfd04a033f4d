"""The reader of a tantivy index."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import tantivy

from bigtime.model import SearchIndex
from bigtime.projections.search import port
from bigtime.projections.search.folder import IndexFolder, folder_bytes, mark_damaged
from bigtime.projections.search.port import IndexFault, IndexStatus, Progress, SearchUnavailable
from bigtime.projections.search.tantivy_files import index_faults, open_index, read_progress
from bigtime.projections.search.tantivy_query import Search, completions

T = TypeVar("T")
Stat = tuple[int, int, int]


class TantivyReader:
    """Searches the generation in use, and follows the worker's commits."""

    def __init__(self, folder: IndexFolder, index: SearchIndex) -> None:
        self.folder = folder
        self.index = index
        self._lock = threading.Lock()
        self._seen: tuple[Stat, Stat] | None = None
        self._generation = folder.path
        self._opened: tantivy.Index | None = None

    def find(self, query: port.Query) -> port.SearchPage:
        return self._ask(lambda opened: Search(self.index, opened, query).page())

    def suggest(self, text: str, limit: int = 8) -> list[str]:
        return self._ask(lambda opened: completions(opened.searcher(), text, limit))

    def status(self) -> IndexStatus:
        building = self.folder.progress()
        try:
            documents, progress = self._ask(counts_of)
        except SearchUnavailable:
            return IndexStatus("building" if building else "missing", building=building)
        return IndexStatus(
            "ready",
            documents,
            progress.built_at if progress else None,
            progress.followed_at if progress else None,
            folder_bytes(self._generation),
            building,
        )

    def _ask(self, question: Callable[[tantivy.Index], T]) -> T:
        """Asks the index as it is now. One that cannot be read is marked, for the worker."""
        try:
            with index_faults():
                return question(self._current())
        except IndexFault as error:
            mark_damaged(self._generation)
            raise SearchUnavailable() from error

    def _current(self) -> tantivy.Index:
        with self._lock:
            generation = self._generation
            try:
                pointer = stat_of(self.folder.pointer)
                if self._seen is None or pointer != self._seen[0]:
                    generation = self.folder.current() or generation
                    self._opened = None
                meta = stat_of(generation / "meta.json")
            except FileNotFoundError:
                raise SearchUnavailable() from None
            self._generation = generation
            if self._opened is None:
                self._opened = open_index(generation)
            elif self._seen is None or meta != self._seen[1]:
                self._opened.reload()
            self._seen = pointer, meta
            return self._opened


def stat_of(path: Path) -> Stat:
    found = path.stat()
    return found.st_mtime_ns, found.st_ino, found.st_size


def counts_of(opened: tantivy.Index) -> tuple[int, Progress | None]:
    searcher = opened.searcher()
    progress = read_progress(searcher, opened.schema)
    return searcher.num_docs - (progress is not None), progress
