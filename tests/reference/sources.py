"""Files in a bucket for an import or a bulk put: lines with items, and lines that are refused.

A key is in one line only: "the duplicate items will be overwritten in random order"
(developerguide/S3DataImport.Validation.html).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bigtime.wire import Params

BUCKET = "bucket"
NO_BUCKET = "no-such-bucket"
PARTITIONS = "abcdef"
CSV_NAMES = ("p", "s", "colour", "n")
BROKEN = '{"Item": '
FAULTS: tuple[Params, ...] = (
    {"n": {"N": "1"}},
    {"p": {"N": "1"}, "s": {"S": "x"}},
    {"p": {"S": ""}, "s": {"S": "x"}},
    {"p": {"S": "z"}, "s": {"S": "x"}, "colour": {"N": "1"}},
    {"p": {"S": "z"}, "s": {"S": "x"}, "colour": {"S": ""}},
)
"""No key, one of another type, an empty one; a key of an index of another type, an empty one."""


@dataclass(frozen=True)
class Line:
    """An item that can be put, or one that cannot; `exists` is the condition for a bulk put."""

    text: str
    item: Params | None = None
    exists: bool | None = None


@dataclass(frozen=True)
class Source:
    bucket: str
    prefix: str
    format: str = "DYNAMODB_JSON"
    compression: str = "NONE"
    options: Params | None = None
    lines: tuple[Line, ...] = ()
    size: int | None = 0
    """Before compression; None if AWS does not say what belongs to it."""

    @property
    def items(self) -> list[Params]:
        return [line.item for line in self.lines if line.item is not None]

    @property
    def place(self) -> Params:
        return {"S3Bucket": self.bucket, "S3KeyPrefix": self.prefix}


def write_source(
    folder: Path, dice: Random, prefix: str, *, has_sort_key: bool, into_table: bool
) -> Source:
    """One for a table of that key. Only what goes into a table that is there has conditions."""
    if dice.random() < 0.1:
        return Source(NO_BUCKET, prefix)
    if not into_table and dice.random() < 0.3:
        return write_csv(folder, dice, prefix, has_sort_key=has_sort_key)
    partitions = iter(dice.sample(PARTITIONS, len(PARTITIONS)))
    objects = [
        make_lines(dice, partitions, has_sort_key=has_sort_key, into_table=into_table)
        for _ in range(dice.randrange(4))
    ]
    compression = dice.choice(("NONE", "GZIP"))
    for number, lines in enumerate(objects):
        text = "".join(f"{line.text}\n" for line in lines)
        write_object(folder, f"{prefix}{number}.json", text, compression)
    found = tuple(line for lines in objects for line in lines)
    is_broken = any(line.text == BROKEN for line in found)
    size = None if is_broken else sum(len(line.text) + 1 for line in found)
    return Source(BUCKET, prefix, "DYNAMODB_JSON", compression, None, found, size)


def make_lines(
    dice: Random, partitions: Iterator[str], *, has_sort_key: bool, into_table: bool
) -> list[Line]:
    """The lines of an object; one that cannot be read at all ends it."""
    lines: list[Line] = []
    for _ in range(dice.randrange(4)):
        if dice.random() < 0.2:
            lines.append(Line(json.dumps({"Item": dice.choice(FAULTS)})))
        elif partition := next(partitions, None):
            item = make_item(dice, partition, has_sort_key=has_sort_key)
            exists = dice.choice((None, None, True, False)) if into_table else None
            lines.append(Line(json.dumps({"Item": item, **condition(exists)}), item, exists))
    if dice.random() < 0.1:
        lines.append(Line(BROKEN))
    return lines


def make_item(dice: Random, partition: str, *, has_sort_key: bool) -> Params:
    return {
        "p": {"S": partition},
        **({"s": {"S": dice.choice("xy")}} if has_sort_key else {}),
        **({"colour": {"S": dice.choice(("red", "blue"))}} if dice.random() < 0.5 else {}),
        "n": {"N": str(dice.randrange(100))},
    }


def condition(exists: bool | None) -> Params:
    if exists is None:
        return {}
    name = "attribute_exists" if exists else "attribute_not_exists"
    return {"ConditionExpression": f"{name}(p)"}


def write_csv(folder: Path, dice: Random, prefix: str, *, has_sort_key: bool) -> Source:
    """ "All fields other than keys are strings" (developerguide/S3DataImport.Format.html)."""
    delimiter = dice.choice((None, ";"))
    names = [name for name in CSV_NAMES if has_sort_key or name != "s"]
    with_header = dice.random() < 0.5
    csv = {
        **({"Delimiter": delimiter} if delimiter else {}),
        **({} if with_header else {"HeaderList": names}),
    }
    rows = [names] if with_header else []
    lines = []
    for partition in dice.sample(PARTITIONS, dice.randrange(1, 4)):
        values = {"p": partition, "s": "x", "colour": "red", "n": str(dice.randrange(100))}
        rows.append([values[name] for name in names])
        lines.append(Line("", {name: {"S": values[name]} for name in names}))
    text = "".join(f"{(delimiter or ',').join(row)}\n" for row in rows)
    write_object(folder, f"{prefix}rows.csv", text, "NONE")
    return Source(BUCKET, prefix, "CSV", "NONE", {"Csv": csv} if csv else None, tuple(lines), None)


def write_object(folder: Path, key: str, text: str, compression: str) -> None:
    path = folder / BUCKET / key
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    path.write_bytes(gzip.compress(content) if compression == "GZIP" else content)
