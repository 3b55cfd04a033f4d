"""What a pattern returned, for a person and for a program.

A record is a table of two columns, several are a table with a row each; what does not fit a cell,
such as the deals on a page, follows under its name. A page that is not the last one ends with the
option that brings the next. Fields that are secret are never shown.
"""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import typer
from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bigtime.model import Cursors, Page

WIDE = 2_000


def cursors() -> Cursors:
    """Whoever types can read the tables anyway: this secret only guards against slips."""
    return Cursors(["typed at the command line"])


# Values


def fields_of(value: Any) -> dict[str, Any] | None:
    """The fields of a record that may be shown; None for what is no record."""
    if isinstance(value, BaseModel):
        fields_shown = (type(value).model_fields, type(value).model_computed_fields)
        shown = [name for some in fields_shown for name, field in some.items() if field.repr]
        return {name: getattr(value, name) for name in shown}
    if isinstance(value, (Page, type)):
        return None
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value) if one.repr}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    return None


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    record = fields_of(value)
    match value if record is None else record:
        case Page() as page:
            told: Any = {"items": plain(page.items), "after": cursors().write(page.position)}
        case Enum() as member:
            told = plain(member.value)
        case Mapping() as mapping:
            told = {str(plain(name)): plain(one) for name, one in mapping.items()}
        case AbstractSet() as members:
            told = sorted(map(plain, members), key=str)
        case list() | tuple() as values:
            told = [plain(one) for one in values]
        case bytes() as data:
            told = b64encode(data).decode()
        case other:
            told = to_jsonable_python(other, fallback=str)
    return told


def cell(value: Any) -> str:
    """A value in a cell of a table."""
    told = plain(value)
    if told is None:
        return ""
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)


def is_record(value: Any) -> bool:
    return fields_of(value) is not None


def fits_a_cell(value: Any) -> bool:
    if is_record(value) or isinstance(value, Page):
        return False
    return not (isinstance(value, (list, tuple)) and any(map(is_record, value)))


# On the screen


def show_json(value: Any) -> None:
    typer.echo(json.dumps(plain(value), indent=2, ensure_ascii=False))


def screen_for_tables() -> Console:
    """A terminal is as wide as it is; in a pipe, a row stays one line."""
    is_free = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(highlight=False, markup=False, width=WIDE if is_free else None)


def show(value: Any, *, after: str) -> None:
    """Prints a result; `after` is the option that takes a page's cursor."""
    screen = screen_for_tables()
    before: Table | str = ""
    for one in result_parts(value, after):
        if one or before:  # an empty line stands only between others
            screen.print(one, soft_wrap=isinstance(one, str))
        before = one


def result_parts(value: Any, after: str) -> Iterator[Table | str]:
    record = fields_of(value)
    if record is not None:
        yield from record_parts(record, after)
    elif isinstance(value, Page):
        yield from list_parts(value.items)
        if value.position is not None:
            yield f"There is more: {after} {cursors().write(value.position)}"
    elif isinstance(value, tuple) and not all(map(is_record, value)):
        for one in value:
            yield ""
            yield from result_parts(one, after)
    elif isinstance(value, (list, tuple, AbstractSet)):
        yield from list_parts(value)
    else:
        yield cell(value) or "nothing"


def record_parts(record: Mapping[str, Any], after: str) -> Iterator[Table | str]:
    cells = {name: cell(value) for name, value in record.items() if fits_a_cell(value)}
    if cells:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, text in cells.items():
            table.add_row(Text(name, "bold"), Text(text, overflow="fold"))
        yield table
    for name in [name for name in record if name not in cells]:
        yield ""
        yield f"{name}:"
        yield from result_parts(record[name], after)


def list_parts(values: Iterable[Any]) -> Iterator[Table | str]:
    """A table for each kind of record, and a line for each other value."""
    kinds: dict[type, list[Any]] = {}
    for value in values:
        kinds.setdefault(type(value), []).append(value)
    if not kinds:
        yield "none"
    for kind, alike in kinds.items():
        if len(kinds) > 1:
            yield f"{kind.__name__}:"
        if is_record(alike[0]):
            yield rows_of(alike)
        else:
            yield from map(cell, alike)


def rows_of(records: Sequence[Any]) -> Table:
    """A row for each record; a column that is empty in all of them is left out."""
    rows = [
        {name: cell(one) for name, one in (fields_of(record) or {}).items()} for record in records
    ]
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    table = Table(*names, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(row[name], overflow="fold") for name in names))
    return table
