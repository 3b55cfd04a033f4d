"""The file behind an engine: whose it is, who may write it, and how it is closed."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from stat import S_IMODE

import apsw
import pytest

from bigtime.engine import Engine
from bigtime.engine.storage.checksums import checksum_vfs
from bigtime.engine.storage.file import LONG_LOG_PAGES, MAX_READERS, Connection, File, checkpoint
from bigtime.engine.storage.format import APPLICATION_ID, FORMAT, FileFormatError
from tests.engine.calls import begin, call, come, failure, make_table, open_files, s, until


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    file = File(tmp_path / "notes.db", durability="relaxed")
    yield file
    come(begin(file.close))


def grow(file: File, size: int) -> None:
    with file.exclusive():
        file.writer.execute("REPLACE INTO settings VALUES ('grown', zeroblob(?))", (size,))


# --- Whose file it is -----------------------------------------------------------------------------


def refusal(path: Path) -> str:
    with pytest.raises(FileFormatError) as caught:
        Engine.open(path)
    return str(caught.value)


@pytest.mark.parametrize("content", [b"hello", b"hello " * 1_000])
def test_what_is_no_database_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "letter.txt"
    path.write_bytes(content)
    assert refusal(path) == f"{path} is not a database; choose another path."
    assert path.read_bytes() == content
    assert not path.with_name("letter.txt-reserve").exists()


def test_another_programs_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE settings (name, value)")
    other.close()
    content = path.read_bytes()
    assert refusal(path) == f"{path} is another program's database; choose another path."
    assert path.read_bytes() == content


def test_a_later_format_is_left_to_a_later_version(tmp_path: Path) -> None:
    path = tmp_path / "later.db"
    Engine.open(path).close()
    connection = apsw.Connection(str(path), vfs=checksum_vfs())
    connection.pragma("user_version", FORMAT + 1)
    connection.close()
    content = path.read_bytes()
    assert refusal(path) == (
        f"{path} has format {FORMAT + 1} and this version knows up to {FORMAT}; upgrade bigtime."
    )
    assert path.read_bytes() == content


def test_a_file_that_sqlite_cannot_open_is_refused_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "locked.db"

    def fail(opening: File, vfs: str | None = None) -> Connection:
        raise apsw.CantOpenError("unable to open database file")

    monkeypatch.setattr(File, "_connect", fail)
    assert refusal(path) == f"{path} cannot be opened: check that you may read and write it."


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} is a folder; name a file in it."


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "notes.db"
    assert refusal(path) == f"{path} cannot be created: No such file or directory."
    assert not path.parent.exists()


def test_a_refused_file_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("hello")
    for _ in range(20):
        refusal(path)
    assert open_files(tmp_path) == []


def test_a_new_file_is_its_owners_and_says_what_it_is(file: File) -> None:
    assert S_IMODE(file.path.stat().st_mode) == 0o600
    assert file.writer.pragma("application_id") == APPLICATION_ID
    assert file.writer.pragma("journal_mode") == "wal"
    for suffix in ("-lock", "-wal"):
        assert S_IMODE(Path(f"{file.path}{suffix}").stat().st_mode) == 0o600


def test_a_file_that_another_process_makes_meanwhile_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that was made before there was a header would compare no checksums."""
    path = tmp_path / "new.db"
    connect = File._connect

    def connect_too_early(opening: File, vfs: str | None = None) -> Connection:
        connection = connect(opening, vfs)
        if not path.stat().st_size and not opening._writer_lock._holds:
            monkeypatch.undo()
            other.append(Engine.open(path, durability="relaxed", housekeeping=False))
        return connection

    other: list[Engine] = []
    monkeypatch.setattr(File, "_connect", connect_too_early)
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
    for engine in other:
        engine.close()


def test_a_file_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    path.touch()
    path.chmod(0o640)
    File(path, durability="relaxed").close()
    assert S_IMODE(path.stat().st_mode) == 0o640


# --- Who may write it -----------------------------------------------------------------------------


def test_one_writes_at_a_time(file: File) -> None:
    other = File(file.path, durability="relaxed")
    with file.exclusive():
        waiting = begin(other.lock)
        assert not waiting.done()
    come(waiting)
    other.close()


