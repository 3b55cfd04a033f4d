"""CSV as AWS documents it for imports, and as it is written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.formats import BadFile, Format, Record, read_records, row_line
from bigtime.formats.csv_items import read_rows


def read(tmp_path: Path, text: str, **options: Any) -> list[Record]:
    path = tmp_path / "items.csv"
    path.write_bytes(text.encode())
    return list(read_records(path, Format("CSV", **options)))


def puts(tmp_path: Path, text: str, **options: Any) -> list[Any]:
    return [record.change.put for record in read(tmp_path, text, **options)]


def test_columns_are_strings_but_for_keys(tmp_path: Path) -> None:
    assert puts(tmp_path, "id,price\n7,1.5\n", types={"id": "N"}) == [
        {"id": {"N": "7"}, "price": {"S": "1.5"}}
    ]


def test_the_header_may_be_given_and_then_the_first_row_is_an_item(tmp_path: Path) -> None:
    assert puts(tmp_path, "a|1\r\nb|2\r\n", delimiter="|", header=("id", "n")) == [
        {"id": {"S": "a"}, "n": {"S": "1"}},
        {"id": {"S": "b"}, "n": {"S": "2"}},
    ]


def test_doubled_quotes_are_quotes(tmp_path: Path) -> None:
    text = 'id,value\n"""123""",Women\'s Full Lenth Dress\n"a,b","two\nlines"\n'
    assert puts(tmp_path, text) == [
        {"id": {"S": '"123"'}, "value": {"S": "Women's Full Lenth Dress"}},
        {"id": {"S": "a,b"}, "value": {"S": "two\nlines"}},
    ]


def test_a_stray_quote_costs_its_row_alone(tmp_path: Path) -> None:
    found = read(tmp_path, 'id,value\na,5" disk\nb,"x"y\nc,"fine"\nd,z\n')
    assert [bool(record.fault) for record in found] == [True, True, False, False]
    assert "must be doubled" in found[0].fault


def test_a_quote_without_end_says_which_lines_it_took(tmp_path: Path) -> None:
    found = read(tmp_path, 'id,value\na,b\nc,"no end\nd,e\n')
    assert [record.line for record in found] == [2, 3]
    assert "no end" in found[1].fault
    assert "lines 3 to 4" in found[1].fault


def test_an_empty_value_is_an_empty_string_or_nothing(tmp_path: Path) -> None:
    text = 'id,a,b,n\nx,,"",\n'
    types = {"id": "S", "n": "N"}
    assert puts(tmp_path, text, types=types) == [{"id": {"S": "x"}, "a": {"S": ""}, "b": {"S": ""}}]
    assert puts(tmp_path, text, types=types, drops_empty=True) == [
        {"id": {"S": "x"}, "b": {"S": ""}}
    ]


def test_rows_of_another_length_and_other_encodings_are_faults(tmp_path: Path) -> None:
    found = read(tmp_path, "id,a\nx\ny,1,2\nz,1\n")
    assert "1 values and the header 2 names" in found[0].fault
    assert "3 values" in found[1].fault
    path = tmp_path / "latin.csv"
    path.write_bytes("id\ncafé\n".encode("latin-1"))
    (record,) = read_records(path, Format("CSV"))
    assert "save the file as UTF-8" in record.fault


@pytest.mark.parametrize("header", ["", "id,id", "id,,a"])
def test_a_header_needs_a_name_for_each_column(tmp_path: Path, header: str) -> None:
    with pytest.raises(BadFile, match=r"empty"):
        read(tmp_path, f"{header}\n")


def test_a_byte_order_mark_belongs_to_no_name(tmp_path: Path) -> None:
    assert puts(tmp_path, "\ufeffid,a\nx,1\n") == [{"id": {"S": "x"}, "a": {"S": "1"}}]


def test_typed_columns_hold_json(tmp_path: Path) -> None:
    types = {"ok": "BOOL", "tags": "SS", "m": "M"}
    text = 'id,ok,tags,m\nx,true,"[""a"",""b""]","{""n"":{""N"":""1""}}"\ny,maybe,,\n'
    found = read(tmp_path, text, types=types, drops_empty=True)
    assert found[0].change.put == {
        "id": {"S": "x"},
        "ok": {"BOOL": True},
        "tags": {"SS": ["a", "b"]},
        "m": {"M": {"n": {"N": "1"}}},
    }
    assert "ok: 'maybe' is no JSON" in found[1].fault


cells = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))


@given(st.lists(st.lists(cells, min_size=2), min_size=1), st.sampled_from(",;:|\t "))
def test_what_is_written_is_read_back(rows: list[list[str | None]], delimiter: str) -> None:
    text = b"".join(row_line(values, delimiter) for values in rows)
    lines = enumerate(text.removesuffix(b"\n").split(b"\n"), 1)
    assert [values for _, values in read_rows(lines, delimiter)] == rows
