"""OpenTelemetry: a span for a pattern, one for each request in it, and none when it is off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from bigtime import model as bt
from bigtime.engine import Engine
from bigtime.store import Store, Tracing
from bigtime.wire import ConditionalCheckFailedException, Request, Steps, Together
from tests.store.places import IN_PROCESS, NETWORKED, Place, Time, asking, create, get, place, put


class Unknown(bt.DomainError):
    """Nothing of that name is there."""

    code = "unknown"


@bt.pattern("Read Thing", index="Main table")
def read_thing(pk: str) -> Steps[Any]:
    """One thing."""
    return (yield from get(pk))


@bt.pattern("Read Two", index="Main table")
def read_two(pk: str) -> Steps[Any]:
    """Two things at once, one of them by another pattern."""
    return (yield Together((get(pk), read_thing(pk))))


@bt.pattern("Read In Turn", index="Main table")
def read_in_turn(pk: str) -> Steps[Any]:
    """A thing, and the same by another pattern."""
    yield from get(pk)
    return (yield from read_thing(pk))


@bt.pattern("Refuse", index="Main table")
def refuse() -> Steps[None]:
    """A write whose condition fails."""
    try:
        yield Request(
            "PutItem",
            {
                "TableName": "Things",
                "Item": {"pk": {"S": "secret"}},
                "ConditionExpression": "attribute_exists(pk)",
            },
        )
    except ConditionalCheckFailedException as error:
        raise Unknown from error


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracing(exporter: InMemorySpanExporter) -> Tracing:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Tracing(provider)


@pytest.fixture(params=IN_PROCESS + NETWORKED)
def things(
    request: pytest.FixtureRequest,
    engine: Engine,
    time: Time,
    tracing: Tracing,
    exporter: InMemorySpanExporter,
) -> Iterator[Place]:
    with place(request.param, engine, time, tracing=tracing) as things:
        things.run(create())
        things.run(put("a"))
        exporter.clear()
        yield things


def spans_named(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name == name]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


READ_THING = f"{__name__}.read_thing"
READ_TWO = f"{__name__}.read_two"


def test_a_pattern_and_its_request(things: Place, exporter: InMemorySpanExporter) -> None:
    things.run(read_thing("a"))
    request, pattern = exporter.get_finished_spans()
    assert pattern.name == READ_THING and pattern.kind is SpanKind.INTERNAL
    assert attributes(pattern) == {"bigtime.pattern": READ_THING}
    assert request.name == "GetItem Things" and request.kind is SpanKind.CLIENT
    found = attributes(request)
    capacity = [json.loads(each) for each in found.pop("aws.dynamodb.consumed_capacity")]
    units = {"CapacityUnits": 1.0}
    assert capacity == [{"TableName": "Things", **units, "Table": units}]
    assert found == {
        "db.system.name": "aws.dynamodb",
        "db.operation.name": "GetItem",
        "db.collection.name": "Things",
        "aws.dynamodb.table_names": ("Things",),
        "aws.dynamodb.consistent_read": True,
        "bigtime.pattern": READ_THING,
    }
    assert request.parent is not None and pattern.context is not None
    assert request.parent.span_id == pattern.context.span_id
    assert pattern.start_time and request.start_time and request.end_time and pattern.end_time
    assert request.start_time <= request.end_time <= pattern.end_time


def test_steps_together_are_the_patterns_that_they_are_of(
    things: Place, exporter: InMemorySpanExporter
) -> None:
    things.run(read_two("a"))
    (outer,), (inner,) = spans_named(exporter, READ_TWO), spans_named(exporter, READ_THING)
    assert outer.context is not None and inner.context is not None
    assert inner.parent is not None and inner.parent.span_id == outer.context.span_id
    by_pattern = {
        attributes(span)["bigtime.pattern"]: span
        for span in spans_named(exporter, "GetItem Things")
    }
    parents = {name: span.parent and span.parent.span_id for name, span in by_pattern.items()}
    assert parents == {READ_TWO: outer.context.span_id, READ_THING: inner.context.span_id}


def test_a_request_has_the_name_of_the_innermost_pattern(
    things: Place, exporter: InMemorySpanExporter
) -> None:
    things.run(read_in_turn("a"))
    requests = spans_named(exporter, "GetItem Things")
    assert [attributes(span)["bigtime.pattern"] for span in requests] == [
        f"{__name__}.read_in_turn",
        READ_THING,
    ]


def test_an_error_has_its_class_and_no_data(things: Place, exporter: InMemorySpanExporter) -> None:
    with pytest.raises(Unknown):
        things.run(refuse())
    request, pattern = exporter.get_finished_spans()
    assert request.status.status_code is pattern.status.status_code is StatusCode.ERROR
    assert attributes(request)["db.response.status_code"] == "ConditionalCheckFailedException"
    assert attributes(request)["error.type"] == "ConditionalCheckFailedException"
    assert attributes(pattern)["error.type"] == "Unknown"
    for span in (request, pattern):
        assert "secret" not in span.to_json() and not span.events


def test_every_attempt_is_a_span(
    things: Place, exporter: InMemorySpanExporter, engine: Engine
) -> None:
    engine.faults.throttle(next=1)
    things.run(read_thing("a"))
    first, second = spans_named(exporter, "GetItem Things")
    assert attributes(first)["error.type"] == "ProvisionedThroughputExceededException"
    assert "bigtime.attempt" not in attributes(first)
    assert attributes(second)["bigtime.attempt"] == 2


def test_what_is_no_pattern_has_spans_for_its_requests(
    things: Place, exporter: InMemorySpanExporter
) -> None:
    things.run(asking("Query", **query_of("a")))
    things.run(asking("ListTables"))
    query, tables = exporter.get_finished_spans()
    found = attributes(query)
    assert found["aws.dynamodb.count"] == found["aws.dynamodb.scanned_count"] == 1
    assert found["aws.dynamodb.limit"] == 5 and found["aws.dynamodb.scan_forward"] is False
    assert "bigtime.pattern" not in found and query.parent is None
    assert tables.name == "ListTables" and "db.collection.name" not in attributes(tables)


def query_of(pk: str) -> dict[str, Any]:
    return {
        "TableName": "Things",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": pk}},
        "Limit": 5,
        "ScanIndexForward": False,
    }


def test_batches_and_transactions_say_their_size(
    things: Place, exporter: InMemorySpanExporter
) -> None:
    keys = [{"pk": {"S": pk}} for pk in "abc"]
    things.run(asking("BatchGetItem", RequestItems={"Things": {"Keys": keys}}))
    puts = [{"PutRequest": {"Item": key}} for key in keys]
    things.run(asking("BatchWriteItem", RequestItems={"Things": puts}))
    gets = [{"Get": {"TableName": "Things", "Key": key}} for key in keys]
    things.run(asking("TransactGetItems", TransactItems=gets))
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == [
        "BatchGetItem Things",
        "BatchWriteItem Things",
        "TransactGetItems Things",
    ]
    assert {attributes(span)["db.operation.batch.size"] for span in spans} == {3}


def test_a_request_of_several_tables_names_them_all(
    engine: Engine, tracing: Tracing, exporter: InMemorySpanExporter
) -> None:
    store = Store(engine, tracing=tracing)
    for name in ("First", "Second"):
        store.run(create(name))
    items = {name: {"Keys": [{"pk": {"S": "a"}}]} for name in ("First", "Second")}
    store.run(asking("BatchGetItem", RequestItems=items))
    span = exporter.get_finished_spans()[-1]
    assert span.name == "BatchGetItem"
    assert attributes(span)["aws.dynamodb.table_names"] == ("First", "Second")
    assert "db.collection.name" not in attributes(span)


def test_without_an_sdk_nothing_happens(engine: Engine) -> None:
    store = Store(engine, tracing=Tracing())
    store.run(create())
    assert store.run(read_thing("a")) is None


def test_a_store_that_is_not_traced_asks_for_no_capacity(engine: Engine) -> None:
    exchanges: list[Any] = []
    store = Store(engine, hooks=[exchanges.append])
    store.run(create())
    store.run(read_thing("a"))
    assert "ReturnConsumedCapacity" not in exchanges[-1].request.params
    assert exchanges[-1].request.pattern is None
