"""Stream records: what happened to an item, as its entity before and after.

    def on_change(record: Response) -> Steps[None]:
        change = decode(record, [BIG_TIME_DEALS])
        if deal := change.of(Deal):
            yield from announce(deal.after)

The attribute that names the entity tells which one an item is, where the record holds an image of
it; else its key does. What the stream does not show, because of its view type, is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

from bigtime.model.errors import DesignError, ItemMismatch
from bigtime.model.schema import Entity, Key, Layout, Table, layout_in
from bigtime.wire import Item

E = TypeVar("E", bound=Entity)
F = TypeVar("F", bound=Entity)
Kind: TypeAlias = Literal["insert", "modify", "remove"]

SERVICE = "dynamodb.amazonaws.com"


@dataclass(frozen=True, slots=True)
class Change(Generic[E]):
    """What happened to one item.

    `sequence` orders the changes of a shard. `by_service` is true of what DynamoDB deleted by
    itself, because it had expired.
    """

    kind: Kind
    entity: type[E]
    key: Key[E]
    before: E | None
    after: E | None
    sequence: str
    at: datetime
    by_service: bool

    def of(self, entity: type[F]) -> Change[F] | None:
        """The change, if it is one of that entity."""
        return cast("Change[F]", self) if issubclass(self.entity, entity) else None


def decode(record: Mapping[str, Any], tables: Iterable[Table]) -> Change[Any]:
    """The change that a record tells, of an item in one of these tables."""
    data = record["dynamodb"]
    keys, old, new = data["Keys"], data.get("OldImage"), data.get("NewImage")
    layout = layout_of(keys, new or old, possible(record, keys, tables))
    return Change(
        kind=record["eventName"].lower(),
        entity=layout.entity,
        key=layout.entity.key_of(new or old or keys),
        before=layout.from_item(old) if old else None,
        after=layout.from_item(new) if new else None,
        sequence=data["SequenceNumber"],
        at=moment(data["ApproximateCreationDateTime"]),
        by_service=(record.get("userIdentity") or {}).get("PrincipalId") == SERVICE,
    )


def key_of_item(table: Table, item: Item) -> Key[Any] | None:
    """The key of an item of a table, or of what a write names by its key; None of no entity."""
    layout = layout_in(table)(item)
    return None if layout is None else layout.entity.key_of(item)


def possible(record: Mapping[str, Any], keys: Item, tables: Iterable[Table]) -> list[Table]:
    """The tables that a record may be of; Lambda's say which, a stream's own do not."""
    source = record.get("eventSourceARN", "")
    return [
        table
        for table in tables
        if {attribute.name for attribute in table.main.attributes} == keys.keys()
        and (not source or f":table/{table.name}/" in source)
    ]


def layout_of(keys: Item, image: Item | None, tables: Iterable[Table]) -> Layout:
    found = [layout_in(table)(image or keys) for table in tables]
    layouts = [layout for layout in found if layout is not None]
    if not layouts:
        raise ItemMismatch(f"no entity of the tables given has the key {keys}", image or keys)
    if len(layouts) > 1:
        names = ", ".join(layout.table.name for layout in layouts)
        raise DesignError(f"the key {keys} may be of several tables: {names}; pass the right one")
    return layouts[0]


def moment(timestamp: float | datetime) -> datetime:
    return timestamp if isinstance(timestamp, datetime) else datetime.fromtimestamp(timestamp, UTC)
