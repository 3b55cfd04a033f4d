"""Transactions: writes that all happen or none does, and reads from a single moment.

When a transaction is cancelled, the first action whose condition failed determines the error: the
one named beside that condition. A program never reads cancellation reasons. An optional action
whose item is missing is left out, and the rest is tried again.

A write of an entity with invariants adds the writes that maintain them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar, cast, overload

from bigtime.model.errors import Conflict, DesignError
from bigtime.model.operations.get import check_key, entity_from
from bigtime.model.operations.op import Op, now
from bigtime.model.operations.write import Write, size_error
from bigtime.model.schema import Entity, Key, check_bound
from bigtime.model.tracking import track
from bigtime.wire import (
    Identity,
    Request,
    Response,
    Steps,
    TransactionCanceledException,
    ValidationException,
    item_identity,
)

A = TypeVar("A", bound=Entity)
B = TypeVar("B", bound=Entity)
C = TypeVar("C", bound=Entity)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
R1 = TypeVar("R1")
R2 = TypeVar("R2")
R3 = TypeVar("R3")
R4 = TypeVar("R4")

MAX_ACTIONS = 100


class InTransaction(Protocol[T_co]):
    """A write as part of a transaction: a put returns its entity, the others None."""

    def in_transaction(self) -> T_co: ...


class Transact(Op[T], Generic[T]):
    """Writes in one transaction. The first `results` of them return results, the rest do not."""

    __slots__ = ("results", "token", "writes")

    verb = "transact"

    def __init__(
        self, writes: tuple[Write[Any], ...], token: str | None, *, results: int | None = None
    ) -> None:
        if len(writes) > MAX_ACTIONS:
            raise DesignError(
                f"a transaction has up to {MAX_ACTIONS} actions, not {len(writes)}; split it"
            )
        self.writes = writes
        self.token = token
        self.results = len(writes) if results is None else results

    def subject(self) -> str:
        return ", ".join(map(repr, self.writes[: self.results]))

    def request(self) -> Request:
        actions: dict[Identity, dict[str, Any]] = {}
        for write in self.writes:
            action, table = write.action(), write.layout.table
            item = action.get("Key") or action["Item"]
            identity = item_identity(table.name, item, table.key_names)
            if identity in actions:
                raise DesignError(
                    "a transaction has one action for each item, and here two are of"
                    f" {write.layout.location_of(item)} (what keeps a count or a marker is one"
                    " too); make them one, or run one by itself"
                )
            actions[identity] = {write.action_name: action}
        params: dict[str, Any] = {"TransactItems": [*actions.values()]}
        if self.token is not None:
            params["ClientRequestToken"] = self.token
        return Request("TransactWriteItems", params)

    def decode(self, response: Response) -> T:
        results: Any = tuple([write.in_transaction() for write in self.writes[: self.results]])
        return cast(T, results)

    def failure(self, error: Exception) -> Exception:
        if isinstance(error, ValidationException):
            return next(
                (size_error(write, error) for write in self.writes if write.is_large()), error
            )
        if not isinstance(error, TransactionCanceledException):
            return error
        # Endpoints other than AWS may omit the reasons.
        for write, reason in zip(self.writes, error.reasons, strict=False):
            if reason["Code"] == "ConditionalCheckFailed":
                other = None if "Item" in reason else write.when_missing()
                return (
                    Needless(write, other) if other else write.condition_error(reason.get("Item"))
                )
            if reason["Code"] == "ValidationError":
                return size_error(write, ValidationException(reason.get("Message")), error)
        if any(reason["Code"] == "TransactionConflict" for reason in error.reasons):
            return Conflict()
        return error

    def with_times(self, moment: datetime) -> Transact[T]:
        stamped = tuple(write.with_times(moment) for write in self.writes)
        return Transact(stamped, self.token, results=self.results)

    def without(self, needless: Needless) -> Transact[T]:
        writes = (needless.other if write is needless.write else write for write in self.writes)
        return Transact(tuple(writes), self.token, results=self.results)

    def __iter__(self) -> Steps[T]:
        transaction = self
        for write in self.writes:
            if write.needs_clock:
                transaction = yield from self.fill_times()
                break
        for write in transaction.writes:
            if write.layout.lister is not None:
                yield from write.list_buckets()
        while True:
            try:
                response = yield transaction.request()
            except Exception as error:
                meaning = transaction.failure(error)
                if not isinstance(meaning, Needless):
                    raise meaning from (None if meaning is error else error)
                transaction = transaction.without(meaning)
            else:
                return transaction.decode(response)

    def fill_times(self) -> Steps[Transact[T]]:
        """The transaction with its times filled in."""
        if self.token is not None:
            raise DesignError(
                "a token is for a request that is the same each time, and these writes are told"
                " the time by the store; say it yourself: transact(..., token=..., at=...)"
            )
        return self.with_times((yield from now()))


class Needless(Exception):
    """A write's item is missing, and another write may replace it."""

    def __init__(self, write: Write[Any], other: Write[Any]) -> None:
        super().__init__()
        self.write = write
        self.other = other


