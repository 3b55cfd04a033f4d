"""When a failed request is sent again, and after how long.

1. Throttling, a conflict with another transaction, and a transaction that was cancelled for
   these reasons alone have changed nothing: any request may be repeated.
2. After a lost connection, a timeout or a server error it is not known whether a write was
   carried out. Such a request is repeated only if it is idempotent: reads; unconditional puts and
   deletes; transactions with a `ClientRequestToken`. An `ADD` would count twice, and a put with
   `attribute_not_exists` would find its own item, so an update or a conditional write is not
   repeated: its caller gets the error, and can check. (botocore repeats them all;
   `repeat_uncertain_writes` does the same.) Where another region is the writer, repeating the
   write here would not help: the caller has to send it there.
3. An attempt that took seconds is not repeated, whatever its outcome: the caller has waited, and
   eight times as long would look like a hang. (A writer waits ten seconds for the writer lock.)
4. The pause is drawn between zero and a bound that doubles with each attempt, up to a cap: "full
   jitter", which spreads competing callers best.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from bigtime import wire
from bigtime.store.errors import NoCredentials, NotTheWriter, TransportError, is_uncertain
from bigtime.wire import Request

# AWS describes its errors in "Error handling with DynamoDB"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
PASSING = frozenset(
    "ProvisionedThroughputExceededException ReplicatedWriteConflictException RequestLimitExceeded"
    " ThrottlingException TransactionConflictException TransactionInProgressException".split()
)
PASSING_REASONS = frozenset(
    {"None", "ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"}
)
STREAM_READS = frozenset({"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"})
"""The operations of DynamoDB Streams, which is a separate service."""
READS = frozenset(
    "BatchGetItem GetItem GetRecords GetResourcePolicy GetShardIterator Query Scan SearchVectors"
    " TransactGetItems".split()
)
"""The operations that read, besides Describe... and List...; a PartiQL statement may write."""
CONDITIONS = ("ConditionExpression", "Expected")


@dataclass(frozen=True, slots=True)
class Retries:
    """`attempts` includes the first one: 1 means no retries."""

    attempts: int = 8
    first_seconds: float = 0.05
    most_seconds: float = 5.0
    slow_seconds: float = 5.0
    """An attempt that took at least this long is not repeated."""
    repeat_uncertain_writes: bool = False
    draw: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts counts the first one too: {self.attempts} is none at all.")
        if self.first_seconds < 0 or self.most_seconds < 0:
            raise ValueError(
                "a pause lasts some seconds, or none:"
                f" {min(self.first_seconds, self.most_seconds):g} is neither."
            )

    def pause(
        self, request: Request, error: Exception, attempt: int, took: float = 0.0
    ) -> float | None:
        """The seconds to wait after a failed attempt that took `took`; None if it was the last."""
        is_last = attempt >= self.attempts or took >= self.slow_seconds
        if is_last or not self.may_repeat(request, error):
            return None
        bound: float = self.first_seconds * 2 ** min(attempt - 1, 62)
        return self.draw() * min(self.most_seconds, bound)

    def may_repeat(self, request: Request, error: Exception) -> bool:
        if is_uncertain(error):
            return self.repeat_uncertain_writes or is_repeatable(request)
        return is_passing(request, error)


def is_passing(request: Request, error: Exception) -> bool:
    """Whether the error is temporary, and nothing was changed."""
    if isinstance(error, wire.LimitExceededException):
        # For tables it is a quota of the account; for streams, too many concurrent reads.
        return request.operation in STREAM_READS
    return is_transient(error) and not isinstance(error, (NoCredentials, NotTheWriter))


def is_transient(error: Exception) -> bool:
    """Whether the store failed or was busy, and the request is not to blame."""
    match error:
        case wire.TransactionCanceledException():
            codes = {reason.get("Code", "None") for reason in error.reasons}
            return codes != {"None"} and bool(codes) and codes <= PASSING_REASONS
        case wire.DynamoDBError():
            return isinstance(error, wire.InternalServerError) or error.code in PASSING
    return isinstance(error, TransportError)


def is_repeatable(request: Request) -> bool:
    """Whether the request is idempotent: twice has the effect and the response of once."""
    params = request.params
    match request.operation:
        case "PutItem" | "DeleteItem":
            unconditional = not any(params.get(name) for name in CONDITIONS)
            return unconditional and params.get("ReturnValues", "NONE") == "NONE"
        case "BatchWriteItem":
            return True
        case "TransactWriteItems":
            return bool(params.get("ClientRequestToken"))
        case operation:
            return is_read(operation)


def is_read(operation: str) -> bool:
    return operation in READS or operation.startswith(("Describe", "List"))
