"""CSV as DynamoDB imports it: a header, then one item per row; all but keys are strings.

1. Rows end with a newline, values are separated by the delimiter. A value that holds a delimiter,
   a newline or a double quote is put in double quotes, and a quote inside it is doubled; a quote
   anywhere else is an error, as with AWS.
2. The first row is the header, unless the header is given separately: then it is an item.
3. Every row has as many values as the header has names.

AWS: "Amazon S3 import formats for DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataImport.Format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

import orjson

from bigtime.formats.dynamodb_json import checked_item
from bigtime.formats.lines import BadItem, BadLine
from bigtime.wire import AttributeValue, Item

LONGEST_ROW: Final = 4 * 1024 * 1024
QUOTE_REMEDY: Final = 'a double quote must be doubled, and its value put in quotes: "say ""hello"""'
BLANK: Final = ([b""], [b"\r"])
TEXTS: Final = frozenset({"S", "N", "B"})


# --- Rows ---------------------------------------------------------------------------------


def read_rows(
    lines: Iterable[tuple[int, bytes | None]], delimiter: str
) -> Iterator[tuple[int, list[str | None] | BadLine]]:
    """Each row with the number of its first line; None is an empty value without quotes."""
    row = Row()
    for number, line in lines:
        row.add(number, line)
        if not row.goes_on(delimiter):
            if row.lines not in BLANK:
                yield row.first, row.values(delimiter)
            row = Row()
    if row.lines:
        yield row.first, row.values(delimiter)


class Row:
    """The lines of a row: a quoted value may continue on the next line."""

    __slots__ = ("first", "last", "lines", "quotes", "size")

    def __init__(self) -> None:
        self.lines: list[bytes | None] = []
        self.first = self.last = self.size = self.quotes = 0

    def add(self, number: int, line: bytes | None) -> None:
        self.first = self.first or number
        self.last = number
        self.lines.append(line)
        if line is not None:
            self.size += len(line)
            self.quotes += line.count(b'"')

    def goes_on(self, delimiter: str) -> bool:
        """Whether a quoted value is still open; a stray quote must not swallow the next rows."""
        if self.quotes % 2 == 0 or self.size > LONGEST_ROW or self.lines[-1] is None:
            return False
        first = self.lines[0] or b""
        return len(self.lines) > 1 or bool(open_pattern(delimiter).fullmatch(first))

    def values(self, delimiter: str) -> list[str | None] | BadLine:
        try:
            if None in self.lines:
                raise BadLine("the row is too long to hold an item")
            if self.quotes % 2 and self.goes_on(delimiter):
                raise BadLine(f"a quoted value that begins here has no end: {QUOTE_REMEDY}")
            text = b"\n".join(line or b"" for line in self.lines).decode()
            return split_row(text.removesuffix("\r"), delimiter)
        except UnicodeDecodeError as error:
            return BadLine(f"it is no UTF-8 (byte {error.start + 1}): save the file as UTF-8")
        except BadLine as error:
            if self.last == self.first:
                return error
            return BadLine(f"{error} (the row takes lines {self.first:,} to {self.last:,})")


@cache
def open_pattern(delimiter: str) -> re.Pattern[bytes]:
    """Matches a line that ends inside a quoted value."""
    mark = re.escape(delimiter)
    value = rf'(?:"(?:[^"]|"")*+"|[^"{mark}]*+){mark}'
    return re.compile(rf'(?:{value})*+"(?:[^"]|"")*+'.encode(), re.DOTALL)


def split_row(text: str, delimiter: str) -> list[str | None]:
    if '"' not in text:
        return [value or None for value in text.split(delimiter)]
    values: list[str | None] = []
    position = 0
    match_value = value_pattern(delimiter).match
    while True:
        found = match_value(text, position)
        if found is None:
            raise BadLine(f"value {len(values) + 1} has a stray double quote: {QUOTE_REMEDY}")
        quoted, plain = found.groups()
        values.append((plain or None) if quoted is None else quoted.replace('""', '"'))
        position = found.end()
        if position == len(text):
            return values
        position += len(delimiter)


@cache
def value_pattern(delimiter: str) -> re.Pattern[str]:
    mark = re.escape(delimiter)
    return re.compile(rf'(?:"((?:[^"]|"")*+)"|([^"{mark}]*+))(?={mark}|\Z)', re.DOTALL)


def row_line(values: Iterable[str | None], delimiter: str = ",") -> bytes:
    return (delimiter.join(written_value(value, delimiter) for value in values) + "\n").encode()


def written_value(value: str | None, delimiter: str) -> str:
    if value is None:
        return ""
    if not value or any(mark in value for mark in (delimiter, '"', "\n", "\r")):
        return '"' + value.replace('"', '""') + '"'
    return value


# --- Items --------------------------------------------------------------------------------


def item_of_row(
    header: Sequence[str],
    values: Sequence[str | None],
    types: Mapping[str, str],
    *,
    drops_empty: bool,
) -> Item:
    """A row's item. `types` has the columns other than strings; key columns are never empty."""
    if len(values) != len(header):
        raise BadItem(
            f"the row has {len(values)} values and the header {len(header)} names: quote values "
            "that hold the delimiter"
        )
    item: Item = {}
    for name, value in zip(header, values, strict=True):
        if value is None and (drops_empty or name in types):
            continue
        item[name] = typed_value(name, value or "", types.get(name, "S"))
    return checked_item(item)


def typed_value(name: str, text: str, type: str) -> AttributeValue:
    if type in TEXTS:
        return {type: text}
    try:
        return {type: orjson.loads(text)}
    except orjson.JSONDecodeError:
        raise BadItem(
            f"{name}: {text[:40]!r} is no JSON, which a column of type {type} holds"
        ) from None


def cell_of(value: AttributeValue | None) -> str | None:
    """A value as a cell: strings, numbers and base64 as they are, all others as JSON."""
    if value is None:
        return None
    ((tag, content),) = value.items()
    return content if tag in TEXTS else orjson.dumps(content).decode()


def check_header(header: Sequence[str | None]) -> tuple[str, ...]:
    names = tuple(name for name in header if name)
    if len(names) < len(header) or len(set(names)) < len(names):
        raise BadLine("the header has an empty or a repeated name: each column needs its own")
    return names
