"""A disk that fails on command: it is full for writes, and syncs and truncations fail."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Literal

import apsw

from proofs.tape import FileName, Opened, file_name

Call = Literal["write", "sync", "truncate"]


@dataclass(slots=True)
class Trouble:
    """What fails: after `spare` more calls of one kind, the next `times` of them."""

    call: Call
    file: FileName
    is_full: bool
    spare: int
    times: int
    struck: int = 0

    def meets(self, call: Call, file: FileName) -> bool:
        if (call, file) != (self.call, self.file):
            return False
        if self.spare > 0:
            self.spare -= 1
            return False
        if self.struck >= self.times:
            return False
        self.struck += 1
        return True

    def error(self) -> apsw.Error:
        if self.is_full:
            return apsw.FullError("no space left on the device")
        return apsw.IOError("the device does not answer")


@dataclass(slots=True)
class Disk:
    """The current trouble, if any; one thread sets it while others write."""

    trouble: Trouble | None = None
    failures: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fails(self, call: Call, file: FileName) -> apsw.Error | None:
        with self.lock:
            if self.trouble and self.trouble.meets(call, file):
                self.failures += 1
                return self.trouble.error()
            return None


class FailingFile(apsw.VFSFile):
    def __init__(self, name: Opened, flags: list[int], disk: Disk) -> None:
        self.name = file_name(name)
        self.disk = disk
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        error = self.disk.fails("write", self.name)
        if error:
            # A real disk writes what fits before it reports that the rest does not.
            super().xWrite(bytes(data[: len(data) // 2]), offset)
            raise error
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        error = self.disk.fails("sync", self.name)
        if error:
            raise error
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        error = self.disk.fails("truncate", self.name)
        if error:
            raise error
        super().xTruncate(size)


class FailingVFS(apsw.VFS):
    """Opens an engine's files on a disk that may fail; close it after the engine."""

    def __init__(self, name: str, disk: Disk) -> None:
        self.disk = disk
        super().__init__(name, "")

    def xOpen(self, name: Opened | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        assert name is not None, "the engine keeps temporary data in memory"
        return FailingFile(name, flags, self.disk)