@overload
def transact(
    first: InTransaction[R1], /, *, token: str | None = ..., at: datetime | None = ...
) -> Transact[tuple[R1]]: ...
@overload
def transact(
    first: InTransaction[R1],
    second: InTransaction[R2],
    /,
    *,
    token: str | None = ...,
    at: datetime | None = ...,
) -> Transact[tuple[R1, R2]]: ...
@overload
def transact(
    first: InTransaction[R1],
    second: InTransaction[R2],
    third: InTransaction[R3],
    /,
    *,
    token: str | None = ...,
    at: datetime | None = ...,
) -> Transact[tuple[R1, R2, R3]]: ...
@overload
def transact(
    first: InTransaction[R1],
    second: InTransaction[R2],
    third: InTransaction[R3],
    fourth: InTransaction[R4],
    /,
    *,
    token: str | None = ...,
    at: datetime | None = ...,
) -> Transact[tuple[R1, R2, R3, R4]]: ...
@overload
def transact(
    *writes: InTransaction[T], token: str | None = ..., at: datetime | None = ...
) -> Transact[tuple[T, ...]]: ...
@track
def transact(*writes: Any, token: str | None = None, at: datetime | None = None) -> Transact[Any]:
    """Makes all of the writes or none.

    Returns a tuple with a place for each write: the entity that a put stored, None for the others.
    Repeating the same writes with the same `token` within ten minutes has no second effect; pass
    the time they write as `at`, so that they stay the same.
    """
    check_writes(writes)
    kept = [write.with_invariants() for write in writes]
    others = join_writes(other for _, *others in kept for other in others)
    made = Transact[Any]((*(first for first, *_ in kept), *others), token, results=len(writes))
    return made if at is None else made.with_times(at)


def check_writes(writes: tuple[object, ...]) -> None:
    if not writes:
        raise DesignError("a transaction does something; say what, as in transact(put(...))")
    for write in writes:
        if not isinstance(write, Write):
            raise DesignError(
                f"a transaction is of writes, such as put(...), add(...) or check(...); {write!r}"
                " is none: run it by itself"
            )


def join_writes(writes: Iterable[Write[Any]]) -> list[Write[Any]]:
    """Joins writes that add to the same item: DynamoDB takes one action per item."""
    apart: list[Write[Any]] = []
    for write in writes:
        for place, other in enumerate(apart):
            both = other.join(write)
            if both is not None:
                apart[place] = both
                break
        else:
            apart.append(write)
    return apart


class TransactGet(Op[tuple[Any, ...]]):
    """Reads items as of a single moment."""

    __slots__ = ("deleted", "keys")

    verb = "get_together"

    def __init__(self, keys: tuple[Key[Any], ...], *, deleted: bool = False) -> None:
        if not 1 <= len(keys) <= MAX_ACTIONS:
            raise DesignError(
                f"get_together() takes 1 to {MAX_ACTIONS} keys, not {len(keys)}; get_many() takes"
                " any number, of no one moment"
            )
        self.keys = tuple(check_key(key, "get_together") for key in keys)
        self.deleted = deleted

    def subject(self) -> str:
        return "; ".join(key.subject() for key in self.keys)

    @property
    def apart(self) -> dict[Identity, Key[Any]]:
        """The distinct keys by identity: DynamoDB takes each once."""
        return {key.identity: key for key in self.keys}

    def request(self) -> Request:
        for key in self.keys:
            check_bound(key.entity.layout, key.item)
        gets = [
            {"Get": {"TableName": key.entity.layout.table.name, "Key": key.item}}
            for key in self.apart.values()
        ]
        return Request("TransactGetItems", {"TransactItems": gets})

    def decode(self, response: Response) -> tuple[Any, ...]:
        items = dict(zip(self.apart, response["Responses"], strict=True))
        return tuple(
            entity_from(key, items[key.identity], deleted=self.deleted) for key in self.keys
        )

    def failure(self, error: Exception) -> Exception:
        if isinstance(error, TransactionCanceledException):
            return Conflict()
        return error


@overload
def get_together(first: Key[A], /, *, deleted: bool = ...) -> Op[tuple[A | None]]: ...
@overload
def get_together(
    first: Key[A], second: Key[B], /, *, deleted: bool = ...
) -> Op[tuple[A | None, B | None]]: ...
@overload
def get_together(
    first: Key[A], second: Key[B], third: Key[C], /, *, deleted: bool = ...
) -> Op[tuple[A | None, B | None, C | None]]: ...
@overload
def get_together(*keys: Key[A], deleted: bool = ...) -> Op[tuple[A | None, ...]]: ...
@track
def get_together(*keys: Key[Any], deleted: bool = False) -> Op[Any]:
    """The items of several keys, as of a single moment; None for each that is missing.

    `deleted=True` also returns soft-deleted items.
    """
    return TransactGet(keys, deleted=deleted)
