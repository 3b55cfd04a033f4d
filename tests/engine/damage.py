"""Files that are damaged on purpose, and what can be read of them."""

from __future__ import annotations

from pathlib import Path

import apsw

from bigtime.engine.storage.checksums import checksum_vfs

PAGE = 4096


def flip(path: Path, text: bytes, *, after: int = 0) -> None:
    """Flips one bit of the first occurrence of a text in the file."""
    content = bytearray(path.read_bytes())
    place = content.index(text)
    content[place + after] ^= 8
    path.write_bytes(content)


def physical(path: Path, letter: str) -> str:
    """The name in the file of the first table of a kind: `t` items, `i` index, `s` stream."""
    connection = apsw.Connection(str(path), vfs=checksum_vfs())
    pattern = f"{letter}[0-9]*"
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ? ORDER BY name"
    name: str = connection.execute(query, (pattern,)).get
    connection.close()
    return name


def change(path: Path, statement: str, *values: object) -> None:
    """Changes the file behind the engine's back, with right checksums."""
    connection = apsw.Connection(str(path), vfs=checksum_vfs())
    connection.execute(statement, values)
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()


def spoil_item(path: Path, text: bytes) -> None:
    """Makes the bytes of an item no JSON, on a page whose checksum is right."""
    table = physical(path, "t")
    change(path, f"UPDATE {table} SET item = x'7b' WHERE instr(item, ?) > 0", text)