def test_a_link_leads_to_the_same_lock(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").mkdir()
    link = tmp_path / "linked" / "shop.db"
    link.symlink_to("../real/shop.db")
    with (
        Engine.open(tmp_path / "real" / "shop.db", housekeeping=False) as here,
        Engine.open(link, housekeeping=False) as there,
    ):
        assert there.path == here.path
        with here._database.file.exclusive():
            writing = begin(lambda: make_table(there, {"p": "S"}, name="notes", keys=("p",)))
            assert until(lambda: there._database.committer._group)
            assert not writing.done()
        come(writing)
        call(here, "PutItem", TableName="notes", Item={"p": s("a")})
        assert there._database.file.wal_bytes() > 0
    assert list(link.parent.iterdir()) == [link]


KILLED = """
import os, sys, time
from pathlib import Path
from bigtime.engine.storage.file import File
file = File(Path(sys.argv[1]), durability="relaxed")
file.lock()
print("locked", flush=True)
time.sleep(60)
"""


def test_a_lock_dies_with_its_holder(file: File) -> None:
    script = [sys.executable, "-c", KILLED, str(file.path)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout and holder.stdout.readline() == "locked\n"
        waiting = begin(file.lock)
        assert not waiting.done()
        holder.kill()
        come(waiting)
    file.unlock()


# --- Readers --------------------------------------------------------------------------------------


def test_the_ninth_reader_waits_for_one_of_the_eight(file: File) -> None:
    readers = [file.take_reader() for _ in range(MAX_READERS)]
    ninth = begin(file.take_reader)
    assert not ninth.done()
    file.give_reader(readers[0])
    assert come(ninth) is readers[0]
    for reader in readers:
        file.give_reader(reader)


def test_a_reader_cannot_write(file: File) -> None:
    with file.reader() as reader, pytest.raises(apsw.ReadOnlyError):
        reader.execute("DELETE FROM settings")


def test_a_snapshot_does_not_move(file: File) -> None:
    query = "SELECT count(*) FROM settings"
    with file.snapshot() as reader:
        before = reader.execute(query).get
        grow(file, 1)
        assert reader.execute(query).get == before
    with file.snapshot() as reader:
        assert reader.execute(query).get == before + 1


def test_closing_waits_for_readers_and_refuses_those_who_wait(tmp_path: Path) -> None:
    file = File(tmp_path / "notes.db", durability="relaxed")
    readers = [file.take_reader() for _ in range(MAX_READERS)]
    closing = begin(file.close)
    assert until(lambda: file._closed)
    waiting = [begin(lambda: count_settings(file)) for _ in range(5)]
    assert not closing.done()
    for reader in readers:
        # Whoever has one may still read.
        assert reader.execute("SELECT count(*) FROM settings").get == 3
        file.give_reader(reader)
    come(closing)
    refusals = {str(failure(each)) for each in waiting if failure(each)}
    assert refusals <= {"This engine is closed: open the file again."}
    with pytest.raises(RuntimeError) as caught:
        count_settings(file)
    assert str(caught.value) == "This engine is closed: open the file again."


def count_settings(file: File) -> object:
    with file.reader() as reader:
        return reader.execute("SELECT count(*) FROM settings").get


# --- The log --------------------------------------------------------------------------------------


def test_a_checkpoint_empties_the_log(file: File) -> None:
    grow(file, 1_000_000)
    assert file.wal_bytes() > 1_000_000
    with file.exclusive():
        checkpoint(file.writer)
    assert file.wal_bytes() == 0


@pytest.mark.parametrize("patience", [0, 50])
def test_a_checkpoint_gives_way_to_a_reader(file: File, patience: int) -> None:
    grow(file, 1)
    with file.snapshot() as reader:
        reader.execute("SELECT count(*) FROM settings").fetchall()
        grow(file, 1_000_000)
        with file.exclusive():
            checkpoint(file.writer, patience)
        assert file.wal_bytes() > 1_000_000
    with file.exclusive():
        checkpoint(file.writer, patience)
    assert file.wal_bytes() == 0


def test_a_long_log_is_announced(file: File) -> None:
    grow(file, 1)
    assert not file.log_is_long.is_set()
    grow(file, LONG_LOG_PAGES * 4096)
    assert file.log_is_long.is_set()


def test_nothing_else_is_left_beside_a_closed_file(tmp_path: Path) -> None:
    Engine.open(tmp_path / "notes.db").close()
    names = {path.name.removeprefix("notes.db") for path in tmp_path.iterdir()}
    assert names <= {"", "-lock", "-keeper", "-reserve", "-wal", "-shm"}
    for suffix in ("-lock", "-keeper"):
        handle = os.open(tmp_path / f"notes.db{suffix}", os.O_RDWR)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(handle)
