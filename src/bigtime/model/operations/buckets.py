"""Time buckets: one query over many partitions.

A deal's index partition is its UTC day, so that no partition takes every write:
`GSI1=("DEALS#{created_at:day}", "DEAL#{deal_id}")`. Reading "the latest 25" therefore walks the
days, newest first, until it has enough:

1. the first day is today, or the day of the last deal that the reader has seen;
2. that day is bounded by the last deal seen, no other day is;
3. each day is asked only for what is still missing;
4. after `patience` empty days in a row the walk stops with a position, so that a reader can tell
   "nothing more" from "nothing yet": only a walk that has an end, `since`, comes to know it;
5. where deals are rare, but not so rare, it stops after `most` days in all, in the same way.

    page = yield from newest_first(buckets(Deal, "GSI2", brand="APPLE"), limit=25, after=position)

Days, hours and months go the same way, and so does the other direction: from `since` to today.
A position is a bucket and an item in it, so what is inserted or deleted meanwhile moves nothing.

Most buckets of a walk are of the past, and do not change any more. Who walks them often may keep
them: a bucket that was read whole is given to `kept`, and taken from there the next time. To
forget one that has changed is the keeper's own business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, overload

from bigtime.model.errors import DesignError
from bigtime.model.operations.op import now
from bigtime.model.operations.page import Page, Position, Taken, check_number, place_in
from bigtime.model.operations.query import Query, query, viewed
from bigtime.model.schema import (
    MAIN,
    Bucket,
    Condition,
    Encoding,
    EntityKey,
    Field,
    Within,
    bare_type,
    fields_of,
    key_in,
    key_value,
)
from bigtime.wire import AttributeValue, Item, Steps

if TYPE_CHECKING:
    from bigtime.model.schema import Entity, View

E = TypeVar("E", bound="Entity")
V = TypeVar("V", bound="View")

Asked: TypeAlias = tuple[Query[Any], Mapping[str, Any]]
"""A query of one bucket, and its parameters, which but for the key are those of all others."""

EMPTY_BUCKETS = 5
SOME_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)


class Kept(Protocol[E]):
    """Buckets that were read whole, by where they start, for whoever keeps them."""

    def get(self, bucket: Any) -> Sequence[E] | None: ...
    def put(self, bucket: Any, items: Sequence[E]) -> None: ...


@dataclass(frozen=True, eq=False)
class Buckets(Generic[E]):
    """The partitions of an index that differ only in their bucket of time."""

    entity: type[E]
    index: str
    fields: Mapping[str, Any]
    field: str
    encoding: Encoding

    def at(self, moment: Any) -> Within[E]:
        """The partition of one bucket."""
        return self.entity.within(self.index, **{**self.fields, self.field: moment})

    @cached_property
    def some(self) -> Within[E]:
        """One of the partitions; the others differ from it in their key and in nothing else."""
        return self.at(self.start(SOME_MOMENT))

    @cached_property
    def shared(self) -> dict[str, Any]:
        """The fields that all of them have in their keys, as the types of these have them."""
        layout = self.entity.layout
        names = layout.keys[self.index].hash_fields
        return {
            name: layout.checked(name, value)
            for name, value in self.fields.items()
            if name in names
        }

    @cached_property
    def asked(self) -> dict[bool, Asked]:
        """By direction, what is asked of `some` partition."""
        return {way: asking(query(self.some, newest_first=way)) for way in (False, True)}

    @cached_property
    def kind(self) -> type[date]:
        kind: type[date] = bare_type(self.entity.model_fields[self.field].annotation)
        return kind

    def moved(self, parameters: Mapping[str, Any], bucket: Any) -> dict[str, Any]:
        """A query of `some` partition for that of a bucket; its values begin with the key."""
        values = parameters["ExpressionAttributeValues"]
        moved = {**values, **dict(zip(values, keys_in(self, bucket), strict=False))}
        return {**parameters, "ExpressionAttributeValues": moved}

    def after(self, *, newest_first: bool = True, **fields: Any) -> Position:
        """The position after an item, told by its fields; whether it is there does not matter."""
        layout = self.entity.layout
        known = {
            name: layout.checked(name, value) for name, value in {**self.fields, **fields}.items()
        }
        key = self.key_of(known)
        return self.position(known[self.field], key, newest_first=newest_first)

    def key_of(self, fields: Mapping[str, Any]) -> Item:
        """Where an item of these fields stands."""
        key: Item = {}
        for name in (MAIN, self.index):
            declared = self.entity.layout.keys[name]
            attributes = declared.attributes(fields)
            if attributes is None:
                lacking = [one for one in declared.fields if fields.get(one) is None]
                raise DesignError(f"{self.entity.__name__}: after also needs {', '.join(lacking)}")
            key |= attributes
        return key

    def position(self, moment: Any, key: Item | None, *, newest_first: bool) -> Position:
        bound = self.fingerprint(newest_first=newest_first)
        return Position(bound, {"bucket": self.encoding.encode(moment), "key": key})

    def start(self, moment: date) -> Any:
        """Where the bucket of a moment starts, or that of a day."""
        assert self.encoding.bucket is not None
        return self.encoding.bucket.start(as_kind(self.kind, moment))

    def beside(self, bucket: Any, *, newest_first: bool) -> Any:
        """The next bucket of the walk, from the start of one."""
        assert self.encoding.bucket is not None
        return next_start(self.encoding.bucket, bucket, newest_first)

    def fingerprint(self, *, newest_first: bool) -> str:
        return self.fingerprints[newest_first]

    @cached_property
    def fingerprints(self) -> dict[bool, str]:
        """By direction. That of any bucket will do, if it is always the same one."""
        return {way: self.some.fingerprint("buckets", way) for way in (False, True)}


# A walk that begins today meets the same buckets as the one before it.


@lru_cache(maxsize=8192)
def keys_in(walked: Buckets[Any], bucket: Any) -> tuple[AttributeValue, ...]:
    """The partition key of a bucket."""
    fields = {**walked.shared, walked.field: bucket}
    return tuple(key_value(one, fields) for one in walked.entity.layout.keys[walked.index].hash)


@lru_cache(maxsize=4096)
def next_start(kind: Bucket, start: Any, newest_first: bool) -> Any:
    return kind.start(start - kind.instant if newest_first else start + kind.longest)


def asking(query: Query[Any]) -> Asked:
    return query, query.parameters()


def as_kind(kind: type[date], moment: date) -> date:
    """A day as the moment it begins at, or a moment as its day, in UTC."""
    if isinstance(moment, datetime) == issubclass(kind, datetime):
        return moment
    if isinstance(moment, datetime):
        return moment.astimezone(UTC).date()
    return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)


def buckets(entity: type[E], index: str, /, **fields: Any) -> Buckets[E]:
    """The buckets of an index: all fields of its partition but the time, and what else it takes."""
    key = key_in(entity.layout, index)
    found = bucket_fields(key)
    if len(found) != 1:
        texts = ", ".join(repr(part.template.text) for part in key.hash)
        raise DesignError(
            f"{entity.__name__}: the partition key {texts} of index {index} has {len(found)}"
            " buckets, and a walk needs one, such as {created_at:day}"
        )
    if found[0].name in fields:
        raise DesignError(
            f"{entity.__name__}: {found[0].name} is what the walk over {index} fills in; to ask one"
            f" bucket, use {entity.__name__}.within"
        )
    return Buckets(entity, index, fields, found[0].name, found[0].encoding)


def bucket_fields(key: EntityKey) -> list[Field]:
    fields = (field for part in key.hash for field in fields_of(part.template.parts))
    return [field for field in fields if field.encoding.bucket is not None]


@overload
def newest_first(
    walked: Buckets[E],
    *,
    limit: int,
    after: Position | None = ...,
    filter: Condition | None = ...,
    patience: int = ...,
    since: date | None = ...,
    most: int | None = ...,
    kept: Kept[E] | None = ...,
) -> Steps[Page[E]]: ...
@overload
def newest_first(
    walked: Buckets[Any],
    *,
    limit: int,
    only: type[V],
    after: Position | None = ...,
    filter: Condition | None = ...,
    patience: int = ...,
    since: date | None = ...,
    most: int | None = ...,
) -> Steps[Page[V]]: ...
def newest_first(
    walked: Buckets[Any],
    *,
    limit: int,
    after: Position | None = None,
    filter: Condition | None = None,
    only: type[View] | None = None,
    patience: int = EMPTY_BUCKETS,
    since: date | None = None,
    most: int | None = None,
    kept: Kept[Any] | None = None,
) -> Steps[Page[Any]]:
    """From today back, to the bucket of `since` if there is such an end."""
    walk = Walk(walked, True, limit, filter, only, patience, most, kept)
    return (yield from walk.steps(after, first=None, last=since))


@overload
def oldest_first(
    walked: Buckets[E],
    *,
    since: date,
    limit: int,
    after: Position | None = ...,
    filter: Condition | None = ...,
    patience: int = ...,
) -> Steps[Page[E]]: ...
@overload
def oldest_first(
    walked: Buckets[Any],
    *,
    since: date,
    limit: int,
    only: type[V],
    after: Position | None = ...,
    filter: Condition | None = ...,
    patience: int = ...,
) -> Steps[Page[V]]: ...
def oldest_first(
    walked: Buckets[Any],
    *,
    since: date,
    limit: int,
    after: Position | None = None,
    filter: Condition | None = None,
    only: type[View] | None = None,
    patience: int = EMPTY_BUCKETS,
) -> Steps[Page[Any]]:
    """From the bucket of `since` to today."""
    walk = Walk(walked, False, limit, filter, only, patience)
    return (yield from walk.steps(after, first=since, last=None))


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """One page's way through the buckets. The end that is not told is today."""

    buckets: Buckets[Any]
    newest_first: bool
    limit: int
    filter: Condition | None
    only: type[View] | None
    patience: int
    most: int | None = None
    kept: Kept[Any] | None = None

    def __post_init__(self) -> None:
        check_number("limit", "items wanted", self.limit)
        check_number("patience", "empty buckets before a page is given up", self.patience)
        if self.most is not None:
            check_number("most", "buckets before a page is given up", self.most)
        if self.kept is not None and (self.filter is not None or self.only is not None):
            raise DesignError("kept has whole buckets; filter what is found, and leave only out")

    def steps(
        self, after: Position | None, *, first: date | None, last: date | None
    ) -> Steps[Page[Any]]:
        bucket, key = yield from self.beginning(after, first)
        end = yield from self.end(last)
        asked = self.asked()
        found: list[Any] = []
        empty = walked = 0
        while not self.is_beyond(bucket, end):
            taken = yield from self.taking(asked, bucket, key, self.limit - len(found))
            walked += 1
            found += taken.values
            if not taken.ended:
                return Page(found, self.position(bucket, taken.last))
            if bucket == end:  # before the first and after the last day of all there is none
                break
            if len(found) == self.limit:
                return Page(found, self.position(bucket, taken.last))
            empty = 0 if taken.found else empty + 1
            bucket, key = self.buckets.beside(bucket, newest_first=self.newest_first), None
            if empty == self.patience or walked == self.most:
                return Page(found, self.position(bucket, None))
        return Page(found)

    def taking(
        self, asked: Asked, bucket: Any, key: Item | None, missing: int
    ) -> Steps[Taken[Any]]:
        """What a bucket has of what is missing; one that is kept is not asked."""
        kept = self.kept if key is None else None
        whole = None if kept is None else kept.get(bucket)
        if whole is not None:
            return self.recalled(whole, missing)
        query, parameters = asked
        taken = yield from query.taking(key, missing, self.buckets.moved(parameters, bucket))
        if kept is not None and taken.ended:
            kept.put(bucket, taken.values)
        return taken

    def recalled(self, whole: Sequence[Any], missing: int) -> Taken[Any]:
        found: list[tuple[Item, Any]] = [({}, one) for one in whole[:missing]]
        ends_here = len(found) == missing
        last = self.buckets.key_of(found[-1][1].__dict__) if ends_here else None
        return Taken(last, found, ended=len(whole) < missing)

    def is_beyond(self, bucket: Any, end: Any) -> bool:
        if end is None:
            return False
        return bool(bucket < end if self.newest_first else bucket > end)

    def beginning(self, after: Position | None, first: date | None) -> Steps[tuple[Any, Any]]:
        """Rules 1 and 2: a bucket, and the item in it to start after."""
        place = None
        if after is not None:
            place = place_in(after, self.buckets.fingerprint(newest_first=self.newest_first))
        if place is not None:
            return self.buckets.encoding.decode(place["bucket"]), place["key"]
        moment = first if first is not None else (yield from now())
        return self.buckets.start(moment), None

    def end(self, last: date | None) -> Steps[Any]:
        """The last bucket of the walk; None when it has no end."""
        if self.newest_first:
            return None if last is None else self.buckets.start(last)
        return self.buckets.start((yield from now()))

    def asked(self) -> Asked:
        """Made anew only for a page that asks for something of its own."""
        if self.filter is None and self.only is None:
            return self.buckets.asked[self.newest_first]
        some = viewed(self.buckets.some, self.only)
        return asking(query(some, newest_first=self.newest_first, filter=self.filter))

    def position(self, bucket: Any, key: Item | None) -> Position:
        return self.buckets.position(bucket, key, newest_first=self.newest_first)
