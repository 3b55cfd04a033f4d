"""The words that every part of Bigtime shares: requests, responses, steps, values, errors.

A request is an operation's name and its parameters in DynamoDB's own JSON; a response is
DynamoDB's JSON too; whatever goes wrong is a `DynamoDBError` with AWS's name and AWS's words.
Binary values are base64 text and numbers are decimal text, exactly as they cross the network.

Steps are a generator: it yields what it wants done, and is sent what came of it, or thrown what
went wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from math import isfinite
from types import GeneratorType
from typing import Any, ClassVar, TypeAlias, TypeVar

T = TypeVar("T")

AttributeValue: TypeAlias = dict[str, Any]
"""One tagged value, such as ``{"S": "text"}`` or ``{"L": [{"N": "1"}]}``."""

Item: TypeAlias = dict[str, AttributeValue]
Params: TypeAlias = Mapping[str, Any]
Response: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the DynamoDB or DynamoDB Streams API."""

    operation: str
    params: Params


Transport: TypeAlias = Callable[[Request], Response]
"""Anything that answers requests: the engine in process, an endpoint over the network."""


class Now:
    """Asks the driver what time it is, so that a replay can be told the same."""

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
    """Asks the driver to run several steps, at once where that saves waiting."""

    steps: tuple[Steps[Any], ...]


Step: TypeAlias = Request | Together | Now | Bytes | Pause
Steps: TypeAlias = Generator[Step, Any, T]
"""What a pattern returns: it yields steps and ends with a `T`."""


def steps_in(given: Any) -> Steps[Any]:
    """The steps of what somebody wants run: an operation, or what a pattern returned."""
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


class DynamoDBError(Exception):
    """An error as DynamoDB reports it: `code` is its name, `str()` its message."""

    namespace: ClassVar[str] = "com.amazonaws.dynamodb.v20120810"
    status: ClassVar[int] = 400
    default_message: ClassVar[str] = ""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(self.default_message if message is None else message)

    @property
    def code(self) -> str:
        return type(self).__name__

    @property
    def message(self) -> str:
        return str(self.args[0])

    def body(self) -> Response:
        """The JSON body that an SDK expects to find in the HTTP answer."""
        return {"__type": f"{self.namespace}#{self.code}", "message": self.message}


class ValidationException(DynamoDBError):
    namespace = "com.amazon.coral.validate"


class SerializationException(DynamoDBError):
    namespace = "com.amazon.coral.service"

    def body(self) -> Response:
        body: Response = {"__type": f"{self.namespace}#{self.code}"}
        if self.message:
            body["Message"] = self.message
        return body


class UnknownOperationException(DynamoDBError):
    namespace = "com.amazon.coral.service"

    def body(self) -> Response:
        body: Response = {"__type": f"{self.namespace}#{self.code}"}
        if self.message:
            body["message"] = self.message
        return body


class ResourceNotFoundException(DynamoDBError):
    default_message = "Requested resource not found"


class TableNotFoundException(DynamoDBError):
    default_message = "Table not found"


class ResourceInUseException(DynamoDBError):
    pass


class LimitExceededException(DynamoDBError):
    pass


class ConditionalCheckFailedException(DynamoDBError):
    """`item` is the item as it was, when the caller asked to see it."""

    default_message = "The conditional request failed"

    def __init__(self, message: str | None = None, *, item: Item | None = None) -> None:
        super().__init__(message)
        self.item = item

    def body(self) -> Response:
        body = super().body()
        if self.item is not None:
            body["Item"] = self.item
        return body


class TransactionCanceledException(DynamoDBError):
    """`reasons` has one entry per action, in the order of the request."""

    def __init__(self, reasons: list[Response]) -> None:
        codes = ", ".join(reason["Code"] for reason in reasons)
        super().__init__(
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            f"[{codes}]"
        )
        self.reasons = reasons

    def body(self) -> Response:
        # This is the one error of the API whose message is spelt with a capital.
        return {
            "__type": f"{self.namespace}#{self.code}",
            "Message": self.message,
            "CancellationReasons": self.reasons,
        }


class TransactionConflictException(DynamoDBError):
    default_message = "Transaction is ongoing for the item"


class TransactionInProgressException(DynamoDBError):
    pass


class IdempotentParameterMismatchException(DynamoDBError):
    pass


class ProvisionedThroughputExceededException(DynamoDBError):
    default_message = (
        "The level of configured provisioned throughput for the table was exceeded. "
        "Consider increasing your provisioning level with the UpdateTable API."
    )


class ItemCollectionSizeLimitExceededException(DynamoDBError):
    default_message = "Collection size exceeded."


class ExpiredIteratorException(DynamoDBError):
    pass


class TrimmedDataAccessException(DynamoDBError):
    pass


class AccessDeniedException(DynamoDBError):
    namespace = "com.amazon.coral.service"


class InternalServerError(DynamoDBError):
    """The one error that is safe to retry as it is: nothing was changed."""

    status = 500
    default_message = "Internal server error"
