"""Bucket lists: which days, hours or months of an index hold any items.

    list_buckets(Deal, "GSI1", "GSI2", "GSI3")

Items in time buckets lie in one partition per bucket, and DynamoDB cannot say which partitions hold
any. So the buckets are listed: each has a small item, a `BucketEntry`. The buckets that differ
only in their time, such as those of `BRAND#APPLE#{created_at:day}`, are a series, and the
entries of a series share one partition of the table, in order of time.

1. An entry is put before the first item of its bucket is written, by every operation that writes
   the entity: put, update, transact, put_many, load_many. So a bucket without an entry is empty.
2. The put has no condition and may be repeated. A store remembers its own puts for an hour
   (`Recall`, `Remember`), so that only its first write to a bucket costs an extra request.
3. A bucket whose write was refused, or whose items are gone, stays listed, and costs its readers a
   request, until `unlist_empty_buckets` deletes its entry.
4. `verify` finds items whose bucket has no entry, because other code wrote them or they are older
   than the list's declaration; `repair` adds the entry.

Stores that remember an entry do not check whether it still exists. So an entry is deleted in two
rounds, two hours apart: the first marks the entry of an empty bucket with the time, the second
deletes it if the bucket is still empty and the mark still there. A put of the entry removes the
mark. An hour after the mark, every store has forgotten its earlier put, and puts the entry again
before it writes to the bucket; the second hour allows for clocks, retries and lagging indexes. A
process that pauses for an hour between putting an entry and its item may leave the item unlisted:
`verify` finds it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import new_class
from typing import Any, Final, TypeAlias

from pydantic import Field as Described

from bigtime.model.errors import DesignError
from bigtime.model.operations.batch import write_many
from bigtime.model.schema import (
    Entity,
    EntityKey,
    Field,
    KeyPart,
    Keys,
    Layout,
    Table,
    fields_of,
    key_in,
)
from bigtime.wire import Recall, Remember, Request, Steps

LIST_PREFIX: Final = "BUCKETS#"
ENTRY_PREFIX: Final = "BUCKET#"
REMEMBERED_FOR: Final = timedelta(hours=1)
"""How long a store remembers that it has listed a bucket."""
MARKED_FOR: Final = 2 * REMEMBERED_FOR
"""How long the entry of an empty bucket stays after it has been marked."""
Fields: TypeAlias = Mapping[str, Any]
Place: TypeAlias = tuple[str, ...]
"""Identifies a bucket's partition: table, entity, index, and the texts of its key."""


class BucketEntry(Entity):
    """That a bucket of a series may hold items; `emptied_at` is when it was seen to hold none."""

    series: str
    bucket: str = Described(examples=["2026-01-01"])
    emptied_at: datetime | None = None


def entry_in(table: Table) -> type[BucketEntry]:
    """The BucketEntry entity of a table, declared with its first bucket list."""
    for entity in table.entities:
        if issubclass(entity, BucketEntry):
            return entity
    if [attribute.type for attribute in table.main.attributes] != ["S", "S"]:
        raise DesignError(
            f"table {table.name} lists buckets in the order of its sort key; give it a partition"
            " key and a sort key of type S"
        )
    keys = Keys(main=(LIST_PREFIX + "{series}", ENTRY_PREFIX + "{bucket}"))
    namespace = {"__module__": __name__, "__doc__": BucketEntry.__doc__, "keys": keys}
    return new_class(
        BucketEntry.__name__,
        (BucketEntry,),
        {"table": table},
        lambda body: body.update(namespace),
    )


@dataclass(frozen=True, slots=True, eq=False)
class BucketList:
    """The buckets of one index of an entity."""

    layout: Layout
    index: str
    entry: type[BucketEntry]

    @property
    def key(self) -> EntityKey:
        return self.layout.keys[self.index]

    @property
    def field(self) -> Field:
        """The field whose time selects the bucket."""
        return bucket_fields(self.key)[0]

    def place(self, fields: Fields) -> Place | None:
        """The bucket of an item with these fields; None if it is not in the index."""
        key = self.key
        if key.only and not key.holds(fields):
            return None
        texts = [self.layout.table.name, self.layout.entity.__name__, self.index]
        for part in key.hash:
            value = part.value(fields)
            if value is None:
                return None
            texts += value.values()
        return tuple(texts)

    def series(self, fields: Fields) -> str:
        """The name of the series of these fields: the key with its time left open."""
        texts = [open_text(part, fields) for part in self.key.hash]
        name = f"{self.layout.entity.__name__}.{self.index}"
        return f"{name}#{texts[0] if len(texts) == 1 else json.dumps(texts)}"

    def entry_of(self, fields: Fields) -> BucketEntry:
        field = self.field
        bucket = field.encoding.encode(fields[field.name])
        return self.entry(series=self.series(fields), bucket=bucket)


