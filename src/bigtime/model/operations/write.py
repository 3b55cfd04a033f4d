"""What writing operations share: a condition, and the error to raise when it fails.

A failed condition raises the error named beside it. Where an operation has two (the item must
exist, and must be in some state), the item as it was tells which one failed. A soft-deleted item
counts as missing where one must exist, and as existing where none may.

Some writes depend on fields that they were not given, for an index key or an invariant. These read
the item first, write on condition that those fields are unchanged, and try again when another
write came first. Inside a transaction nothing can be read first, so there such a write needs the
entity.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeAlias, TypeVar

from bigtime.model.errors import (
    ConditionFailed,
    Conflict,
    DesignError,
    DomainError,
    ItemExists,
    ItemMissing,
    ItemTooLarge,
    ValueRefused,
)
from bigtime.model.operations.op import Op, now
from bigtime.model.schema import Condition, Layout, Path, Placeholders, check_bound, check_condition
from bigtime.wire import (
    MAX_ITEM_BYTES,
    AttributeValue,
    ConditionalCheckFailedException,
    Item,
    Request,
    Response,
    Steps,
    ValidationException,
    equal,
    item_size,
)

if TYPE_CHECKING:
    from bigtime.model.schema import Entity, Key

T = TypeVar("T")
ErrorLike: TypeAlias = Exception | type[Exception]
Fields: TypeAlias = Mapping[str, Any]

TRIES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """When a write may proceed, and what is raised when it may not.

    `seen` are stored attributes as they were read, None for one that was missing: the write
    proceeds only if they are unchanged, and otherwise raises `overtaken`. `hidden` is the attribute
    that marks a soft-deleted item: `if_exists` then also requires that it is missing.
    """

    if_exists: ErrorLike | None = None
    unless_exists: ErrorLike | None = None
    when: Condition | None = None
    otherwise: ErrorLike = ConditionFailed
    seen: Mapping[str, AttributeValue | None] = field(default_factory=dict)
    overtaken: ErrorLike = Conflict
    hidden: str | None = None

    def __post_init__(self) -> None:
        if self.when is not None:
            check_condition(self.when)
        check_errors(self.if_exists, self.unless_exists, self.otherwise)

    def render(self, marks: Placeholders) -> str | None:
        """The condition expression; None if the write is unconditional."""
        texts: list[str] = []
        if self.if_exists:
            texts.append(f"attribute_exists({marks.name(marks.layout.table.key_names[0])})")
            if self.hidden:
                texts.append(equality(marks, self.hidden, None))
        if self.unless_exists:
            texts.append(f"attribute_not_exists({marks.name(marks.layout.table.key_names[0])})")
        for name, value in self.seen.items():
            texts.append(equality(marks, name, value))
        if self.when is not None:
            texts.append(self.when.render(marks))
        return reduce(both, texts) if texts else None

    def error(self, old: Item | None) -> Exception:
        """The error to raise for a failed condition, given the item that it met."""
        if self.unless_exists and old is not None:
            return make_error(self.unless_exists)
        if self.if_exists and (old is None or self.hidden in old):
            return make_error(self.if_exists)
        if any(not same((old or {}).get(name), value) for name, value in self.seen.items()):
            return make_error(self.overtaken)
        return make_error(self.otherwise)

    def with_seen(
        self, seen: Mapping[str, AttributeValue | None], overtaken: ErrorLike = Conflict
    ) -> Guard:
        return replace(self, seen={**self.seen, **seen}, overtaken=overtaken)


def equality(marks: Placeholders, name: str, value: AttributeValue | None) -> str:
    """The condition that a stored attribute has this value, or for None, that it is missing."""
    if value is None:
        return f"attribute_not_exists({marks.name(name)})"
    return f"{marks.name(name)} = {marks.value(value)}"


def both(left: str, right: str) -> str:
    return f"({left}) AND ({right})"


def same(left: AttributeValue | None, right: AttributeValue | None) -> bool:
    """Whether two attributes are equal, or both missing."""
    return left == right or (left is not None and right is not None and equal(left, right))


def check_errors(*errors: object) -> None:
    """Refuses anything but None that cannot be raised as an error."""
    for error in errors:
        kind = error if isinstance(error, type) else type(error)
        if error is not None and not issubclass(kind, Exception):
            raise DesignError(
                f"{error!r} is no error; name a class of yours, as in unless_exists=AlreadyLiked"
            )


def make_error(error: ErrorLike) -> Exception:
    return error() if isinstance(error, type) else error


def name_subject(error: Exception, key: Key[Any] | None, item: Item | None = None) -> Exception:
    """The error, with its entity, key and item attributes set."""
    if isinstance(error, DomainError) and key is not None:
        for name, value in (("entity", key.entity), ("key", key), ("item", item)):
            # An application's error may use these names for attributes of its own.
            if name not in vars(error) and getattr(type(error), name, None) is None:
                setattr(error, name, value)
        if type(error).__module__ == DomainError.__module__:
            error.add_note(f"It is about {key!r}.")
    return error


def size_error(
    write: Write[Any], error: ValidationException, otherwise: Exception | None = None
) -> Exception:
    """Converts DynamoDB's error for an item that is too large; returns other errors unchanged."""
    if "maximum allowed size" not in str(error):
        return otherwise or error
    item = write.whole_item()
    return ItemTooLarge(write.key_of_item(), None if item is None else item_size(item))


