"""Pages: part of a result, and where the rest of it begins.

A position says after which item a query continues, and which query that is. It is a plain value, so
that patterns stay pure: they take one as `after` and return one with each page. It never leaves the
program in this form: an API turns it into a signed cursor and back (see cursor).

Reading a page is a loop, because one request may return fewer items than its limit: DynamoDB
counts items before it filters them, and stops at a megabyte. The loop

1. requests the items still missing, and one more, which shows that there is a next page; if the
   last request returned items that were filtered out, it requests twice as many as that one did,
   so that a narrow filter does not cost a request per item;
2. continues until there are enough or the partition ends, or until `patience` requests are used;
3. ends the page at its last item, though DynamoDB may have read further; so the next page begins
   with the item after it, whatever was inserted or deleted meanwhile.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from bigtime.model.errors import DesignError, Malformed
from bigtime.model.operations.op import Op
from bigtime.wire import Item, Request, Response, Steps

T = TypeVar("T")

PATIENCE = 10


class CursorError(Malformed):
    """This page cannot be continued; start again from the first."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a query continues: the query's fingerprint, and a place in the query's own format."""

    query: str
    place: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items, in order. `position` is None when there are no more."""

    items: list[T]
    """The entities or views; a page also has a length, and is iterable."""
    position: Position | None = None
    """Pass it as `after=` to read the next page; None at the end."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return bool(self.items)


def place_in(after: Position | None, query: str) -> Mapping[str, Any] | None:
    """The place in a position, which is refused if it belongs to another query."""
    if after is None:
        return None
    if not isinstance(after, Position):
        raise DesignError(
            f"after takes a Position, not {after!r}; a cursor becomes one by cursors.read(text)"
        )
    if after.query != query:
        raise CursorError("This cursor belongs to another query.")
    return after.place


def check_number(name: str, what: str, given: object) -> None:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise DesignError(f"{name} is the number of {what}, at least 1, not {given!r}")


@dataclass(slots=True, eq=False)
class Taken(Generic[T]):
    """The items read so far. `last` is the last key read; `ended`, whether nothing follows."""

    last: Item | None
    found: list[tuple[Item, T]] = field(default_factory=list)
    ended: bool = False

    @property
    def values(self) -> list[T]:
        return [value for _, value in self.found]


class PagedRead(Op[Page[T]], Generic[T]):
    """A read of items page by page: what queries and scans share."""

    __slots__ = ("after", "limit", "patience")

    operation: ClassVar[str]

    def __init__(self, *, limit: int | None, after: Position | None, patience: int) -> None:
        if limit is not None:
            check_number("limit", "items wanted", limit)
        check_number("patience", "requests before a page is given up", patience)
        self.limit = limit
        self.after = after
        self.patience = patience

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The request without its limit and start key."""

    @abstractmethod
    def fingerprint(self) -> str: ...

    @property
    @abstractmethod
    def read(self) -> Callable[[Item], T | None]:
        """A function that decodes an item, or returns None if it is not wanted."""

    @abstractmethod
    def key_of(self, item: Item) -> Item:
        """The item's key, to start after."""

    @property
    def wanted_count(self) -> int | None:
        """How many items to read: one more than the page's limit."""
        return None if self.limit is None else self.limit + 1

    def request(self) -> Request:
        return self.page_request(self.parameters(), self.wanted_count, self.start())

    def decode(self, response: Response) -> Page[T]:
        taken: Taken[T] = Taken(None)
        self.take(taken, response, self.wanted_count)
        return self.page(taken)

    def start(self) -> Item | None:
        if self.after is None:
            return None
        place = place_in(self.after, self.fingerprint())
        return None if place is None else place["key"]

    def page_request(
        self, parameters: Mapping[str, Any], limit: int | None, start: Item | None
    ) -> Request:
        params = {**parameters}
        if limit is not None:
            params["Limit"] = limit
        if start is not None:
            params["ExclusiveStartKey"] = start
        return Request(self.operation, params)

    def page(self, taken: Taken[T]) -> Page[T]:
        if self.limit is not None and len(taken.found) > self.limit:
            last = self.key_of(taken.found[self.limit - 1][0])
            return Page(taken.values[: self.limit], Position(self.fingerprint(), {"key": last}))
        if taken.ended:
            return Page(taken.values)
        return Page(taken.values, Position(self.fingerprint(), {"key": taken.last}))

    def __iter__(self) -> Steps[Page[T]]:
        taken = yield from self.read_from(self.start(), self.wanted_count)
        return self.page(taken)

    def read_from(
        self, start: Item | None, wanted: int | None, parameters: Mapping[str, Any] | None = None
    ) -> Steps[Taken[T]]:
        """Reads from a start until that many items are found; if None, until any are."""
        taken: Taken[T] = Taken(start)
        parameters = self.parameters() if parameters is None else parameters
        ask = wanted
        for _ in range(self.patience):
            response = yield self.page_request(parameters, ask, taken.last)
            before = len(taken.found)
            self.take(taken, response, wanted)
            if taken.ended or len(taken.found) >= (wanted or 1):
                break
            if wanted is not None and ask is not None:
                all_wanted = len(taken.found) - before == response["ScannedCount"]
                ask = wanted - len(taken.found) if all_wanted else 2 * ask
        return taken

    def take(self, taken: Taken[T], response: Response, wanted: int | None) -> None:
        """Takes the items still wanted from a response."""
        items, found, read = response["Items"], taken.found, self.read
        for place, item in enumerate(items, 1):
            value = read(item)
            if value is None:
                continue
            found.append((item, value))
            if len(found) == wanted and place < len(items):
                taken.last = self.key_of(item)
                return
        following = response.get("LastEvaluatedKey")
        taken.ended = following is None
        if following is not None:
            taken.last = following
        elif items:
            taken.last = self.key_of(items[-1])
