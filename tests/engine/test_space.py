"""What is deleted leaves the file, and a full disk is no trap."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

import apsw
import pytest

from bigtime.engine import Engine, FileFormatError, compact, scrub_file
from bigtime.engine.storage.page_gaps import PAGE_BYTES, clear_gap
from bigtime.engine.storage.reserve import Reserve, only_deletes
from bigtime.formats import file_lock
from bigtime.wire import InternalServerError
from proofs import strace
from tests.engine.calls import Clock, call, fill, index, key_schema, make_table, s, until
from tests.engine.test_format import check_orders, unpack

DAY = 24 * 3600.0
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


def bytes_of(path: Path) -> bytes:
    """All that lies on the disk: the file and its log."""
    log = Path(f"{path}-wal")
    return path.read_bytes() + (log.read_bytes() if log.exists() else b"")


# --- Gone is gone -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [40, 900, 9_000])
def test_what_was_deleted_or_overwritten_is_not_in_the_file_a_day_later(
    tmp_path: Path, size: int
) -> None:
    path, clock = tmp_path / "notes.db", Clock()
    with Engine.open(path, clock=clock, housekeeping=False) as engine:
        make_table(
            engine,
            {"p": "S", "mail": "S"},
            name="people",
            keys=("p",),
            globally=(index("by_mail", key_schema("mail")),),
            StreamSpecification=STREAM,
        )
        for number in range(300):
            person = {"p": s(str(number)), "mail": s(f"secret-{number}@elsewhere.example")}
            call(engine, "PutItem", TableName="people", Item={**person, "text": s("t" * size)})
        assert b"secret-" in bytes_of(path)
        for number in range(300):
            key = {"p": s(str(number))}
            if number % 3 == 0:
                call(engine, "DeleteItem", TableName="people", Key=key)
            else:
                anonymous = {**key, "mail": s(f"nobody-{number}"), "text": s("t" * (number % 50))}
                call(engine, "PutItem", TableName="people", Item=anonymous)
        clock.now += DAY + 5 * 3600
        engine.tidy()
        clock.now += DAY
        engine.tidy()
        engine._housekeeper.log_keeper.checkpoint()
        assert b"nobody-" in bytes_of(path)
        assert bytes_of(path).count(b"secret-") == 0
        assert call(engine, "Scan", TableName="people", Select="COUNT")["Count"] == 200


def test_a_row_that_moved_to_another_page_leaves_nothing_behind(tmp_path: Path) -> None:
    """SQLite copies rows when it splits a page, and does not clear what it copied from."""
    path, draw = tmp_path / "notes.db", random.Random(5)
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        make_table(
            engine,
            {"p": "S", "mail": "S"},
            name="people",
            keys=("p",),
            globally=(index("by_mail", key_schema("mail")),),
        )
        for number in draw.sample(range(1_000), 1_000):
            mail = s(f"{'secret' if number % 3 == 1 else 'public'}-{number * 7_919 % 10_007:05}")
            item = {"p": s(str(number)), "mail": mail, "text": s("t" * draw.randrange(400))}
            call(engine, "PutItem", TableName="people", Item=item)
        for number in range(0, 1_000, 5):
            item = {"p": s(str(number)), "mail": s(f"nobody-{number}"), "text": s("t" * 1_500)}
            call(engine, "PutItem", TableName="people", Item=item)
        for number in draw.sample(range(1_000), 1_000):
            if number % 3 == 1:
                call(engine, "DeleteItem", TableName="people", Key={"p": s(str(number))})
        engine._housekeeper.log_keeper.checkpoint()
        assert bytes_of(path).count(b"secret-") == 0
    assert pages_with_leftovers(path) == 0
    assert compact(path).has_checksums and pages_with_leftovers(path) == 0
    assert scrub_file(path).faults == []


def pages_with_leftovers(path: Path) -> int:
    """Pages of b-trees whose gap is not clear; page 2 is the pointer map of so small a file."""
    content = path.read_bytes()
    pages = [content[at : at + PAGE_BYTES] for at in range(0, len(content), PAGE_BYTES)]
    assert len(pages) < 800
    return sum(clear_gap(page) != page for page in pages[2:])


def test_a_gap_is_cleared_and_nothing_else() -> None:
    cells = b"\x0d\0\0\0\x02\x0f\xf0\0" + b"\x0f\xf8\x0f\xf0"
    page = cells + b"left" * 1_017 + b"c" * 16
    assert len(page) == PAGE_BYTES
    assert clear_gap(page) == cells + bytes(4_068) + b"c" * 16
    for other in (b"\0\0\0\x09" + b"rest of a long row" * 250, bytes(PAGE_BYTES)):
        assert clear_gap(other) == other


def test_a_deleted_table_gives_its_room_back(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with Engine.open(path, housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="large", keys=("p",))
        make_table(engine, {"p": "S"}, name="small", keys=("p",))
        fill(engine, "small", 50)
        fill(engine, "large", 4_000, text=s("much text " * 400))
        engine.tidy()
        engine._housekeeper.log_keeper.checkpoint()
        assert path.stat().st_size > 16_000_000
        call(engine, "DeleteTable", TableName="large")
        engine.tidy()
        engine._housekeeper.log_keeper.checkpoint()
        assert path.stat().st_size < 5_000_000
        assert b"much text" not in bytes_of(path)
        assert call(engine, "Scan", TableName="small", Select="COUNT")["Count"] == 50


# --- Compact ------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2])
def test_compacting_keeps_everything_and_adds_checksums(tmp_path: Path, number: int) -> None:
    path = unpack(number, tmp_path)
    path.chmod(0o640)
    done = compact(path)
    assert done.has_checksums and done.bytes_after == path.stat().st_size
    assert path.read_bytes()[20] == 8 and path.stat().st_mode & 0o777 == 0o640
    with Engine.open(path, housekeeping=False) as engine:
        check_orders(engine)
        assert engine._database.file.writer.pragma("auto_vacuum") == 2
    assert not Path(f"{path}-compact").exists()


def test_compacting_makes_a_file_small_and_clean(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with Engine.open(path, housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        fill(engine, "notes", 2_000, text=s("much text " * 100))
        for number in range(1_900):
            call(engine, "DeleteItem", TableName="notes", Key={"p": s(str(number))})
    done = compact(path)
    assert done.bytes_after < done.bytes_before / 4
    with Engine.open(path, housekeeping=False) as engine:
        assert call(engine, "Scan", TableName="notes", Select="COUNT")["Count"] == 100


def test_a_file_larger_than_the_cache_is_compacted_with_checksums(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with Engine.open(path, housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        fill(engine, "notes", 4_000, text=s("much text " * 100))
    done = compact(path)
    assert done.has_checksums and done.bytes_after > 4_000_000
    assert scrub_file(path).faults == []


OPEN = """
import sys
from bigtime.engine import Engine
with Engine.open(sys.argv[1]) as engine:
    print("open", flush=True)
    sys.stdin.readline()
