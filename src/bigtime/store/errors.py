"""Errors between a store and DynamoDB, and how DynamoDB's error responses are read.

An error response of DynamoDB is a `DynamoDBError`; no response, or an unreadable one, is a
`TransportError`. After some failures the request may have been carried out nevertheless:
`is_uncertain` says which, and retries depend on it.
"""

from __future__ import annotations

from typing import Any

import orjson

from bigtime import wire


class SettingError(ValueError):
    """A setting that does not name a store or tables; the message says what would."""


class TransportError(Exception):
    """DynamoDB did not answer; `uncertain` if the request may have been carried out."""

    def __init__(self, message: str, *, uncertain: bool) -> None:
        super().__init__(f"{message} It may have been carried out." if uncertain else message)
        self.uncertain = uncertain


class NotConnected(TransportError):
    """Nothing was sent: the endpoint cannot be reached."""


class NoCredentials(TransportError):
    """Nothing was sent: there are no credentials to sign with."""


class NotTheWriter(TransportError):
    """Nothing was sent: another region writes the tables, `region`. Sent there, it may succeed."""

    def __init__(self, message: str, *, region: str) -> None:
        super().__init__(message, uncertain=False)
        self.region = region


class ConnectionLost(TransportError):
    """The connection was lost before the answer arrived."""


class TimedOut(TransportError, TimeoutError):
    """No connection, or no answer, in the time allowed."""


class GarbledAnswer(TransportError):
    """The answer is not what DynamoDB sent: its checksum is wrong, or it is not JSON."""


def unreachable(url: str, error: Exception) -> NotConnected:
    return NotConnected(f"{url} cannot be reached: {error}", uncertain=False)


def no_connection(url: str, seconds: float) -> TimedOut:
    return TimedOut(f"{url} took no connection in {seconds:g} s.", uncertain=False)


def no_answer(url: str, operation: str, seconds: float) -> TimedOut:
    return TimedOut(f"{url} did not answer {operation} in {seconds:g} s.", uncertain=True)


def cut_off(url: str, operation: str, error: Exception) -> ConnectionLost:
    return ConnectionLost(
        f"The connection to {url} ended before the answer to {operation}: {error}.", uncertain=True
    )


class NamedError(wire.DynamoDBError):
    """An error whose `code` is taken from the answer, not from the name of its class."""

    def __init__(self, code: str, message: str | None = None) -> None:
        super().__init__(message)
        self.name = code

    @property
    def code(self) -> str:
        return self.name


class UnmodelledError(NamedError):
    """A DynamoDB error that has no class here."""


class ServerFailure(NamedError, wire.InternalServerError):
    """DynamoDB failed, over a network.

    When the engine in process fails like this, nothing was changed. With AWS it is open: "the
    operation may have succeeded or failed", on status 500 after a write. ("Error handling with
    DynamoDB",
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html)
    """


MODELLED: dict[str, type[wire.DynamoDBError]] = {
    name: value
    for name, value in vars(wire).items()
    if isinstance(value, type) and issubclass(value, wire.DynamoDBError)
}


def is_uncertain(error: Exception) -> bool:
    """Whether the failed request may have been carried out."""
    return isinstance(error, ServerFailure) or (
        isinstance(error, TransportError) and error.uncertain
    )


def error_in(status: int, body: bytes) -> wire.DynamoDBError:
    """The error in an HTTP answer other than 200."""
    said = object_in(body)
    # "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"; some append ":http://...".
    code = str(said.get("__type", "")).rpartition("#")[2].partition(":")[0]
    message: str | None = said.get("message", said.get("Message"))
    if status >= 500:
        return ServerFailure(code or f"HTTP {status}", message)
    return dynamodb_error(code or f"HTTP {status}", message, said)


def object_in(body: bytes) -> dict[str, Any]:
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        said = None
    # A proxy or a load balancer answers with a body of its own.
    return said if isinstance(said, dict) else {"message": body[:200].decode("utf-8", "replace")}


def dynamodb_error(code: str, message: str | None, said: dict[str, Any]) -> wire.DynamoDBError:
    kind = MODELLED.get(code)
    if kind is None:
        return UnmodelledError(code, message)
    if issubclass(kind, wire.TransactionCanceledException):
        return kind(said.get("CancellationReasons", []))
    if issubclass(kind, wire.ConditionalCheckFailedException):
        return kind(message, item=said.get("Item"))
    return kind(message)
