"""The manifest of a table's lake: its files, and how far the stream was read.

    CartTable/_manifest.json                                        replaced atomically
    CartTable/changes/cart_lines/year=2026/month=11/day=16/1-90.parquet    changes 1 to 90
    CartTable/current/cart_lines/90.parquet                         the items after change 90

Replacing the manifest is the only commit. Files are written first, and belong to the lake once it
names them; a process that dies in between leaves files that no manifest names, which the next start
deletes. The checkpoint is part of the manifest. So a batch of changes and the checkpoint after it
are committed together, and each change is in the lake once.

A file that compaction has replaced is `gone`: it is deleted some minutes later, because a reader
may still use the previous manifest. A file that was rewritten with the same changes, because a
person's ids were erased in it, is named `1-90-1.parquet`, and then `1-90-2.parquet`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import orjson

FORMAT: Final = 1
MANIFEST: Final = "_manifest.json"
CHANGES: Final = re.compile(
    r"[^/]+/changes/(?P<lake>[a-z0-9_]+)/(?P<part>year=[^.]+)/(?P<restored>restored-)?"
    r"(?P<first>\d+)-(?P<last>\d+)(-(?P<again>\d+))?\.parquet"
)
"""In the name of restored changes, the last number only distinguishes files of one gap."""


class Damaged(ValueError):
    """A manifest that cannot be read."""


@dataclass(frozen=True, slots=True)
class ChangeFile:
    """A file of changes, with the positions of its first and last change and its number of rows.

    `restored` marks changes from a gap in the stream, restored from point-in-time recovery.
    """

    name: str
    lake: str
    part: str
    first: int
    last: int
    rows: int
    bytes: int
    restored: bool = False


@dataclass(frozen=True, slots=True)
class CurrentFile:
    """The items after the change at position `through`."""

    name: str
    through: int
    rows: int
    bytes: int


@dataclass(slots=True)
class Gap:
    """Changes that the stream no longer had when they were to be read.

    They were made after `after`, the time of the last change that was read, and no later than
    `before`. Their place is after the change at `position`. `closed_at` is when they were restored.
    """

    position: int
    after: str | None
    before: str
    reason: str
    closed_at: str | None = None
    restored: int = 0


@dataclass(slots=True)
class Manifest:
    """The contents of a table's lake."""

    table: str
    since: str
    position: int = 0
    last_change_at: str | None = None
    checkpoint: dict[str, list[Any]] = field(default_factory=dict)
    files: list[ChangeFile] = field(default_factory=list)
    current: dict[str, CurrentFile] = field(default_factory=dict)
    gone: dict[str, float] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    salvaged_at: str | None = None
    """When the manifest was rebuilt from the files, whose changes may be in the stream too."""

    @property
    def name(self) -> str:
        return manifest_name(self.table)

    def known_names(self) -> Iterator[str]:
        """The files that must not be deleted."""
        yield self.name
        yield from (file.name for file in self.files)
        yield from (file.name for file in self.current.values())
        yield from self.gone

    def files_of(self, lake: str) -> list[ChangeFile]:
        return [file for file in self.files if file.lake == lake]

    def to_json(self) -> bytes:
        content = {"format": FORMAT, **asdict(self)}
        return orjson.dumps(content, option=orjson.OPT_INDENT_2)


def manifest_name(table: str) -> str:
    return f"{table}/{MANIFEST}"


def read_manifest(content: bytes) -> Manifest:
    """Parses a manifest; raises Damaged if it is invalid or of another format."""
    try:
        members = orjson.loads(content)
        found = members.pop("format")
        if found != FORMAT:
            raise Damaged(f"it is of format {found}, and this program writes format {FORMAT}")
        members["files"] = [ChangeFile(**file) for file in members["files"]]
        members["current"] = {
            lake: CurrentFile(**file) for lake, file in members["current"].items()
        }
        members["gaps"] = [Gap(**gap) for gap in members["gaps"]]
        return Manifest(**members)
    except Damaged:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Damaged(f"it cannot be read: {error}") from error


def next_name(name: str) -> str:
    """The name for a rewritten file with the same changes."""
    known = CHANGES.fullmatch(name)
    assert known is not None, name
    again = int(known["again"] or 0)
    stem = name.removesuffix(f"-{again}.parquet" if again else ".parquet")
    return f"{stem}-{again + 1}.parquet"


def without_earlier(sizes: Mapping[str, int]) -> dict[str, int]:
    """The files without those that also exist rewritten, under their next name."""
    return {name: size for name, size in sizes.items() if not is_earlier(name, sizes)}


def is_earlier(name: str, names: Mapping[str, int]) -> bool:
    return CHANGES.fullmatch(name) is not None and next_name(name) in names


def files_from_names(sizes: Mapping[str, int]) -> list[ChangeFile]:
    """The change files among these names; of two with the same changes, the larger span.

    A compacted file spans those that it replaced. Of a rewritten file, the latest counts. The
    numbers of rows are not known.
    """
    found = [
        file_named(known, size)
        for name, size in without_earlier(sizes).items()
        if (known := CHANGES.fullmatch(name))
    ]
    found.sort(key=lambda file: (file.lake, file.part, file.first, -file.last))
    kept: list[ChangeFile] = []
    for file in (file for file in found if not file.restored):
        before = kept[-1] if kept else None
        is_inside = (
            before is not None
            and (before.lake, before.part) == (file.lake, file.part)
            and file.last <= before.last
        )
        if not is_inside:
            kept.append(file)
    return kept + [file for file in found if file.restored]


def file_named(known: re.Match[str], size: int) -> ChangeFile:
    first, is_restored = int(known["first"]), known["restored"] is not None
    last = first if is_restored else int(known["last"])
    return ChangeFile(known[0], known["lake"], known["part"], first, last, 0, size, is_restored)
