"""Bits that rotted: a wrong page is never served, and says that asking again is no use."""

from __future__ import annotations

import logging
from pathlib import Path

import apsw
import pytest

from bigtime.engine import Engine, FileFormatError
from bigtime.engine.storage import DamagedFileException, checksums
from bigtime.engine.storage.keys import KeyCodec, number_bytes, number_text
from bigtime.wire import Request
from tests.engine import vectors
from tests.engine.calls import call, index, key_schema, make_table, n, s
from tests.engine.damage import PAGE, flip, spoil_item

GSI = index("by_group", key_schema("g", "p"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Sixty items of 1 KB, `p` from 0 to 59, with an index and a stream."""
    path = tmp_path / "notes.db"
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        make_table(
            engine,
            {"p": "S", "s": "N", "g": "S"},
            name="notes",
            globally=(GSI,),
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        )
        for number in range(60):
            note = {"p": s(str(number)), "s": n(number - 7.5), "g": s("all")}
            note |= {"text": s(f"balance {number}: 1000" + "." * 1_000)}
            call(engine, "PutItem", TableName="notes", Item=note)
    return path


def scan(engine: Engine, **params: object) -> set[str]:
    """Every `p` that a Scan shows, page by page."""
    found: set[str] = set()
    start: dict[str, object] = {}
    while True:
        page = call(engine, "Scan", TableName="notes", **params, **start)
        found |= {item["p"]["S"] for item in page["Items"]}
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def key(number: int) -> dict[str, object]:
    return {"p": s(str(number)), "s": n(number - 7.5)}


def test_a_new_file_has_a_checksum_on_each_page(path: Path) -> None:
    content = path.read_bytes()
    assert content[20] == checksums.RESERVED_BYTES
    connection = apsw.Connection(str(path), vfs=checksums.checksum_vfs())
    for start in range(0, len(content), PAGE):
        page = content[start : start + PAGE]
        assert connection.execute("SELECT verify_checksum(?)", (page,)).get == 1
    connection.close()


def test_a_flipped_bit_is_an_error_that_is_not_to_be_repeated(path: Path) -> None:
    flip(path, b"balance 7: 1000", after=11)
    with Engine.open(path, housekeeping=False) as engine:
        with pytest.raises(DamagedFileException) as caught:
            scan(engine)
        assert "damaged" in str(caught.value) and "scrub" in str(caught.value)
        assert "retry" not in str(caught.value).lower()
        assert caught.value.status == 400


def test_a_write_to_a_damaged_page_is_refused_and_changes_nothing(path: Path) -> None:
    flip(path, b"balance 7: 1000", after=11)
    with Engine.open(path, housekeeping=False) as engine:
        for _ in range(2):
            with pytest.raises(DamagedFileException):
                call(engine, "PutItem", TableName="notes", Item={**key(7), "text": s("new")})
        other = {**key(1_000), "text": s("new")}
        call(engine, "PutItem", TableName="notes", Item=other)
        assert call(engine, "GetItem", TableName="notes", Key=key(1_000))["Item"] == other


def test_a_damaged_file_is_refused_with_a_sentence(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="damaged"):
        Engine.open(path)


def test_a_header_that_denies_the_checksums_is_refused(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for reserved in (0, 9, 12):
        content[20] = reserved
        path.write_bytes(content)
        with pytest.raises((FileFormatError, apsw.Error)):
            Engine.open(path)
        assert path.read_bytes() == content


def test_without_the_extension_a_file_with_checksums_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.engine.storage.file.checksum_vfs", lambda over: None)
    content = path.read_bytes()
    with pytest.raises(FileFormatError, match="cksumvfs"):
        Engine.open(path)
    assert path.read_bytes() == content


def test_without_the_extension_a_new_file_has_no_checksums_and_keeps_working(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plain.db"
    monkeypatch.setattr("bigtime.engine.storage.file.checksum_vfs", lambda over: None)
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="plain", keys=("p",))
    assert path.read_bytes()[20] == 0
    monkeypatch.undo()
    with Engine.open(path, housekeeping=False) as engine:
        call(engine, "PutItem", TableName="plain", Item={"p": s("a")})


def test_checksums_stand_over_any_other_vfs(path: Path) -> None:
    flip(path, b"balance 7: 1000", after=11)
    engine = Engine.open(path, vfs="unix-excl", housekeeping=False)
    with engine, pytest.raises(DamagedFileException):
        scan(engine)


# --- One item -----------------------------------------------------------------------------------


def test_an_unreadable_item_is_named_and_the_others_are_scanned(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spoil_item(path, b"balance 7:")
    everything = {str(number) for number in range(60)}
    with Engine.open(path, housekeeping=False) as engine:
        for params in ({}, {"Limit": 1}, {"Limit": 7}, {"IndexName": "by_group", "Limit": 4}):
            caplog.clear()
            with caplog.at_level(logging.ERROR, "bigtime.engine"):
                assert scan(engine, **params) == everything - {"7"}
            assert 'the item {"p":{"S":"7"},"s":{"N":"-0.5"}} of table notes' in caplog.text
        page = call(engine, "Scan", TableName="notes", Select="COUNT")
        assert page["Count"] in (59, 60)


def test_an_unreadable_item_is_named_and_the_others_are_searched(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Engine.open(tmp_path / "notes.db", housekeeping=False) as engine:
        table = vectors.make(engine, vectors.vector_index())
        for id in ("a", "b", "c"):
            vectors.put(engine, table, id, 1, 2, 3, text=s(f"text {id}"))
    spoil_item(tmp_path / "notes.db", b"text b")
    with Engine.open(tmp_path / "notes.db", housekeeping=False) as engine:
        assert vectors.ids(vectors.search(engine, table, 1, 2, 3)) == ["a", "c"]
    assert f'the item {{"id":{{"S":"b"}}}} of table {table}' in caplog.text


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("GetItem", {"TableName": "notes", "Key": key(7)}),
        ("BatchGetItem", {"RequestItems": {"notes": {"Keys": [key(6), key(7)]}}}),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "notes", "Key": key(7)}}]}),
        ("PutItem", {"TableName": "notes", "Item": key(7)}),
        ("DeleteItem", {"TableName": "notes", "Key": key(7)}),
    ],
)
def test_a_call_for_an_unreadable_item_is_told_which(
    path: Path, operation: str, params: dict[str, object]
) -> None:
    spoil_item(path, b"balance 7:")
    with Engine.open(path, housekeeping=False) as engine:
        with pytest.raises(DamagedFileException) as caught:
            engine(Request(operation, params))
        assert 'The item {"p":{"S":"7"},"s":{"N":"-0.5"}} of table notes' in str(caught.value)
        assert len(scan(engine)) == 59


@pytest.mark.parametrize(
    "number", ["0", "1", "-1", "10", "0.01", "123456789.000001", "-99e120", "1e-130", "-0.05"]
)
def test_a_number_is_read_back_from_its_bytes(number: str) -> None:
    assert number_bytes(number_text(number_bytes(number))) == number_bytes(number)


def test_keys_of_several_attributes_are_read_back() -> None:
    from bigtime.engine.storage import KeyAttribute

    attributes = tuple(KeyAttribute(name, name) for name in ("S", "N", "B"))
    item = {"S": {"S": "a\x00b"}, "N": {"N": "-12.5"}, "B": {"B": "AAEA"}}
    codec = KeyCodec(attributes, attributes)
    assert codec.key(codec.partition(item), codec.sort(item)) == item
