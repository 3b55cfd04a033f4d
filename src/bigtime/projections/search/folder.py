"""The folder of an index: its generations, and which of them is in use.

    search/deals/v1-3f2a9c01/current           the name of the generation in use
                             20261116T0745-1/   a generation: tantivy's files
                             build.lock        held while a generation is built
                             building.json     the progress of the build

The version in the path is the schema's: after a change of the declaration or of Bigtime's format,
the index gets a new folder and is rebuilt. A generation is published by replacing `current`
atomically; until then it has no readers. Older generations are removed then: a process that reads
one has its files open, and sees the new name before its next search.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

from bigtime.formats import write_whole
from bigtime.model import SearchIndex
from bigtime.projections.search.port import BuildProgress, SearchUnavailable

FORMAT: Final = 1
"""To be incremented when documents are built or indexed differently."""
DAMAGED: Final = "damaged"


class BuildsElsewhere(SearchUnavailable):
    """Another process is rebuilding this index; wait until it is done."""


def version_of(index: SearchIndex) -> str:
    declared = repr((index.text, index.parts, index.facets, index.sort))
    return f"v{FORMAT}-{sha256(declared.encode()).hexdigest()[:8]}"


class IndexFolder:
    """The generations of one index."""

    def __init__(self, root: Path, index: SearchIndex) -> None:
        self.path = root / index.name / version_of(index)
        self.pointer = self.path / "current"

    def current(self) -> Path | None:
        """The generation in use, if there is one."""
        try:
            return self.path / self.pointer.read_text()
        except OSError:
            return None

    def publish(self, generation: Path) -> None:
        """Makes a generation the current one, durably, and removes the others."""
        write_whole(self.pointer, generation.name.encode())
        self.tidy(generation)

    def tidy(self, kept: Path) -> None:
        """Removes other generations and versions, as far as possible."""
        others = [each for each in self.path.iterdir() if each.is_dir() and each != kept]
        others += [each for each in self.path.parent.iterdir() if each != self.path]
        for other in others:
            shutil.rmtree(other, ignore_errors=True)

    @contextmanager
    def new_generation(self) -> Iterator[Path]:
        """A new generation; raises BuildsElsewhere while another process builds one."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / "build.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BuildsElsewhere() from None
            generation = self.path / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{os.getpid()}"
            generation.mkdir()
            try:
                yield generation
            finally:
                self.progress_file.unlink(missing_ok=True)
                if self.current() != generation:
                    shutil.rmtree(generation, ignore_errors=True)

    @property
    def progress_file(self) -> Path:
        return self.path / "building.json"

    def note(self, progress: BuildProgress) -> None:
        following = self.path / "building.tmp"
        following.write_text(json.dumps(progress))
        following.replace(self.progress_file)

    def progress(self) -> BuildProgress | None:
        """The progress of a rebuild; None if none is running, even if one was killed."""
        try:
            with (self.path / "build.lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        except BlockingIOError:
            pass
        except OSError:
            return None
        try:
            return BuildProgress(*json.loads(self.progress_file.read_text()))
        except (OSError, ValueError, TypeError):
            return BuildProgress(0, 0)


def mark_damaged(generation: Path) -> None:
    """Has the worker rebuild an index that a reader could not read."""
    with suppress(OSError):
        (generation / DAMAGED).touch()


def folder_bytes(path: Path) -> int:
    total = 0
    for file in path.iterdir():
        with suppress(FileNotFoundError):  # removed by a merge in the meantime
            total += file.stat().st_size
    return total