"""


def test_a_file_that_another_process_has_open_is_not_compacted(tmp_path: Path) -> None:
    path = unpack(1, tmp_path)
    script = [sys.executable, "-c", OPEN, str(path)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(script, **pipes) as other:
        assert other.stdout and other.stdin and other.stdout.readline() == "open\n"
        with pytest.raises(FileFormatError, match="open in another process"):
            compact(path)
        other.stdin.write("\n")
        other.stdin.flush()
        assert other.wait(60) == 0
    with Engine.open(path) as engine:
        check_orders(engine)
        with pytest.raises(FileFormatError, match="open in another process"):
            compact(path)
    compact(path)


def test_a_file_that_is_being_compacted_is_left_to_the_other_process(tmp_path: Path) -> None:
    path = unpack(1, tmp_path)
    draft = Path(f"{path}-compact")
    draft.write_bytes(b"half written")
    lock = path.with_name(f"{path.name}-lock")
    with file_lock(lock), pytest.raises(FileFormatError, match="open in another process"):
        compact(path)
    assert draft.read_bytes() == b"half written"
    compact(path)
    assert not draft.exists()


def test_a_damaged_file_is_not_compacted(tmp_path: Path) -> None:
    path = unpack(2, tmp_path)
    content = bytearray(path.read_bytes())
    content[content.index(b"customer 3") + 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="damaged"):
        compact(path)
    assert not Path(f"{path}-compact").exists()


def test_what_is_no_file_of_ours_is_not_compacted(tmp_path: Path) -> None:
    for name, content in (("text", b"hello" * 1_000), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError):
            compact(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content
    with pytest.raises(FileFormatError, match="not there"):
        compact(tmp_path / "missing")


# --- A full disk --------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_log_that_fills_the_disk_is_moved_and_writes_go_on(small_disk: Path) -> None:
    with Engine.open(small_disk / "notes.db") as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        item = {"p": s("a"), "text": s("x" * 300_000)}
        done = 0

        def write_again() -> bool:
            nonlocal done
            try:
                call(engine, "PutItem", TableName="notes", Item={**item, "n": {"N": str(done)}})
            except InternalServerError:
                return False
            done += 1
            return done > 200

        assert until(write_again)


def test_a_disk_full_of_items_takes_deletes_and_then_puts(small_disk: Path) -> None:
    with Engine.open(small_disk / "notes.db") as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        number, refused = 0, 0
        while refused < 40:
            item = {"p": s(str(number)), "text": s("x" * 100_000)}
            try:
                call(engine, "PutItem", TableName="notes", Item=item)
                number, refused = number + 1, 0
            except InternalServerError:
                refused += 1
                sleep(0.02)
        assert engine._database.file.reserve.is_given_up
        for each in range(number):
            call(engine, "DeleteItem", TableName="notes", Key={"p": s(str(each))})
        engine.tidy()
        engine._housekeeper.log_keeper.checkpoint()
        call(engine, "PutItem", TableName="notes", Item={"p": s("again"), "text": s("x" * 100_000)})
        assert not engine._database.file.reserve.is_given_up


@pytest.mark.parametrize("left", [50_000, 700_000])
def test_an_engine_started_on_a_full_disk_takes_deletes(small_disk: Path, left: int) -> None:
    path, filler = small_disk / "notes.db", small_disk / "filler"
    with Engine.open(path) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        put_texts(engine, range(100))
    path.with_name("notes.db-reserve").unlink()
    free = shutil.disk_usage(small_disk).free
    filler.write_bytes(bytes(free - left))
    with Engine.open(path) as engine:
        with pytest.raises(InternalServerError):
            put_texts(engine, range(100, 1_000))
        # Each may have to wait until the log of those before it was moved, as SDKs do.
        assert all(until(partial(delete_text, engine, number)) for number in range(100))
        filler.unlink()
        put_texts(engine, [0])


def delete_text(engine: Engine, number: int) -> bool:
    try:
        call(engine, "DeleteItem", TableName="notes", Key={"p": s(str(number))})
    except InternalServerError:
        return False
    return True


def put_texts(engine: Engine, numbers: Iterable[int]) -> None:
    for number in numbers:
        item = {"p": s(str(number)), "text": s("x" * 10_000)}
        call(engine, "PutItem", TableName="notes", Item=item)


WRITES_UNTIL_REFUSED = """
import sys
from bigtime.engine import Engine
from bigtime.wire import InternalServerError
from tests.engine.calls import call, make_table, s

