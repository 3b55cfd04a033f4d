"""The types that every part of Bigtime shares: requests, responses, steps and values.

A request is an operation's name and its parameters in DynamoDB's own JSON; a response is
DynamoDB's JSON too; an error is a `DynamoDBError` with AWS's name and message.
Binary values are base64 text and numbers are decimal text, exactly as they cross the network.

Steps are a generator: it yields requests and other steps, and is sent their results or thrown
their errors.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import isfinite
from types import GeneratorType
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

AttributeValue: TypeAlias = dict[str, Any]
"""One tagged value, such as ``{"S": "text"}`` or ``{"L": [{"N": "1"}]}``."""

Item: TypeAlias = dict[str, AttributeValue]
Params: TypeAlias = Mapping[str, Any]
Response: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the DynamoDB or DynamoDB Streams API.

    In a metered store, `pattern` is the qualified name of the access pattern that sends it.
    """

    operation: str
    """AWS's name of the operation: `GetItem`."""
    params: Params
    """Its parameters, as AWS has them."""
    pattern: str | None = field(default=None, compare=False, repr=False)
    """The access pattern that sends it, if the store is metered or traced."""
    is_metered: bool = field(default=False, compare=False, repr=False)
    """Whether it asks for consumed capacity for the store's meter only, not for the caller."""


TENANT: ContextVar[str | None] = ContextVar("bigtime.tenant", default=None)
"""The tenant to which the running store is bound."""


class AnyTenant(str):
    """Stands for every tenant in a dry run: it is allowed everything."""

    __slots__ = ()


Transport: TypeAlias = Callable[[Request], Response]
"""Anything that answers requests: the engine in process, an endpoint over the network."""


class Now:
    """Asks the driver for the time, so that a replay can use the same."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Bytes:
    """Asks the driver for random bytes."""

    count: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Asks the driver to wait for some seconds."""

    seconds: float

    def __post_init__(self) -> None:
        if not (isfinite(self.seconds) and self.seconds >= 0):
            raise ValueError(f"a pause lasts some seconds, or none: {self.seconds!r} is neither")


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Asks the driver to run several steps, concurrently where that saves waiting."""

    steps: tuple[Steps[Any], ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """Asks the driver which of these facts it does not remember; it may forget any of them."""

    facts: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Remember:
    """Asks the driver to remember facts for a while, so that they need not be established again."""

    facts: tuple[Hashable, ...]
    seconds: float


Step: TypeAlias = Request | Together | Now | Bytes | Pause | Recall | Remember
Steps: TypeAlias = Generator[Step, Any, T]
"""What a pattern returns: it yields steps and ends with a `T`."""


class PatternName(str):
    """The name of an access pattern, which is the `__name__` of its steps.

    A generator has no other attribute that can be set. So the name marks the steps as a pattern's,
    and says which: `qualified` is `module.function`.
    """

    qualified: str

    @classmethod
    def of(cls, function: Callable[..., Any]) -> PatternName:
        name = cls(function.__name__)
        name.qualified = f"{function.__module__}.{name}"
        return name


def name_steps(steps: Steps[T], name: PatternName) -> Steps[T]:
    """Sets the steps' name to that of their pattern."""
    steps.__name__ = name  # type: ignore[attr-defined]  # every generator has one
    return steps


def steps_in(given: Any) -> Steps[Any]:
    """The steps to run: an operation's, or what a pattern returned."""
    steps = iter(given) if hasattr(given, "__iter__") else None
    if not isinstance(steps, Generator):
        raise TypeError(no_steps(given))
    if isinstance(steps, GeneratorType) and steps.gi_frame is None:
        raise TypeError(
            f"the steps of {steps.__name__} have been run, and run only once; call it again"
        )
    return steps


def no_steps(given: Any) -> str:
    name = getattr(given, "name", None) or getattr(given, "__name__", None)
    if callable(given) and name:
        return f"{name} was not called: run what it returns, {name}(...)"
    return (
        f"{given!r} has no steps to run; run an operation, such as get(key), or what a pattern"
        " returned, or several of them with together(...)"
    )


# Writes: the items that a request changes, for caches


ChangedItem: TypeAlias = tuple[str, Item]
"""A table's name, and a changed item in it: its key, or the whole item."""


def changed_by(request: Request) -> list[ChangedItem] | None:
    """The items that a request changes; None if it does not name them, or is malformed."""
    find = CHANGES.get(request.operation)
    if find is None:
        return None
    try:
        # The name in an ARN is what follows its slash; a name has no slash.
        return [(table.rpartition("/")[2], item) for table, item in find(request.params)]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def changed_by_batch(params: Params) -> Iterable[ChangedItem]:
    for table, writes in params["RequestItems"].items():
        for write in writes:
            if "PutRequest" in write:
                yield table, write["PutRequest"]["Item"]
            else:
                yield table, write["DeleteRequest"]["Key"]


def changed_by_transaction(params: Params) -> Iterable[ChangedItem]:
    changed = []
    for action in params["TransactItems"]:
        ((kind, content),) = action.items()
        if kind != "ConditionCheck":
            changed.append((content["TableName"], content["Item" if kind == "Put" else "Key"]))
    return changed


CHANGES: dict[str, Callable[[Params], Iterable[ChangedItem]]] = {
    "PutItem": lambda params: [(params["TableName"], params["Item"])],
    "UpdateItem": lambda params: [(params["TableName"], params["Key"])],
    "DeleteItem": lambda params: [(params["TableName"], params["Key"])],
    "BatchWriteItem": changed_by_batch,
    "TransactWriteItems": changed_by_transaction,
}
