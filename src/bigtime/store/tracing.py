"""OpenTelemetry: a span for each run of an access pattern, and inside it one for each request.

Names and attributes are those of the semantic conventions for database clients and for DynamoDB
(https://opentelemetry.io/docs/specs/semconv/db/dynamodb/), plus the name of the pattern. Keys,
values and expressions are left out: they may be secret. Only OpenTelemetry's API is needed here;
without an SDK its spans do nothing.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import orjson

from bigtime import __version__, wire
from bigtime.extras import extra
from bigtime.wire import Response, Step, Steps

with extra("otel"):
    from opentelemetry import trace
    from opentelemetry.trace import Span, SpanKind, StatusCode, TracerProvider
    from opentelemetry.util.types import AttributeValue

if TYPE_CHECKING:
    from bigtime.store.driver import Exchange

T = TypeVar("T")

PATTERN: Final = "bigtime.pattern"
ATTEMPT: Final = "bigtime.attempt"

REQUESTED: Final = {
    "ConsistentRead": "aws.dynamodb.consistent_read",
    "IndexName": "aws.dynamodb.index_name",
    "Limit": "aws.dynamodb.limit",
    "ScanIndexForward": "aws.dynamodb.scan_forward",
    "Segment": "aws.dynamodb.segment",
    "Select": "aws.dynamodb.select",
    "TotalSegments": "aws.dynamodb.total_segments",
}
RETURNED: Final = {"Count": "aws.dynamodb.count", "ScannedCount": "aws.dynamodb.scanned_count"}


class Tracing:
    """`open_store(..., tracing=Tracing())`; the provider defaults to the global one."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("bigtime", __version__, tracer_provider=provider)

    def follow(self, steps: Steps[T]) -> Steps[T]:
        """The steps, inside a span if they are a pattern's."""
        name = getattr(steps, "__name__", None)
        if type(name) is not wire.PatternName:
            return steps
        if getattr(trace.get_current_span(), "name", None) == name.qualified:
            return steps  # they run on behalf of the pattern around them
        return self._in_span(steps, name)

    def _in_span(self, steps: Steps[T], name: wire.PatternName) -> Generator[Step, Any, T]:
        with self._tracer.start_as_current_span(
            name.qualified,
            attributes={PATTERN: name.qualified},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                return (yield from steps)
            except Exception as error:
                set_error(span, error)
                raise

    def __call__(self, exchange: Exchange) -> None:
        """Records an attempt at a request; called by the stores like a hook."""
        ended = time.time_ns()
        span = self._tracer.start_span(
            span_name(exchange),
            kind=SpanKind.CLIENT,
            attributes=attributes_of(exchange),
            start_time=ended - int(exchange.seconds * 1e9),
        )
        if exchange.error is not None:
            set_error(span, exchange.error)
        span.end(ended)


def set_error(span: Span, error: Exception) -> None:
    """Sets the error's class and DynamoDB's code, but not its message, which may contain data."""
    span.set_attribute("error.type", type(error).__qualname__)
    if isinstance(error, wire.DynamoDBError):
        span.set_attribute("db.response.status_code", error.code)
    span.set_status(StatusCode.ERROR)


def span_name(exchange: Exchange) -> str:
    operation, tables = exchange.request.operation, exchange.tables
    return f"{operation} {tables[0]}" if len(tables) == 1 else operation


def attributes_of(exchange: Exchange) -> dict[str, AttributeValue]:
    request, params = exchange.request, exchange.request.params
    tables = exchange.tables
    attributes: dict[str, AttributeValue] = {
        "db.system.name": "aws.dynamodb",
        "db.operation.name": request.operation,
    }
    if tables:
        attributes["aws.dynamodb.table_names"] = tables
    if len(tables) == 1:
        attributes["db.collection.name"] = tables[0]
    if (size := batch_size(params)) > 1:
        attributes["db.operation.batch.size"] = size
    if request.pattern is not None:
        attributes[PATTERN] = request.pattern
    if exchange.attempt > 1:
        attributes[ATTEMPT] = exchange.attempt
    attributes |= values_in(params, REQUESTED) | values_in(exchange.response or {}, RETURNED)
    if capacity := exchange.consumed_capacity:
        attributes["aws.dynamodb.consumed_capacity"] = [
            orjson.dumps(each).decode() for each in capacity
        ]
    return attributes


def values_in(
    source: Mapping[str, Any] | Response, names: Mapping[str, str]
) -> dict[str, AttributeValue]:
    return {names[name]: source[name] for name in names if name in source}


def batch_size(params: Mapping[str, Any]) -> int:
    """How many actions a transaction or a batch has."""
    if "RequestItems" in params:
        groups = params["RequestItems"].values()
        return sum(len(group if isinstance(group, list) else group["Keys"]) for group in groups)
    return len(params.get("TransactItems", ()))
