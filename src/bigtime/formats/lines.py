"""The lines of a file, plain or gzip, and errors that say what is wrong and what to do.

Memory stays flat, however large the file and however long its lines: a line longer than
`LONGEST_LINE` cannot hold an item (400 KB, which JSON escapes and base64 make at most six times as
long) and is skipped without being read into memory.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, Literal, TypeAlias

Compression: TypeAlias = Literal["NONE", "GZIP"]

LONGEST_LINE: Final = 8 * 1024 * 1024
SKIPPED: Final = 1024 * 1024
GZIP_MARK: Final = b"\x1f\x8b"
# Formats that are refused by name: the first bytes, the name, and the remedy.
REFUSED: Final = (
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it with `zstd -d`, and use gzip or none"),
    (b"\xe0\x01\x00\xea", "Amazon Ion", "export the table as DYNAMODB_JSON"),
    (b"$ion_1_0", "Amazon Ion", "export the table as DYNAMODB_JSON"),
)


class BadFile(Exception):
    """A file that cannot be read to its end; the message says where it fails and what to do."""

    def __init__(self, path: Path, reason: str, *, line: int = 0) -> None:
        """`line` is the number of the last readable line."""
        super().__init__(f"{path}{f', after line {line:,}' if line else ''}: {reason}")
        self.path = path
        self.line = line
        self.reason = reason


class BadLine(Exception):
    """A line that is not an item; the message says why and what to do."""


class BadItem(BadLine):
    """A readable line whose item DynamoDB would refuse."""


def compression_of(path: Path) -> Compression:
    """A file's compression, by its first bytes and not by its name."""
    try:
        with path.open("rb") as file:
            mark = file.read(16)
    except OSError as error:
        raise BadFile(path, f"it cannot be read: {error.strerror}.") from error
    refuse_foreign(path, mark)
    return "GZIP" if mark.startswith(GZIP_MARK) else "NONE"


def refuse_foreign(path: Path, mark: bytes) -> None:
    for start, name, remedy in REFUSED:
        if mark.startswith(start):
            raise BadFile(path, f"it is {name}, which is not supported; {remedy}.")


def read_lines(path: Path, compression: Compression) -> Iterator[tuple[int, bytes | None]]:
    """Each line with its number, from 1, and without its newline; None for a line too long."""
    number = 0
    try:
        with open_binary(path, compression) as file:
            while line := file.readline(LONGEST_LINE):
                number += 1
                if number == 1:
                    refuse_foreign(path, line)
                if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                    skip_line(file)
                    yield number, None
                else:
                    yield number, line.removesuffix(b"\n")
    except (EOFError, zlib.error) as error:
        reason = f"the gzip data ends or is damaged here ({error}); fetch the file again."
        raise BadFile(path, reason, line=number) from error
    except gzip.BadGzipFile as error:
        reason = f"it is no gzip file, or damaged ({error}); fetch it again, or read it as plain."
        raise BadFile(path, reason, line=number) from error
    except OSError as error:
        raise BadFile(path, f"it cannot be read: {error.strerror}.", line=number) from error


def open_binary(path: Path, compression: Compression) -> IO[bytes]:
    if compression == "GZIP":
        return gzip.open(path, "rb")  # type: ignore[return-value]  # typeshed: GzipFile is IO
    return path.open("rb")


def skip_line(file: IO[bytes]) -> None:
    while (rest := file.readline(SKIPPED)) and not rest.endswith(b"\n"):
        pass
