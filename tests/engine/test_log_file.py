"""The log of a file is written over while writes go on, and truncated when they pause."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from time import monotonic

import pytest

from bigtime.engine import Engine
from bigtime.engine.housekeeping import log_keeper
from bigtime.engine.housekeeping.log_keeper import LogKeeper
from bigtime.engine.storage.file import File
from bigtime.engine.storage.log_file import log_bytes, log_length
from tests.engine.calls import call, make_table, s


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.open(tmp_path / "notes.db", durability="relaxed", housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        engine._housekeeper.log_keeper.checkpoint()
        yield engine


@pytest.fixture
def keeper(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> LogKeeper:
    """Its log is long from the first frame on."""
    monkeypatch.setattr(log_keeper, "CHECKPOINT_BYTES", 4_096)
    return engine._housekeeper.log_keeper


def put(engine: Engine, *names: str, text: str = "x" * 2_000) -> None:
    for name in names:
        call(engine, "PutItem", TableName="notes", Item={"p": s(name), "text": s(text)})


def restart_log(engine: Engine) -> File:
    file = engine._database.file
    with file.exclusive():
        file.checkpoint(restarts=True)
    return file


def test_a_restarted_log_is_as_long_as_what_was_written_since(engine: Engine) -> None:
    put(engine, *"abcdef")
    file = restart_log(engine)
    room = file.wal_path.stat().st_size
    put(engine, "g")
    assert 4_096 < file.wal_bytes() < room == file.wal_path.stat().st_size
    put(engine, *"hijklmnopq")
    assert file.log_length() == (file.wal_bytes(), file.wal_path.stat().st_size)
    assert file.wal_bytes() == file.wal_path.stat().st_size > room


def test_what_was_written_over_an_old_log_outlives_the_process(
    engine: Engine, tmp_path: Path
) -> None:
    for names in ("abcdef", "ghi", "jkl"):
        put(engine, *names)
        restart_log(engine)
    put(engine, "m")
    copy = tmp_path / "copy"
    copy.mkdir()
    for suffix in ("", "-wal"):  # without the shared memory, as after a power cut
        shutil.copy(tmp_path / f"notes.db{suffix}", copy)
    with Engine.open(copy / "notes.db") as opened:
        found = call(opened, "Scan", TableName="notes")["Items"]
    assert sorted(item["p"]["S"] for item in found) == [*"abcdefghijklm"]


def test_a_long_log_is_restarted_amid_writes(engine: Engine, keeper: LogKeeper) -> None:
    put(engine, *"abcdef")
    keeper.shorten()
    room = engine._database.file.wal_path.stat().st_size
    put(engine, "g")
    keeper.shorten()
    put(engine, "h")
    used, now = engine._database.file.log_length()
    assert used < now == room


def test_a_log_that_has_asked_for_a_checkpoint_for_a_while_keeps_its_room(engine: Engine) -> None:
    file = engine._database.file
    names = map(str, count())
    while not file.log_is_long.is_set():
        put(engine, next(names), text="x" * 300_000)
    for _ in range(20):
        put(engine, next(names), text="x" * 300_000)
    engine.tidy()
    put(engine, next(names))
    assert file.wal_bytes() < 20_000_000 < file.wal_path.stat().st_size


@pytest.mark.parametrize("is_written_to", [False, True])
def test_a_restarted_log_is_truncated_once_writes_pause(
    engine: Engine, keeper: LogKeeper, monkeypatch: pytest.MonkeyPatch, is_written_to: bool
) -> None:
    put(engine, *"abcdef")
    keeper.shorten()
    if is_written_to:  # then what is in use is short, but old frames follow
        monkeypatch.undo()
        put(engine, "g")
        keeper.shorten()
        assert engine._database.file.wal_bytes() > 0
    keeper.shorten()
    assert engine._database.file.log_length() == (0, 0)


def test_a_short_log_without_old_frames_is_left_alone_when_writes_pause(engine: Engine) -> None:
    put(engine, *"abcdef")
    length = engine._database.file.log_length()
    for _ in range(3):
        engine._housekeeper.log_keeper.shorten()
    assert engine._database.file.log_length() == length


def test_deleted_data_leaves_the_log_however_steady_the_writes_are(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, file = engine._housekeeper.log_keeper, engine._database.file
    names = map(str, count())
    put(engine, *"abcdefghijklmnopqrstuvwxyz", text="secret" * 400)
    for name in "abcdefghijklmnopqrstuvwxyz":
        call(engine, "DeleteItem", TableName="notes", Key={"p": s(name)})
    with monkeypatch.context() as patch:
        patch.setattr(log_keeper, "CHECKPOINT_BYTES", 4_096)
        keeper.shorten()
    for _ in range(3):
        put(engine, next(names))
        keeper.shorten()
    assert b"secret" in file.wal_path.read_bytes()
    monkeypatch.setattr(log_keeper, "OLD_FRAMES_SECONDS", 0.0)
    put(engine, next(names))
    keeper.shorten()
    assert b"secret" not in file.wal_path.read_bytes() + file.path.read_bytes()


def test_writes_wait_only_now_and_then_for_a_reader_that_keeps_old_frames(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper, file = engine._housekeeper.log_keeper, engine._database.file
    put(engine, *"abcdef")
    restart_log(engine)
    put(engine, "g")
    monkeypatch.setattr(log_keeper, "PATIENCE_MILLISECONDS", 500)
    with file.snapshot() as reader:
        reader.execute("SELECT count(*) FROM settings").fetchall()
        put(engine, "h")
        assert seconds_of(keeper.shorten) < 0.5
        keeper._old_since -= log_keeper.OLD_FRAMES_SECONDS
        assert seconds_of(keeper.shorten) >= 0.5
        assert seconds_of(keeper.shorten) < 0.5
        assert file.log_length().room > file.log_length().used > 0


def seconds_of(work: Callable[[], object]) -> float:
    began = monotonic()
    work()
    return monotonic() - began


def test_a_log_that_has_grown_too_long_is_truncated(
    engine: Engine, keeper: LogKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_keeper, "LOG_KEPT_BYTES", 10_000)
    put(engine, *"abcdef")
    keeper.shorten()
    assert engine._database.file.log_length() == (0, 0)


def test_a_full_disk_gets_the_room_of_the_log(engine: Engine) -> None:
    put(engine, *"abcdef")
    restart_log(engine)
    put(engine, "g")
    file = engine._database.file
    file.reserve.take()
    file.meet_full_disk()
    engine._housekeeper.log_keeper.shorten()
    assert file.log_length() == (0, 0)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_log_that_is_still_read_is_left_alone(engine: Engine, restarts: bool) -> None:
    put(engine, "a")
    file = engine._database.file
    with file.snapshot() as reader:
        reader.execute("SELECT count(*) FROM settings").fetchall()
        put(engine, *"bcdef")
        used = file.wal_bytes()
        engine._housekeeper.log_keeper.checkpoint(restarts=restarts, is_patient=False)
        put(engine, "g")
        assert file.wal_bytes() > used > 0


def test_no_log_has_no_length(tmp_path: Path) -> None:
    assert log_length(tmp_path / "missing.db-wal") == (0, 0)
    cut = tmp_path / "cut.db-wal"
    cut.write_bytes(b"\x37\x7f")
    assert log_bytes(cut) == 2