with Engine.open(sys.argv[1]) as engine:
    make_table(engine, {"p": "S"}, name="notes", keys=("p",))
    try:
        for number in range(200):
            call(engine, "PutItem", TableName="notes", Item={"p": s(str(number))})
    except InternalServerError as error:
        print(error.message)
    print(engine._database.file.reserve.is_given_up)
    print(call(engine, "GetItem", TableName="notes", Key={"p": s("0")}))
"""


@pytest.mark.skipif(strace.why_not() is not None, reason=str(strace.why_not()))
def test_a_quota_that_is_used_up_is_a_full_disk(tmp_path: Path) -> None:
    """SQLite takes ENOSPC for a full disk, and EDQUOT for one that fails."""
    log = tmp_path / "notes.db-wal"
    inject = ["-e", "trace=pwrite64", "-e", "inject=pwrite64:error=EDQUOT:when=150+"]
    program = [sys.executable, "-c", WRITES_UNTIL_REFUSED, str(tmp_path / "notes.db")]
    said = subprocess.run(
        ["strace", "-f", "-o", os.devnull, "-P", str(log), *inject, *program],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    assert said.splitlines() == [
        "The disk is full: nothing was written. Retry when it, or your quota on it, has room.",
        "True",
        "{'Item': {'p': {'S': '0'}}}",
    ]


class QuotaFile(apsw.VFSFile):
    """The file or its log, on a disk whose quota may be used up."""

    def __init__(self, name: str | apsw.URIFilename, flags: list[int], vfs: QuotaVfs) -> None:
        self.vfs = vfs
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self.vfs.is_used_up and len(data) > 1_000:
            error = apsw.IOError("Disk quota exceeded")
            vars(error)["extendedresult"] = apsw.SQLITE_IOERR_WRITE
            raise error
        super().xWrite(data, offset)


class QuotaVfs(apsw.VFS):
    def __init__(self) -> None:
        self.is_used_up = False
        super().__init__("bigtime-quota", "")

    def xOpen(  # noqa: N802
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        assert name is not None
        if flags[0] & (apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_DB):
            return QuotaFile(name, flags, self)
        return apsw.VFSFile("", name, flags)

    def xGetLastError(self) -> tuple[int, str]:  # noqa: N802
        return (errno.EDQUOT, "") if self.is_used_up else (0, "")


def test_a_quota_gives_up_the_reserve_until_it_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vfs = QuotaVfs()

    def refuse_room(path: Path, size: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    # Without its own threads, which might empty the log first.
    with Engine.open(tmp_path / "notes.db", vfs="bigtime-quota", housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
        call(engine, "PutItem", TableName="notes", Item={"p": s("a")})
        vfs.is_used_up = True
        with monkeypatch.context() as full:
            full.setattr("bigtime.engine.storage.reserve.allocate", refuse_room)
            with pytest.raises(InternalServerError, match="The disk is full: nothing was written"):
                call(engine, "PutItem", TableName="notes", Item={"p": s("b")})
            vfs.is_used_up = False  # the reserve is room now
            call(engine, "DeleteItem", TableName="notes", Key={"p": s("a")})
            with pytest.raises(InternalServerError, match="only deletes are taken"):
                call(engine, "PutItem", TableName="notes", Item={"p": s("b")})
        call(engine, "PutItem", TableName="notes", Item={"p": s("b")})
        vfs.is_used_up = True
        with pytest.raises(apsw.FullError):
            engine._housekeeper.log_keeper.checkpoint()
        assert engine._database.file.reserve.is_given_up
        vfs.is_used_up = False
    vfs.unregister()


def test_a_reserve_is_taken_given_up_and_taken_again(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "notes.db")
    reserve.give_up()
    assert not reserve.is_given_up
    reserve.take()
    assert reserve.path.stat().st_blocks * 512 >= 15_000_000
    reserve.give_up()
    assert reserve.is_given_up and not reserve.path.exists()
    assert not reserve.is_full_for("PutItem", {}) and reserve.path.exists()


def test_deletes_are_told_from_other_writes() -> None:
    delete: dict[str, Any] = {"DeleteRequest": {}}
    put: dict[str, Any] = {"PutRequest": {}}
    assert only_deletes("DeleteItem", {}) and not only_deletes("PutItem", {})
    assert only_deletes("BatchWriteItem", {"RequestItems": {"a": [delete], "b": [delete]}})
    assert not only_deletes("BatchWriteItem", {"RequestItems": {"a": [delete], "b": [put]}})
    assert only_deletes("TransactWriteItems", {"TransactItems": [{"Delete": {}}]})
    assert not only_deletes("TransactWriteItems", {"TransactItems": [{"Delete": {}}, {"Put": {}}]})
    statements = [{"Statement": ' delete FROM "a"'}, {"Statement": "INSERT INTO a VALUE {}"}]
    assert only_deletes("ExecuteStatement", statements[0])
    assert not only_deletes("ExecuteStatement", statements[1])
    for operation, member in (
        ("BatchExecuteStatement", "Statements"),
        ("ExecuteTransaction", "TransactStatements"),
    ):
        assert only_deletes(operation, {member: statements[:1]})
        assert not only_deletes(operation, {member: statements})
