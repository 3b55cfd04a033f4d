"""Problems that a design will run into as it grows.

- hot-partition: all items of an entity share one partition of an index, or a few. A partition
  serves 3,000 read and 1,000 write units a second; no setting raises that.
- duplicate-index: an index that has the keys of another. Every write pays for both.
- unbounded-collection: a list, set or map inside an item, without a declared maximum length. An
  item is limited to 400 KB.
- large-item: the declared maximum lengths add up to nearly 400 KB. Text is counted at four bytes
  a character, the most that UTF-8 takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from math import prod
from types import UnionType
from typing import Literal, Union, get_args, get_origin

from pydantic import BaseModel

from bigtime import model as bt
from bigtime.advisor.sample import constraints, limit

MAX_ITEM_BYTES = 409_600
NEAR = MAX_ITEM_BYTES * 4 // 5
BYTES_A_CHARACTER = 4
SCALAR_BYTES = 32
COLLECTIONS = (list, tuple, set, frozenset, dict)


def check_design(system: bt.System) -> Iterator[Finding]:
    for table in system.tables:
        yield from duplicate_indexes(table)
        for entity in table.entities:
            yield from hot_partitions(entity)
            yield from unbounded_collections(entity)
            yield from large_item(entity)


# Partitions


def hot_partitions(entity: type[bt.Entity]) -> Iterator[Finding]:
    for name, key in entity.layout.keys.items():
        partitions = partition_count(entity.layout, key)
        if partitions is None:
            continue
        subject = entity.__name__ if name == bt.MAIN else f"{entity.__name__}.{name}"
        templates = ", ".join(repr(part.template.text) for part in key.hash)
        many = "one partition" if partitions == 1 else f"{partitions} partitions"
        yield Finding(
            "hot-partition",
            subject,
            f"its partition key {templates} puts all items into {many}, each good for 3,000 reads"
            " and 1,000 writes a second",
            "add a field with many values, a time bucket or a shard to the key; or cache it",
        )


def partition_count(layout: bt.Layout, key: bt.EntityKey) -> int | None:
    """How many partitions there can be; None if unknown, or if they are shards."""
    counts = []
    for part in key.hash:
        for name in part.template.fields:
            values = value_count(layout, name)
            if values is None:
                return None
            counts.append(values)
    return prod(counts)


def value_count(layout: bt.Layout, field: str) -> int | None:
    """How many values a field can have, if they are few."""
    if isinstance(layout.entity.model_fields[field].default_factory, bt.Sharding):
        return None
    kind, _ = bt.unwrap(bt.field_annotation(layout.entity, field))
    if get_origin(kind) is Literal:
        return len(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return len(kind)
    return 2 if kind is bool else None


# Indexes


def duplicate_indexes(table: bt.Table) -> Iterator[Finding]:
    for index, other in combinations((table.main, *table.indexes), 2):
        same = same_keys(table, index, other)
        if same:
            first = "the table itself" if index.name == bt.MAIN else index.name
            yield Finding(
                "duplicate-index",
                f"{table.name}.{other.name}",
                f"it has the same {same} as {first}, and every write pays for both",
                f"drop it, and ask {first} instead",
            )


def same_keys(table: bt.Table, index: bt.Index, other: bt.Index) -> str | None:
    """The keys that two indexes share, if that makes one of them superfluous."""
    if (index.hash, index.range) == (other.hash, other.range):
        return "key attributes"
    held, also = key_templates(table, index), key_templates(table, other)
    return "entities under the same keys" if also and held.items() >= also.items() else None


def key_templates(table: bt.Table, index: bt.Index) -> dict[str, tuple[str, ...]]:
    return {
        entity.__name__: tuple(part.template.text for part in entity.layout.keys[index.name].parts)
        for entity in table.entities
        if index.name in entity.layout.keys
    }


# Items


def unbounded_collections(entity: type[bt.Entity]) -> Iterator[Finding]:
    for path in unbounded_paths(entity):
        yield Finding(
            "unbounded-collection",
            f"{entity.__name__}.{path}",
            "nothing says how long it may get, and an item ends at 400 KB",
            "declare Field(max_length=...), or make an entity of its elements",
        )


def unbounded_paths(kind: type[BaseModel], above: tuple[type, ...] = ()) -> Iterator[str]:
    """The fields of a model, and of models inside it, that may grow without limit."""
    for name in kind.model_fields:
        for path in unbounded_in(bt.field_annotation(kind, name), (*above, kind)):
            yield f"{name}{path}"


def unbounded_in(annotation: object, above: tuple[type, ...]) -> Iterator[str]:
    kind, marks = bt.unwrap(annotation)
    origin = get_origin(kind) or kind
    if origin in (Union, UnionType):
        for choice in get_args(kind):
            yield from unbounded_in(choice, above)
    if not isinstance(origin, type) or origin in above:
        return
    if issubclass(origin, BaseModel):
        yield from (f".{path}" for path in unbounded_paths(origin, above))
    elif is_collection(origin):
        if limit(constraints(marks), "max_length") is None and not is_fixed(kind):
            yield ""
        for inner in get_args(kind):
            yield from unbounded_in(inner, above)


def is_collection(kind: type) -> bool:
    return issubclass(kind, COLLECTIONS) or (
        issubclass(kind, (Mapping, Sequence)) and not issubclass(kind, (str, bytes))
    )


def is_fixed(kind: object) -> bool:
    """Whether a type is a tuple of fixed length."""
    return get_origin(kind) is tuple and Ellipsis not in get_args(kind)


def large_item(entity: type[bt.Entity]) -> Iterator[Finding]:
    sizes = {
        name: len(entity.layout.names[name])
        + greatest(bt.field_annotation(entity, name), (entity,))
        for name in entity.model_fields
    }
    total = sum(sizes.values())
    if total < NEAR:
        return
    largest = max(sizes, key=lambda name: sizes[name])
    yield Finding(
        "large-item",
        entity.__name__,
        f"by the lengths that its fields declare it can get {total:,} bytes long, most of it in"
        f" {largest}, and DynamoDB takes {MAX_ITEM_BYTES:,}",
        f"allow less, or keep {largest} in entities of its own, or in S3",
    )


def greatest(annotation: object, above: tuple[type, ...]) -> int:
    """The most bytes a value can take, as declared; parts without a limit count little."""
    kind, marks = bt.unwrap(annotation)
    origin = get_origin(kind) or kind
    if not isinstance(origin, type) or origin in above:
        return SCALAR_BYTES
    most = limit(constraints(marks), "max_length")
    if issubclass(origin, BaseModel):
        return sum(
            len(name) + greatest(bt.field_annotation(origin, name), (*above, origin)) + 1
            for name in origin.model_fields
        )
    if is_collection(origin):
        each = sum((greatest(arg, above) for arg in get_args(kind) if arg is not Ellipsis), 1)
        return 3 + each * (1 if most is None or is_fixed(kind) else most)
    if most is None:
        return SCALAR_BYTES
    return most if issubclass(origin, bytes) else most * BYTES_A_CHARACTER


# --- Findings ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that deserves attention, and what to do about it."""

    code: str
    """The kind: `scan`, `hot-partition`, `dry-run` and so on."""
    subject: str
    """The pattern, entity or index that it is about."""
    sentence: str
    """What was found."""
    remedy: str
    """What to do about it."""
    accepted: str | None = None
    """Why it is intended, if the system or the pattern says so."""

    @property
    def key(self) -> str:
        """Its key in a system's `accepted`."""
        return f"{self.code} {self.subject}"

    def __str__(self) -> str:
        said = f"{self.key}: {self.sentence}; {self.remedy}"
        return said if self.accepted is None else f"{said} (accepted: {self.accepted})"
