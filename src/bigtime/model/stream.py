"""Streams: records decoded as changes of entities, and a system's reactions to them.

    @reaction(BIG_TIME_DEALS, of=[Deal])
    def tell_brand_watchers(change: Change[Any]) -> Steps[None]:
        if (deal := change.of(Deal)) and deal.kind == "insert":
            ...

A record becomes a `Change`: the entity before and after. Where the record holds an image, the
type attribute says which entity the item is; otherwise its key does. An image that the stream's
view type leaves out is None.

A stream delivers every change at least once, so a reaction must be idempotent: it writes under
keys that follow from the change, on condition that they are new.

A reaction that writes to its own table receives that change too. With `of`, changes whose type
attribute names other entities are skipped before they are decoded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

from bigtime.model.errors import DesignError, ItemMismatch
from bigtime.model.pattern import check_generator
from bigtime.model.schema import Entity, Key, Layout, Table, layout_in
from bigtime.wire import Item, PatternName, Steps, name_steps

E = TypeVar("E", bound=Entity)
F = TypeVar("F", bound=Entity)
Kind: TypeAlias = Literal["insert", "modify", "remove"]

SERVICE = "dynamodb.amazonaws.com"
"""The `PrincipalId` of a TTL delete; Lambda's is `principalId` (time-to-live-ttl-streams.html)."""


@dataclass(frozen=True, slots=True)
class Change(Generic[E]):
    """What happened to one item."""

    kind: Kind
    """`insert`, `modify` or `remove`."""
    entity: type[E]
    """The class of the item."""
    key: Key[E]
    """The key of the item."""
    before: E | None
    """The item before the change, if the stream has old images and it existed."""
    after: E | None
    """The item after the change, if the stream has new images and it still exists."""
    sequence: str
    """Orders the changes of a shard."""
    at: datetime
    """When it happened, according to the record."""
    by_service: bool
    """Whether DynamoDB's time to live deleted the item."""

    def of(self, entity: type[F]) -> Change[F] | None:
        """The change, typed, if it is to an item of that entity; otherwise None."""
        return cast("Change[F]", self) if issubclass(self.entity, entity) else None


def decode(record: Mapping[str, Any], tables: Iterable[Table]) -> Change[Any]:
    """The change that a stream record describes, to an item in one of these tables."""
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
        by_service=SERVICE in (record.get("userIdentity") or {}).values(),
    )


def key_of_item(table: Table, item: Item) -> Key[Any] | None:
    """The key of an item, or of key attributes alone; None if they belong to no entity."""
    layout = layout_in(table)(item)
    return None if layout is None else layout.entity.key_of(item)


def possible(record: Mapping[str, Any], keys: Item, tables: Iterable[Table]) -> list[Table]:
    """The tables a record may come from; Lambda's records name theirs, a stream's do not."""
    source = record.get("eventSourceARN", "")
    fitting = [table for table in tables if {*table.key_names} == keys.keys()]
    # Where a store maps table names, the source ARN has a name that no table is declared with.
    return [table for table in fitting if f":table/{table.name}/" in source] or fitting


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


React: TypeAlias = Callable[[Change[Any]], Steps[None]]
LogLine: TypeAlias = Callable[[Change[Any]], Mapping[str, object] | None]
"""The fields to log for a change, or None to log nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Reaction:
    """Steps for each change to a table, or to the named entities in it."""

    table: Table
    """The table whose stream it follows."""
    function: React
    """The generator function that was decorated."""
    kinds: frozenset[str] = frozenset()
    """The type names of the entities it reacts to; empty for all."""
    log_line: LogLine | None = None
    """What the process that runs it logs for each change, after its steps."""
    name: PatternName = field(init=False)
    """Its name for `bigtime consume` and for checkpoints."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", PatternName.of(self.function))

    @property
    def notes(self) -> str:
        """Its docstring."""
        return " ".join((inspect.getdoc(self.function) or "").split())

    def __call__(self, change: Change[Any]) -> Steps[None]:
        return name_steps(self.function(change), self.name)

    def handle(self, record: Mapping[str, Any]) -> Steps[None]:
        """The steps for a stream record, in the form that a consumer expects."""
        if self.may_concern(record):
            yield from self(decode(record, (self.table,)))

    def may_concern(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is of one of the named entities, or does not say which it is of."""
        data = record["dynamodb"]
        image = data.get("NewImage") or data.get("OldImage") or {}
        named = image.get(self.table.type_attribute)
        return not self.kinds or named is None or named.get("S") in self.kinds


def reaction(
    table: Table, *, of: Iterable[type[Entity]] = (), log_line: LogLine | None = None
) -> Callable[[React], Reaction]:
    """Makes a generator function a reaction to a table's changes; `of` limits it to entities."""

    def make(function: React) -> Reaction:
        check_generator(function, "a reaction")
        if table.stream != "NEW_AND_OLD_IMAGES":
            raise DesignError(
                f"{function.__name__} reacts to table {table.name}, whose stream does not tell"
                ' what an item was and is; declare it with stream="NEW_AND_OLD_IMAGES"'
            )
        kinds = frozenset(name for entity in of for name in entity.layout.type_names)
        return Reaction(table, function, kinds, log_line)

    return make
