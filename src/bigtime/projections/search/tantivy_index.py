"""A tantivy index in a folder: the worker writes it, any number of processes read it.

What is known about tantivy 0.27, and why it is used like this:

1. A commit has no payload, so the stream's checkpoint is a separate document (`CHECKPOINT`),
   replaced in the same commit as the other documents. After a crash, uncommitted changes are
   repeated, and none is skipped.
2. A killed commit leaves files whose names the next commit needs again; it fails, and would fail
   after each restart. `garbage_collect_files` right after opening the writer removes them.
3. A long-lived writer takes ever more memory. After 1,000 commits it is reopened.
4. A deletion is a query that is kept in memory until every segment and every merge has run it. A
   scan has each key once, so a rebuild deletes only what has changed in the meantime. glibc keeps
   the memory that a commit and its merges free; it is returned to the system every 10,000
   documents. Only a merge's own memory still grows with the index: some 30 bytes per document.
5. `parse_query` on user input crashes the process on ten thousand parentheses, and has a syntax
   for fields. So queries are built from words.
6. A reader checks the stat of `meta.json` (3 us), and reloads when it has changed.
7. All errors of damaged files are a ValueError, or, where Rust panics, a PanicException, which is
   no Exception.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tantivy

from bigtime.free_memory import give_back_free_memory
from bigtime.model import SearchIndex
from bigtime.projections.search import port, tantivy_files
from bigtime.projections.search.documents import Document
from bigtime.projections.search.folder import DAMAGED, IndexFolder, mark_damaged
from bigtime.projections.search.tantivy_files import CHECKPOINT, KEY, STATE, index_faults
from bigtime.projections.search.tantivy_reader import TantivyReader

HEAP_BYTES: Final = 15_000_000
COMMITS_TO_A_WRITER: Final = 1_000
TIDY_DOCUMENTS: Final = 10_000


class TantivyWriter:
    """The writer of one generation; tantivy's lock prevents a second one."""

    def __init__(self, folder: IndexFolder, generation: Path) -> None:
        self.folder = folder
        self.generation = generation
        self.commits = 0
        self._since_tidy = 0
        self._open()

    def _open(self) -> None:
        with index_faults():
            self._index = tantivy_files.open_index(self.generation)
            self._writer: tantivy.IndexWriter | None = self._index.writer(HEAP_BYTES, 1)
            self._writer.garbage_collect_files()
            for left in self.generation.glob(".tmp*"):
                left.unlink(missing_ok=True)
            searcher = self._index.searcher()
            searcher.search(tantivy.Query.all_query(), 1)
            self._progress = tantivy_files.read_progress(searcher, self._index.schema)

    @property
    def progress(self) -> port.Progress | None:
        return self._progress

    def write(self, changes: Mapping[str, Document | None], progress: port.Progress) -> None:
        assert self._writer is not None
        with index_faults():
            for key, document in changes.items():
                self._writer.delete_documents_by_term(KEY, key)
                if document is not None:
                    self._add(document)
            self._writer.delete_documents_by_term(KEY, CHECKPOINT)
            state = {KEY: CHECKPOINT, STATE: json.dumps(port.progress_fields(progress))}
            self._writer.add_document(tantivy.Document(**state))
            self._writer.commit()
        self._progress = progress
        self.commits += 1
        if self.commits % COMMITS_TO_A_WRITER == 0:
            self.close()
            self._open()
        self._since_tidy += len(changes)
        if self._since_tidy >= TIDY_DOCUMENTS:
            give_back_free_memory()
            self._since_tidy = 0

    def add(self, documents: Iterable[Document]) -> None:
        with index_faults():
            for document in documents:
                self._add(document)
                self._since_tidy += 1

    def _add(self, document: Document) -> None:
        assert self._writer is not None
        self._writer.add_document(tantivy.Document(**tantivy_files.fields_of(document)))

    def is_replaced(self) -> bool:
        return self.folder.current() != self.generation or (self.generation / DAMAGED).exists()

    def mark_damaged(self) -> None:
        mark_damaged(self.generation)

    def close(self) -> None:
        """Waits for merges, and releases the lock."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with index_faults():
                writer.wait_merging_threads()


@dataclass(frozen=True, slots=True)
class TantivyBuilding:
    """A generation that is being built."""

    folder: IndexFolder
    generation: Path
    writer: TantivyWriter

    def note(self, progress: port.BuildProgress) -> None:
        self.folder.note(progress)

    def publish(self) -> None:
        self.writer.close()
        self.folder.publish(self.generation)


class TantivyBackend:
    """An index in a local folder."""

    def __init__(self, root: Path, index: SearchIndex) -> None:
        self.index = index
        self.folder = IndexFolder(root, index)

    def reader(self) -> TantivyReader:
        return TantivyReader(self.folder, self.index)

    def open_writer(self) -> TantivyWriter:
        generation = self.folder.current()
        if generation is None:
            raise port.NotBuilt("there is none of this version")
        if (generation / DAMAGED).exists():
            raise port.NoIndex("a reader found it damaged")
        try:
            writer = TantivyWriter(self.folder, generation)
        except port.IndexFault as error:
            if "LockBusy" in str(error):
                raise
            raise port.NoIndex(f"it cannot be opened: {error}") from error
        if writer.progress is None:
            writer.close()
            raise port.NoIndex("it has no checkpoint")
        return writer

    @contextmanager
    def build(self) -> Iterator[TantivyBuilding]:
        with self.folder.new_generation() as generation:
            with index_faults():
                tantivy.Index(tantivy_files.schema_of(self.index), str(generation), reuse=False)
                writer = TantivyWriter(self.folder, generation)
            try:
                self.folder.note(port.BuildProgress(0, 0))
                yield TantivyBuilding(self.folder, generation, writer)
            finally:
                writer.close()
