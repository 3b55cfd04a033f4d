"""The records of a file of any format: each is a change to a table, or an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from bigtime.formats.csv_items import check_header, item_of_row, read_rows
from bigtime.formats.dynamodb_json import Change, change_of, condition_of, json_object
from bigtime.formats.json_lines import read_plain_item
from bigtime.formats.lines import BadFile, BadItem, BadLine, Compression, read_lines

Kind: TypeAlias = Literal["DYNAMODB_JSON", "JSON_LINES", "CSV"]

TOO_LONG = "the line is too long to hold an item"


@dataclass(frozen=True, slots=True)
class Format:
    """A file's format. The last four fields are for CSV.

    `types` has the columns other than strings. A missing value (nothing between two delimiters) is
    an empty string, as with AWS, or with `drops_empty` no attribute at all.
    """

    kind: Kind = "DYNAMODB_JSON"
    compression: Compression = "NONE"
    delimiter: str = ","
    header: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    drops_empty: bool = False


class Record(NamedTuple):
    """A line's change, or the reason why it has none.

    An `unreadable` line may not end where it seems to; a bad item affects no other line.
    `condition` has the parameters of a condition for putting the item.
    """

    line: int
    size: int
    change: Change
    fault: str = ""
    unreadable: bool = False
    condition: dict[str, Any] | None = None


def read_records(path: Path, format: Format, *, after: int = 0) -> Iterator[Record]:
    """The records that begin after that line; raises `BadFile` where the file is damaged."""
    if format.kind == "CSV":
        yield from read_csv(path, format, after)
        return
    for number, line in read_lines(path, format.compression):
        if number > after and (line is None or line.strip()):
            yield read_record(number, line, format.kind)


def read_record(number: int, line: bytes | None, kind: Kind) -> Record:
    if line is None:
        return Record(number, 0, Change(), TOO_LONG, unreadable=True)
    try:
        if kind == "JSON_LINES":
            return Record(number, len(line), Change(put=read_plain_item(line)))
        members = json_object(line)
        condition = condition_of(members)
        return Record(number, len(line), change_of(members), condition=condition)
    except BadLine as error:
        return faulty_record(number, len(line), error)


def faulty_record(number: int, size: int, fault: BadLine) -> Record:
    return Record(number, size, Change(), str(fault), not isinstance(fault, BadItem))


def read_csv(path: Path, format: Format, after: int) -> Iterator[Record]:
    rows = read_rows(read_lines(path, format.compression), format.delimiter)
    header = format.header
    if not header:
        number, first = next(rows, (0, BadLine("it is empty")))
        try:
            header = check_header(without_mark(row_values(first)))
        except BadLine as error:
            raise BadFile(path, f"line {number}: {error}.") from None
    for number, row in rows:
        if number <= after:
            continue
        try:
            values = row_values(row)
            size = sum(len(value or "") + 1 for value in values)
            item = item_of_row(header, values, format.types, drops_empty=format.drops_empty)
        except BadLine as error:
            yield faulty_record(number, 0, error)
        else:
            yield Record(number, size, Change(put=item))


def row_values(row: list[str | None] | BadLine) -> list[str | None]:
    if isinstance(row, BadLine):
        raise row
    return row


def without_mark(header: list[str | None]) -> list[str | None]:
    """Removes the byte order mark that spreadsheets put before the first name."""
    return [(header[0] or "").removeprefix("\ufeff"), *header[1:]]
