"""A scrub finds what was changed behind the engine's back, and repairs an index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import apsw
import pytest

from bigtime.engine import Engine
from bigtime.engine.storage import Findings, all_rows, checksum_vfs, scrub
from tests.engine.calls import begin, call, come, index, key_schema, make_table, n, s
from tests.engine.damage import PAGE, change, flip, physical, spoil_item
from tests.furnished import write_furnished

LOCAL = index("by_rank", key_schema("p", "rank"), ["text"])
GLOBAL = index("by_group", key_schema("g", "s"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_furnished(tmp_path / "notes.db", write_notes)


def write_notes(engine: Engine) -> None:
    make_table(
        engine,
        {"p": "S", "s": "N", "g": "S", "rank": "N"},
        name="notes",
        local=(LOCAL,),
        globally=(GLOBAL,),
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    for number in range(1_200):
        put(engine, number)
    for number in range(0, 1_200, 10):
        key = {"p": s(str(number % 7)), "s": n(number)}
        call(engine, "DeleteItem", TableName="notes", Key=key)


def put(engine: Engine, number: int, text: str = "balance") -> None:
    item = {"p": s(str(number % 7)), "s": n(number), "text": s(f"{text} {number}.")}
    if number % 3:
        item |= {"g": s(f"group {number % 5}"), "rank": n(-number)}
    call(engine, "PutItem", TableName="notes", Item=item)


@contextmanager
def open_engine(path: Path) -> Iterator[Engine]:
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        yield engine


def scrub_path(path: Path, *, repair: bool = False) -> Findings:
    with open_engine(path) as engine:
        return scrub(engine._database, repair=repair)


def test_a_sound_file_has_no_faults(path: Path) -> None:
    findings = scrub_path(path)
    assert findings.faults == []
    assert (findings.tables, findings.items, findings.records) == (1, 1_080, 1_320)
    assert findings.entries == 2 * 720


def test_progress_is_told_and_ends_at_the_end(path: Path) -> None:
    told: dict[str, tuple[int, int]] = {}
    with open_engine(path) as engine:
        scrub(engine._database, progress=lambda what, at, of: told.update({what: (at, of)}))
    assert "notes: items" in told and "notes: index by_group" in told and "notes: stream" in told
    assert all(at == of for at, of in told.values())


@pytest.mark.parametrize("letter", ["i2", "i3"])
def test_a_missing_and_a_stray_entry_are_found_and_repaired(path: Path, letter: str) -> None:
    change(path, lose(letter))
    change(path, f"UPDATE {letter} SET sk = x'ff' WHERE base = 77")
    found = scrub_path(path)
    assert any("lacks" in fault.what for fault in found.faults)
    assert any("that is not so" in fault.what for fault in found.faults)
    assert not any(fault.is_repaired for fault in found.faults)

    repaired = scrub_path(path, repair=True)
    assert len(repaired.faults) >= 3 and repaired.faults_left == []
    assert scrub_path(path).faults == []


def lose(rows: str) -> str:
    return f"DELETE FROM {rows} WHERE base IN (41, 44)"


def test_a_wrong_count_is_found_and_repaired(path: Path) -> None:
    change(path, "UPDATE counts SET items = items + 1, bytes = bytes - 5")
    assert len(scrub_path(path).faults) == 3
    assert scrub_path(path, repair=True).faults_left == []
    assert scrub_path(path).faults == []


def test_a_changed_item_is_found_by_its_size_and_its_stream(path: Path) -> None:
    table = physical(path, "t")
    change(path, f"UPDATE {table} SET size = size + 1 WHERE instr(item, 'balance 41.')")
    change(path, f"UPDATE {table} SET item = replace(item, 'e 44.', 'e 45.') WHERE id = 45")
    change(path, f"DELETE FROM {table} WHERE instr(item, 'balance 47.')")
    whats = " ".join(fault.what for fault in scrub_path(path).faults)
    assert '"s":{"N":"41"}} has' in whats
    assert "shows another item" in whats and "tells otherwise" in whats


def test_an_unreadable_item_is_named_and_not_repaired(path: Path) -> None:
    spoil_item(path, b"balance 41.")
    (fault,) = scrub_path(path, repair=True).faults_left
    assert fault.what == 'the item {"p":{"S":"6"},"s":{"N":"41"}} of table notes is damaged'


@pytest.mark.parametrize("spoiled", [b'{"p":{"R":"6"}}', b"[1]", b'{"p":5}'])
def test_an_item_of_odd_json_is_named_and_ends_nothing(path: Path, spoiled: bytes) -> None:
    table = physical(path, "t")
    change(path, f"UPDATE {table} SET item = ? WHERE instr(item, 'balance 41.')", spoiled)
    found = scrub_path(path, repair=True)
    assert found.items == 1_080 and found.records == 1_320
    assert any("is damaged" in fault.what for fault in found.faults_left)


def test_items_that_are_wrongly_listed_to_expire_are_found_and_repaired(path: Path) -> None:
    with open_engine(path) as engine:
        expiry = {"Enabled": True, "AttributeName": "s"}
        call(engine, "UpdateTimeToLive", TableName="notes", TimeToLiveSpecification=expiry)
        engine._housekeeper.round()
    assert scrub_path(path).faults == []
    listed = physical(path, "x")
    change(path, f"DELETE FROM {listed} WHERE second = 1199")
    change(path, f"UPDATE {listed} SET second = 7777 WHERE second = 1198")
    change(path, f"INSERT INTO {listed} VALUES (5, 999999)")
    assert len(scrub_path(path).faults) == 4
    assert scrub_path(path, repair=True).faults_left == []
    assert scrub_path(path).faults == []


def test_a_damaged_page_is_found_and_the_rest_is_still_looked_at(path: Path) -> None:
    flip(path, b"balance 41.")
    found = scrub_path(path)
    assert any("a damaged page" in fault.what for fault in found.faults)
    assert found.items == 1_080 or found.records == 1_320


def test_a_damaged_page_is_found_and_the_items_on_it_are_named(path: Path) -> None:
    flip_leaf(path, physical(path, "t"))
    found = scrub_path(path, repair=True)
    lost = [fault for fault in found.faults_left if "is on a damaged page" in fault.what]
    assert any(fault.what.startswith("the table has a damaged page") for fault in found.faults_left)
    assert found.items == 1_080 - len(lost) and 1 < len(lost) < 80
    assert all(fault.what.startswith('the item {"p":{"S":"') for fault in lost)


@pytest.mark.parametrize("rows", ["i2", "i3"])
def test_an_index_with_a_damaged_page_is_made_anew(path: Path, rows: str) -> None:
    flip_leaf(path, rows)
    name = "by_rank" if rows == "i2" else "by_group"
    found = scrub_path(path)
    assert any(fault.what.startswith(f"index {name} has a damaged") for fault in found.faults_left)
    assert found.items == 1_080

    assert scrub_path(path, repair=True).faults_left == []
    found = scrub_path(path)
    assert found.faults == [] and found.entries == 2 * 720
    with open_engine(path) as engine:
        engine.tidy()  # which drops the old one
        put(engine, 1, "anew")
        assert not all_rows(engine._database.file.writer, DISCARDED)
    assert scrub_path(path).faults == []


def test_a_damaged_index_that_was_deleted_can_be_dropped(path: Path) -> None:
    flip_leaf(path, "i3")
    with open_engine(path) as engine:
        deletion = {"Delete": {"IndexName": "by_group"}}
        call(engine, "UpdateTable", TableName="notes", GlobalSecondaryIndexUpdates=[deletion])
        engine.tidy()
        assert all_rows(engine._database.file.writer, DISCARDED)
        assert scrub(engine._database, repair=True).faults_left == []
        engine.tidy()
        assert not all_rows(engine._database.file.writer, DISCARDED)
    assert scrub_path(path).faults == []


DISCARDED = "SELECT name FROM sqlite_schema WHERE name GLOB 'discarded_*'"


def flip_leaf(path: Path, rows: str) -> None:
    """Flips a bit on a page in the middle of a table's leaves."""
    connection = apsw.Connection(str(path), vfs=checksum_vfs())
    query = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
    pages = [page for (page,) in connection.execute(query, (rows,))]
    connection.close()
    content = bytearray(path.read_bytes())
    content[pages[len(pages) // 2] * PAGE - 200] ^= 8
    path.write_bytes(content)


def test_writers_may_go_on_meanwhile(path: Path) -> None:
    stop = Event()
    with open_engine(path) as engine:

        def write() -> None:
            number = 0
            while not stop.is_set():
                put(engine, number % 2_000, f"again {number}")
                number += 1

        writing = begin(write)
        for _ in range(3):
            assert scrub(engine._database).faults == []
        stop.set()
        come(writing)


def test_changes_kept_tables_and_backups_are_looked_at(path: Path) -> None:
    recovery = {"PointInTimeRecoveryEnabled": True}
    with open_engine(path) as engine:
        call(
            engine,
            "UpdateContinuousBackups",
            TableName="notes",
            PointInTimeRecoverySpecification=recovery,
        )
        put(engine, 41, "changed")
        call(engine, "CreateBackup", TableName="notes", BackupName="mine")
        engine.tidy()
        call(engine, "DeleteTable", TableName="notes")
    found = scrub_path(path)
    assert found.faults == []
    assert (found.items, found.changes, found.backups) == (1_080, 2, 1)
    change(path, f"UPDATE {physical(path, 'l')} SET item = x'00' WHERE item IS NOT NULL")
    (fault,) = scrub_path(path).faults
    assert "is damaged" in fault.what
    (backup,) = path.with_name(path.name + "-backups").iterdir()
    backup.write_bytes(backup.read_bytes()[:-5])
    assert any("backup" in fault.what for fault in scrub_path(path).faults)