def open_text(part: KeyPart, fields: Fields) -> str:
    """A key attribute with the bucket's unit, such as `day`, in place of the time."""
    if part.form is not None:
        (text,) = (part.value(fields) or {}).values()
        return str(text)
    template = part.template
    return "".join(
        each
        if isinstance(each, str)
        else each.encoding.bucket or each.text(fields[each.name], template.text)
        for each in template.parts
    )


def bucket_fields(key: EntityKey) -> list[Field]:
    fields = (field for part in key.hash for field in fields_of(part.template.parts))
    return [field for field in fields if field.encoding.bucket is not None]


class BucketLists:
    """The bucket lists of one entity, which its layout consults on every write."""

    def __init__(self) -> None:
        self.by_index: dict[str, BucketList] = {}

    def list_buckets(self, items: Iterable[Fields]) -> Steps[None]:
        """Lists the buckets of items, except those that the store remembers listing."""
        entries = {
            place: (each, fields)
            for fields in items
            for each in self.by_index.values()
            if (place := each.place(fields)) is not None
        }
        if not entries:
            return
        unlisted: Sequence[Place] = yield Recall(tuple(entries))
        if unlisted:
            written = (entries[place] for place in unlisted)
            yield from put_entries(each.entry_of(fields) for each, fields in written)
            yield Remember(tuple(unlisted), REMEMBERED_FOR.total_seconds())


def put_entries(entries: Iterable[BucketEntry]) -> Steps[None]:
    yield from write_many(
        (entry.own_key(), {"PutRequest": {"Item": entry.layout.to_item(entry)}})
        for entry in entries
    )


def list_buckets(entity: type[Entity], *indexes: str) -> None:
    """Declares that the buckets of these indexes are listed, so that `buckets` can walk them."""
    layout = entity.layout
    if layout.lister is None:
        layout.lister = BucketLists()
    assert isinstance(layout.lister, BucketLists)
    for index in indexes:
        check_bucketed(layout, index)
        layout.lister.by_index[index] = BucketList(layout, index, entry_in(layout.table))


def check_bucketed(layout: Layout, index: str) -> None:
    key, name = key_in(layout, index), layout.entity.__name__
    texts = ", ".join(repr(part.template.text) for part in key.hash)
    found = bucket_fields(key)
    if len(found) != 1:
        raise DesignError(
            f"{name}: the partition key {texts} of index {index} has {len(found)} buckets, and a"
            " walk needs one, such as {created_at:day}"
        )
    if not layout.secrets.isdisjoint(key.hash_fields):
        raise DesignError(
            f"{name}: the partition key {texts} of index {index} holds a secret, which the list of"
            " its buckets would show"
        )


def list_of(entity: type[Entity], index: str) -> BucketList:
    """The bucket list of an index."""
    lists = entity.layout.lister
    found = lists.by_index.get(index) if isinstance(lists, BucketLists) else None
    if found is None:
        check_bucketed(entity.layout, index)
        raise DesignError(
            f"{entity.__name__}: the buckets of index {index} are not listed; declare it beside"
            f" the entity: list_buckets({entity.__name__}, {index!r})"
        )
    return found


def bucket_lists_of(layout: Layout) -> list[BucketList]:
    return list(layout.lister.by_index.values()) if isinstance(layout.lister, BucketLists) else []


def reads_bucket_list(request: Request) -> bool:
    """Whether a request reads a bucket list, which is part of a walk and not shown in charts."""
    values = request.params.get("ExpressionAttributeValues") or {}
    texts = (value.get("S", "") for value in values.values())
    return request.operation == "Query" and any(text.startswith(LIST_PREFIX) for text in texts)
