"""The log of a file is written over after a checkpoint, and keeps its room."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import apsw
import pytest

from bigtime.engine import Engine
from bigtime.engine.storage import log_file
from bigtime.engine.storage.file import File
from bigtime.engine.storage.log_file import FRAME_BYTES, ReusedLog, log_bytes
from tests.engine.calls import call, make_table, s


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "notes.db", durability="relaxed", housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        empty_log(engine)  # the first checkpoint of a process cuts the log
        yield engine


def put(engine: Engine, *names: str, length: int = 2_000) -> None:
    for name in names:
        call(engine, "PutItem", TableName="notes", Item={"p": s(name), "text": s("x" * length)})


def empty_log(engine: Engine) -> File:
    file = engine._database.file
    with file.exclusive():
        file.checkpoint()
    return file


def test_an_emptied_log_keeps_its_room_and_nothing_in_it(engine: Engine) -> None:
    put(engine, *"abcdef")
    file = engine._database.file
    before = file.wal_path.stat().st_size
    assert file.wal_bytes() == before
    empty_log(engine)
    assert file.wal_bytes() == 0
    assert file.wal_path.read_bytes() == bytes(before)


def test_the_log_of_an_engine_in_memory_keeps_its_room_too() -> None:
    with Engine.memory(housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        put(engine, *"abcdef")
        room = engine._database.file.wal_path.stat().st_size
        file = empty_log(engine)
        assert file.wal_bytes() == 0
        put(engine, "g")
        assert 0 < file.wal_bytes() < room == file.wal_path.stat().st_size
        found = call(engine, "Scan", TableName="notes")["Items"]
        assert sorted(item["p"]["S"] for item in found) == [*"abcdefg"]


def test_a_log_is_as_long_as_what_was_written_since(engine: Engine) -> None:
    put(engine, *"abcdef")
    file = empty_log(engine)
    room = file.wal_path.stat().st_size
    put(engine, "g")
    assert 4_096 < file.wal_bytes() < room == file.wal_path.stat().st_size
    put(engine, *"hijklmnopq")
    assert file.wal_bytes() == file.wal_path.stat().st_size > room


def test_what_was_written_over_an_emptied_log_outlives_the_process(
    engine: Engine, tmp_path: Path
) -> None:
    for names in ("abcdef", "ghi", "jkl"):
        put(engine, *names)
        empty_log(engine)
    put(engine, "m")
    copy = tmp_path / "copy"
    copy.mkdir()
    for suffix in ("", "-wal"):  # without the shared memory, as after a power cut
        shutil.copy(tmp_path / f"notes.db{suffix}", copy)
    with Engine.open(copy / "notes.db") as opened:
        found = call(opened, "Scan", TableName="notes")["Items"]
    assert sorted(item["p"]["S"] for item in found) == [*"abcdefghijklm"]


def test_a_log_that_has_asked_for_a_checkpoint_for_a_while_keeps_its_room(engine: Engine) -> None:
    log_is_long = engine._database.file.log_is_long
    names = map(str, count())
    while not log_is_long.is_set():
        put(engine, next(names), length=300_000)
    for _ in range(20):
        put(engine, next(names), length=300_000)
    assert empty_log(engine).wal_path.stat().st_size > 20_000_000


def test_a_log_that_has_grown_too_long_is_cut(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_file, "KEPT_BYTES", 10_000)
    put(engine, *"abcdef")
    assert empty_log(engine).wal_path.stat().st_size == 0


def test_what_a_crash_left_in_a_log_is_cut_by_the_first_checkpoint(engine: Engine) -> None:
    put(engine, *"abcdef")
    room = empty_log(engine).wal_path.stat().st_size
    assert room > 0
    folder = engine._database.file.path.parent
    with Engine.open(folder / "notes.db", durability="relaxed", housekeeping=False) as opened:
        put(opened, "g")
        assert empty_log(opened).wal_path.stat().st_size == 0


@pytest.mark.parametrize("frames", [1, 160])
def test_a_log_that_was_not_emptied_to_its_end_is_cut(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, frames: int
) -> None:
    """Also one whose next frames end where a write of zeros was cut short."""
    put(engine, *map(str, range(30)))
    with monkeypatch.context() as patch:
        patch.setattr(ReusedLog, "xWrite", die_amid_second_write())
        with pytest.raises(ProcessLookupError):
            empty_log(engine)
    file = engine._database.file
    assert file.wal_bytes() == 0
    assert any(file.wal_path.read_bytes())
    names = map(str, count(30))
    while file.wal_bytes() < frames * FRAME_BYTES:
        put(engine, next(names))
    assert empty_log(engine).wal_path.stat().st_size == 0


def die_amid_second_write() -> Callable[[ReusedLog, bytes, int], None]:
    left = [2]

    def write(log: ReusedLog, data: bytes, offset: int) -> None:
        left[0] -= 1
        if not left[0]:
            apsw.VFSFile.xWrite(log, data[: len(data) // 2], offset)
            raise ProcessLookupError
        apsw.VFSFile.xWrite(log, data, offset)

    return write


def test_a_full_disk_gets_the_room_of_the_log(engine: Engine) -> None:
    put(engine, *"abcdef")
    engine._database.file.meet_full_disk()
    assert empty_log(engine).wal_path.stat().st_size == 0


def test_a_log_that_is_still_read_is_left_alone(engine: Engine) -> None:
    put(engine, "a")
    file = engine._database.file
    with file.snapshot() as reader:
        reader.execute("SELECT count(*) FROM settings").fetchall()
        put(engine, *"bcdef")
        file.meet_full_disk()
        used = file.wal_bytes()
        assert empty_log(engine).wal_bytes() == used > 0


def test_no_log_has_no_length(tmp_path: Path) -> None:
    assert log_bytes(tmp_path / "missing.db-wal") == 0
    cut = tmp_path / "cut.db-wal"
    cut.write_bytes(b"\x37\x7f")
    assert log_bytes(cut) == 2
