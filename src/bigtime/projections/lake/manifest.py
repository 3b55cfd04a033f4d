"""The manifest of a table's part of a lake: what belongs to it, and how far the stream was read.

    CartTable/_manifest.json                                        replaced whole
    CartTable/changes/cart_lines/year=2026/month=11/day=16/1-90.parquet    changes 1 to 90
    CartTable/current/cart_lines/90.parquet                         the items after change 90

Replacing the manifest is the only commit. Files are written before it, and belong to the lake once
it names them; a process that dies in between leaves files that no manifest names, which the next
start deletes. The checkpoint is part of the manifest. So a batch of changes and the place after it
are committed together, and each change is in the lake once.

A file that compaction has replaced is `gone`: it is deleted some minutes later, for a reader may
have begun with the manifest before. One that was written anew with the same changes, because ids of
a person were erased in it, is called `1-90-1.parquet`, and then `1-90-2.parquet`.
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
"""The last number of restored changes is no position: it tells files of one gap apart."""


class Damaged(ValueError):
    """A manifest that cannot be read."""


@dataclass(frozen=True, slots=True)
class ChangeFile:
    """A file of changes: the positions of the first and the last, and how many there are.

    `restored` are changes that a gap in the stream had, from the log of point-in-time recovery.
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
    """Changes that the stream had no longer when they were to be read.

    They were made after `after`, the last change that was read, and at `before` at the latest.
    They would stand behind the change at `position`. `closed_at` is when they were restored.
    """

    position: int
    after: str | None
    before: str
    reason: str
    closed_at: str | None = None
    restored: int = 0


@dataclass(slots=True)
class Manifest:
    """What belongs to the lake of a table."""

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
    """When the manifest was made anew from the files, which may hold what the stream has too."""

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
    """Raises Damaged for one that is of another format, or none."""
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
    """The name of a file that has the changes of this one, written anew."""
    known = CHANGES.fullmatch(name)
    assert known is not None, name
    again = int(known["again"] or 0)
    stem = name.removesuffix(f"-{again}.parquet" if again else ".parquet")
    return f"{stem}-{again + 1}.parquet"


def without_earlier(sizes: Mapping[str, int]) -> dict[str, int]:
    """Without the files that were written anew, and are there again under their next name."""
    return {name: size for name, size in sizes.items() if not is_earlier(name, sizes)}


def is_earlier(name: str, names: Mapping[str, int]) -> bool:
    return CHANGES.fullmatch(name) is not None and next_name(name) in names


def files_from_names(sizes: Mapping[str, int]) -> list[ChangeFile]:
    """The change files among these names; of two that hold the same changes, the larger span.

    A file that compaction made spans those that it replaced. Of one that was written anew, the last
    counts. Their numbers of rows are not known.
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
