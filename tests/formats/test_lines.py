"""Reading files of items: every format, plain and gzip, long lines, and what is damaged."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given

from bigtime.formats import (
    BadFile,
    Format,
    Record,
    compression_of,
    item_line,
    plain_line,
    read_records,
)
from bigtime.formats import lines as lines_module
from bigtime.wire import Item, check_item
from tests.strategies import items

EVERY_TYPE: Item = {
    "id": {"S": "a"},
    "text": {"S": 'quote " comma , line \n end \u2028 \U0001f600'},
    "empty": {"S": ""},
    "number": {"N": "12345678901234567890123456789012345678"},
    "small": {"N": "0.00000000000000000000000000000000000001"},
    "binary": {"B": "AAECAwQ="},
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "strings": {"SS": ["a", "b"]},
    "numbers": {"NS": ["-1", "2.5"]},
    "binaries": {"BS": ["AAE=", "AQI="]},
    "list": {"L": [{"N": "1"}, {"M": {"S": {"S": "x"}}}, {"L": []}]},
    "tag_like": {"M": {"SS": {"L": [{"S": "a"}]}}},
    "m_like": {"M": {"M": {"M": {"B": {"S": "AAE="}}}}},
}


PLAIN = Format()


def records(path: Path, format: Format = PLAIN, after: int = 0) -> list[Item | None]:
    return [record.change.put for record in read_records(path, format, after=after)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["DYNAMODB_JSON", "JSON_LINES"])
def test_every_type_comes_back(tmp_path: Path, packed: bool, kind: str) -> None:
    path = tmp_path / "items"
    line = (item_line if kind == "DYNAMODB_JSON" else plain_line)(EVERY_TYPE)
    path.write_bytes(gzip.compress(line * 2) if packed else line * 2)
    format = Format(kind, compression_of(path))  # type: ignore[arg-type]
    assert format.compression == ("GZIP" if packed else "NONE")
    assert records(path, format) == [EVERY_TYPE, EVERY_TYPE]
    assert records(path, format, after=1) == [EVERY_TYPE]


@given(items)
def test_plain_json_holds_every_item(item: Item) -> None:
    from bigtime.formats.json_lines import read_plain_item

    checked, _ = check_item(item)
    assert read_plain_item(plain_line(checked)) == checked


def test_numbers_in_plain_json_keep_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"id": "a", "n": 1234567890.1234567890123456789012345678, "e": -1e-7}\n')
    assert records(path, Format("JSON_LINES")) == [
        {
            "id": {"S": "a"},
            "n": {"N": "1234567890.1234567890123456789012345678"},
            "e": {"N": "-0.0000001"},
        }
    ]
    path.write_text('{"id": NaN}\n{"n": 1e999}\n[1]\n{"id": {"SS": "a"}}\n')
    assert records(path, Format("JSON_LINES")) == [None] * 4


def test_lines_of_an_incremental_export_put_and_delete(tmp_path: Path) -> None:
    path = tmp_path / "changes.json"
    path.write_text(
        '{"Metadata":{"WriteTimestampMicros":{"N":"1"}},"Keys":{"id":{"S":"a"}},'
        '"NewImage":{"id":{"S":"a"},"n":{"N":"1"}}}\n'
        '{"Metadata":{"WriteTimestampMicros":{"N":"2"}},"Keys":{"id":{"S":"b"}},'
        '"OldImage":{"id":{"S":"b"},"n":{"N":"1"}}}\n'
    )
    changes = [record.change for record in read_records(path, Format())]
    assert changes[0].put == {"id": {"S": "a"}, "n": {"N": "1"}}
    assert changes[1] == (None, {"id": {"S": "b"}})


def test_a_bad_line_says_what_to_do_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    huge = item_line({"id": {"S": "x" * 500_000}}).decode()
    path.write_text(
        '{"Item": {"id": {"S": "a"}}},\n\r\n{"id": 1}\n'
        + huge
        + '{"Item": {"id": {"N": "x"}}}\n{"Item": {"id": {"S": "z"}}}'
    )
    found = list(read_records(path, Format()))
    assert [record.line for record in found] == [1, 3, 4, 5, 6]
    assert "without a comma" in found[0].fault
    assert 'neither "Item"' in found[1].fault
    assert "409,600 at the most" in found[2].fault
    assert "cannot be converted to a numeric value: x" in found[3].fault
    assert found[4].change.put == {"id": {"S": "z"}}


def test_a_huge_line_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "LONGEST_LINE", 1000)
    monkeypatch.setattr(lines_module, "SKIPPED", 100)
    path = tmp_path / "items.json.gz"
    path.write_bytes(gzip.compress(b"x" * 5_000 + b"\n" + item_line({"id": {"S": "a"}})))
    found = list(read_records(path, Format(compression="GZIP")))
    assert found[0].fault == "the line is too long to hold an item"
    assert found[1].change.put == {"id": {"S": "a"}}


@pytest.mark.parametrize("cut", ["short", "flipped", "no gzip"])
def test_a_damaged_gzip_file_is_read_as_far_as_it_goes(tmp_path: Path, cut: str) -> None:
    path = tmp_path / "items.json.gz"
    packed = bytearray(
        gzip.compress(b"".join(item_line({"id": {"S": str(n) * 50}}) for n in range(20_000)))
    )
    if cut == "short":
        del packed[len(packed) // 2 :]
    elif cut == "flipped":
        packed[len(packed) // 2] ^= 255
    else:
        packed = bytearray(b'{"Item": {}}\n')
    path.write_bytes(packed)
    found: list[Record] = []
    with pytest.raises(BadFile) as caught:
        found.extend(read_records(path, Format(compression="GZIP")))
    assert str(path) in str(caught.value)
    assert caught.value.line == len(found)
    assert (len(found) > 100) == (cut != "no gzip")


@pytest.mark.parametrize(
    ("start", "name"),
    [(b"\x28\xb5\x2f\xfdabc", "zstd"), (b"\xe0\x01\x00\xea\x00", "Ion"), (b"$ion_1_0 {}", "Ion")],
)
def test_ion_and_zstd_are_refused_by_name(tmp_path: Path, start: bytes, name: str) -> None:
    path = tmp_path / "items"
    path.write_bytes(start)
    with pytest.raises(BadFile, match=name):
        compression_of(path)
    with pytest.raises(BadFile, match=name):
        records(path)
