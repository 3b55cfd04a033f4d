"""A tape of what the engine does to its files: every write, truncation and sync, in order.

It is recorded by a VFS between SQLite and the disk. A write is put on the tape when it begins, a
sync when it has returned, and between them the recorder adds each acknowledgement. So the tape
shows what a power cut at any moment could have left behind: of each file everything up to its last
sync, and any part of what came later.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, NamedTuple

import apsw

FileName = Literal["db", "wal"]
SECTOR = 512
WAL_HEADER_BYTES = 32
FRAME_HEADER_BYTES = 24


class Event(NamedTuple):
    """`at` is the offset of a write, the length after a truncation, the number of an ack."""

    kind: Literal["write", "truncate", "sync", "ack"]
    file: FileName = "db"
    at: int = 0
    data: bytes = b""

    @property
    def ends_commit(self) -> bool:
        """Whether this is the header of a log frame that ends a transaction.

        Such a header states the database's size in pages after the commit; others state 0.
        """
        is_header = self.kind == "write" and len(self.data) == FRAME_HEADER_BYTES
        return is_header and self.file == "wal" and any(self.data[4:8])

    @property
    def starts_log(self) -> bool:
        return self.kind == "write" and self.file == "wal" and self.at == 0


Tape = list[Event]
Opened = str | apsw.URIFilename
"""What SQLite names a file by: the database with its options, the log by its path alone."""


def file_name(opened: Opened) -> FileName:
    path = opened if isinstance(opened, str) else opened.filename()
    return "wal" if path.endswith("-wal") else "db"


class RecordedFile(apsw.VFSFile):
    """A database or its log, on the real file system, with every operation recorded."""

    def __init__(self, name: Opened, flags: list[int], tape: Tape) -> None:
        self.name = file_name(name)
        self.tape = tape
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self.tape.append(Event("write", self.name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self.tape.append(Event("truncate", self.name, size))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self.tape.append(Event("sync", self.name))


class RecordingVFS(apsw.VFS):
    """Opens and records an engine's files; close it after the engine."""

    def __init__(self, name: str, tape: Tape) -> None:
        self.tape = tape
        super().__init__(name, "")

    def xOpen(self, name: Opened | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        assert name is not None, "the engine keeps temporary data in memory"
        return RecordedFile(name, flags, self.tape)


@dataclass(slots=True)
class Image:
    """The two files as they are on disk."""

    db: bytearray
    wal: bytearray

    def play(self, event: Event) -> None:
        if event.kind not in ("write", "truncate"):
            return
        content = self.db if event.file == "db" else self.wal
        if event.kind == "truncate":
            del content[event.at :]
            content.extend(bytes(event.at - len(content)))
        else:
            content.extend(bytes(max(0, event.at - len(content))))
            content[event.at : event.at + len(event.data)] = event.data

    def copy(self) -> Image:
        return Image(bytearray(self.db), bytearray(self.wal))


def play_all(base: Image, tape: Tape) -> Image:
    image = base.copy()
    for event in tape:
        image.play(event)
    return image


def after_power_cut(base: Image, tape: Tape, chance: random.Random) -> Image:
    """What may be on the disk if the power failed at the end of the tape."""
    synced = {"db": -1, "wal": -1}
    for place, event in enumerate(tape):
        if event.kind == "sync":
            synced[event.file] = place
    image = base.copy()
    for place, event in enumerate(tape):
        if place < synced[event.file]:
            image.play(event)
        else:
            for part in survivors(event, chance):
                image.play(part)
    return image


def survivors(event: Event, chance: random.Random) -> list[Event]:
    """The parts of an operation that reached the disk without a sync: all, none, or sectors."""
    fate = chance.choice(["all", "none", "some"])
    if fate == "all" or (fate == "some" and event.kind != "write"):
        return [event]
    if fate == "none":
        return []
    cuts = range(0, len(event.data), SECTOR)
    return [
        event._replace(at=event.at + cut, data=event.data[cut : cut + SECTOR])
        for cut in cuts
        if chance.random() < 0.5
    ]