class Transition(NamedTuple):
    """What a write does to an item, as far as is known: its fields before and after.

    None means that there is no item. `changed` are the fields that an update changes; it is
    `unsure` when it may also create the item.
    """

    before: Fields | None
    after: Fields | None
    changed: frozenset[Path] | None = None
    unsure: bool = False


class Write(Op[T], Generic[T]):
    """A writing operation on one item; it can stand alone or in a transaction.

    A `trusted` write maintains invariants itself.
    """

    __slots__ = ("guard", "layout", "needs_clock", "trusted")

    operation: ClassVar[str]
    action_name: ClassVar[str]
    returning: ClassVar[dict[str, str]] = {}

    def __init__(self, layout: Layout, guard: Guard) -> None:
        self.layout = layout
        self.guard = guard
        self.needs_clock = False
        self.trusted = False

    @abstractmethod
    def parameters(self, marks: Placeholders) -> dict[str, Any]:
        """The request without its condition, using `marks` for names and values."""

    @abstractmethod
    def transition(self) -> Transition:
        """The change that this write makes to its item, for invariants."""

    @abstractmethod
    def key_of_item(self) -> Key[Any] | None:
        """The key of the item it writes."""

    def whole_item(self) -> Item | None:
        """The complete item after the write, if known."""
        return None

    def is_large(self) -> bool:
        """Whether the item is known to exceed DynamoDB's size limit."""
        item = self.whole_item()
        return item is not None and item_size(item) > MAX_ITEM_BYTES

    def subject(self) -> str:
        try:
            key = self.key_of_item()
        except ValueRefused:  # its key cannot be stored; running it reports that
            key = None
        return self.layout.entity.__name__ if key is None else key.subject()

    def in_transaction(self) -> Any:
        """Its result in a transaction."""
        return self.outcome(None)

    @abstractmethod
    def outcome(self, attributes: Item | None) -> T:
        """The result for the caller, from the attributes that DynamoDB returned."""

    def with_times(self, moment: datetime) -> Self:
        """The same write with its times filled in."""
        return self

    def replace(self, **changed: Any) -> Self:
        """A copy of the write with these attributes replaced."""
        twin = copy(self)
        for name, value in changed.items():
            setattr(twin, name, value)
        return twin

    def guarded_by(self, names: Iterable[str]) -> Self:
        """The same write, refused if these fields have changed since they were read."""
        return self

    def with_invariants(self) -> tuple[Write[Any], ...]:
        """This write, and those that must accompany it to maintain invariants."""
        keeper = self.layout.keeper
        return (self,) if keeper is None or self.trusted else keeper.expand(self)

    def listed_fields(self) -> Fields | None:
        """The item's fields after the write, if it may move the item to another bucket."""
        return None

    def list_buckets(self) -> Steps[None]:
        """Adds the buckets that the item will lie in to their bucket lists."""
        lister = self.layout.lister
        fields = None if lister is None else self.listed_fields()
        if lister is not None and fields is not None:
            yield from lister.list_buckets((fields,))

    def join(self, other: Write[Any]) -> Write[Any] | None:
        """One write with the effect of both; None if there is no such write."""
        return None

    def when_missing(self) -> Write[Any] | None:
        """The write a transaction makes instead if the item is missing; None if it then fails."""
        return None

    def action(self) -> dict[str, Any]:
        """The write as a request, or as one action of a transaction."""
        if self.needs_clock:
            raise DesignError("this write is told the time by the store that runs it")
        marks = Placeholders(self.layout)
        action = {"TableName": self.layout.table.name, **self.parameters(marks)}
        if self.layout.tenant is not None:
            check_bound(self.layout, action.get("Item") or action["Key"])
        condition = self.guard.render(marks)
        if condition is not None:
            action["ConditionExpression"] = condition
            action["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return {**action, **marks.parameters()}

    def request(self) -> Request:
        write, *others = writes = self.with_invariants()
        if others and self.layout.keeper is not None:
            transaction: Op[Any] = self.layout.keeper.transaction(writes)
            return transaction.request()
        return Request(write.operation, {**write.action(), **write.returning})

    def failure(self, error: Exception) -> Exception:
        if isinstance(error, ConditionalCheckFailedException):
            return self.condition_error(error.item)
        return size_error(self, error) if isinstance(error, ValidationException) else error

    def condition_error(self, old: Item | None) -> Exception:
        """The error of a failed condition, with its entity, key and item."""
        return name_subject(self.guard.error(old), self.key_of_item(), old)

    def decode(self, response: Response) -> T:
        return self.outcome(response.get("Attributes"))

    def after_transaction(self, result: T) -> Steps[T]:
        """The result for the caller after a transaction, which returns no attributes."""
        return result
        yield

    def __iter__(self) -> Steps[T]:
        write, *others = writes = self.with_invariants()
        if others and self.layout.keeper is not None:
            result, *_ = yield from self.layout.keeper.transaction(writes)
            return (yield from self.after_transaction(result))
        if write.needs_clock:
            write = write.with_times((yield from now()))
        if write.layout.lister is not None:
            yield from write.list_buckets()
        done: T = yield from Op.__iter__(write)
        return done


class Overtaken(Conflict):
    """What was read first changed before the write."""


class KeyedWrite(Write[T], Generic[T]):
    """A write on an existing item, identified by its key or passed as an entity.

    `needed` are fields that have to be read before the write can be made. `item` is the item as
    it was read, empty if there was none.
    """

    __slots__ = ("item", "key", "needed", "seen")

    def __init__(
        self,
        key: Key[Any],
        guard: Guard,
        *,
        seen: Entity | None = None,
        needed: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(key.entity.layout, guard)
        self.key = key
        self.seen = seen
        self.item: Item | None = None
        self.needed = needed if seen is None else frozenset()

    def key_of_item(self) -> Key[Any]:
        return self.key

    def in_transaction(self) -> None:
        """Nothing: DynamoDB returns no attributes from a transaction."""

    @property
    def known_fields(self) -> dict[str, Any]:
        """The item's fields, as far as they are known."""
        return {**(self.seen.__dict__ if self.seen else {}), **self.key.fields}

    def guarded_by(self, names: Iterable[str]) -> Self:
        watched = [name for name in names if name not in self.key.fields]
        if self.seen is None or not watched:
            return self
        item = self.layout.stored_item(self.seen) if self.item is None else self.item
        stored = sorted(self.layout.names[name] for name in watched)
        seen = {name: item.get(name) for name in stored}
        return self.replace(guard=self.guard.with_seen(seen, self.guard.overtaken))

    def action(self) -> dict[str, Any]:
        if self.needed:
            raise DesignError(
                f"this write of {self.key!r} has to read {', '.join(sorted(self.needed))} first;"
                " inside a transaction, get the item before and pass it instead of its key"
            )
        return super().action()

    def with_invariants(self) -> tuple[Write[Any], ...]:
        return (self,) if self.needed else super().with_invariants()

    def request(self) -> Request:
        return self.reading() if self.needed else super().request()

    def reading(self) -> Request:
        """The request that reads the item."""
        check_bound(self.layout, self.key.item)
        params = {
            "TableName": self.layout.table.name,
            "Key": self.key.item,
            "ConsistentRead": True,
        }
        return Request("GetItem", params)

    def __iter__(self) -> Steps[T]:
        if not self.needed:
            return (yield from Write.__iter__(self))
        for _ in range(TRIES):
            response = yield self.reading()
            try:
                return (yield from self.over(response.get("Item")))
            except Overtaken:
                continue
        raise name_subject(Conflict(), self.key)

    def over(self, item: Item | None) -> Self:
        """The same write based on an item that was read; refused if the fields it needs changed."""
        if item is None and self.guard.if_exists:
            raise self.condition_error(None)
        seen = None if item is None else self.layout.read(item)
        stored = (self.layout.names[name] for name in sorted(self.needed))
        unchanged = {name: (item or {}).get(name) for name in stored}
        guard = self.guard.with_seen(unchanged, Overtaken)
        return self.replace(seen=seen, item=item or {}, needed=frozenset(), guard=guard)


def if_exists_error(if_exists: ErrorLike | bool | None) -> ErrorLike | None:
    """`True` is short for the kit's own error."""
    return ItemMissing if if_exists is True else if_exists or None


def unless_exists_error(unless_exists: ErrorLike | bool | None) -> ErrorLike | None:
    return ItemExists if unless_exists is True else unless_exists or None
