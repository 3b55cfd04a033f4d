"""Metrics by table: what a store's requests consumed, and how they failed."""

from __future__ import annotations

import pytest

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.ops import COUNTERS
from bigtime.store import Exchange, Store
from bigtime.systems import portal
from bigtime.web.http import Meters
from bigtime.wire import (
    ConditionalCheckFailedException,
    DynamoDBError,
    InternalServerError,
    ProvisionedThroughputExceededException,
    Request,
    ValidationException,
)

WRITE = Request("PutItem", {"TableName": "tenants", "Item": {}})


def value(meters: Meters, name: str, table: str = "tenants") -> float | None:
    return meters.registry.get_sample_value(name, {"table": table})


def test_units_and_seconds_are_counted_by_table(engine: Engine) -> None:
    meters = Meters()
    Store(engine).run(setup(portal.SYSTEM))
    store = Store(engine, meter=meters.count_units, hooks=[meters.tables.observe])
    store.run(portal.create_tenant("ann@example.com", by="admin@example.com"))
    written = value(meters, "bigtime_consumed_write_units_total")
    assert written is not None and written > 0
    assert value(meters, "bigtime_consumed_write_units_total", "audit") == 2.0
    store.run(portal.get_tenant_by_email("ann@example.com"))
    read = value(meters, "bigtime_consumed_read_units_total")
    assert read is not None and read > 0
    labels = {"table": "audit", "operation": "TransactWriteItems"}
    count = "bigtime_successful_request_seconds_count"
    assert meters.registry.get_sample_value(count, labels) == 1


@pytest.mark.parametrize(
    ("error", "metric"),
    [
        (ProvisionedThroughputExceededException("slow"), "ThrottledRequests"),
        (InternalServerError("broken"), "SystemErrors"),
        (ValidationException("wrong"), "UserErrors"),
        (ConditionalCheckFailedException("taken"), "ConditionalCheckFailedRequests"),
    ],
)
def test_failures_are_counted_under_the_names_of_the_alarms(
    error: DynamoDBError, metric: str
) -> None:
    meters = Meters()
    meters.tables.observe(Exchange(WRITE, 1, 0.1, error=error))
    counted = {name: value(meters, counter) for name, counter in COUNTERS.items()}
    assert {name for name, times in counted.items() if times} == {metric}


def test_every_counter_of_the_alarms_is_there() -> None:
    families = {family.name for family in Meters().registry.collect()}
    assert {name.removesuffix("_total") for name in COUNTERS.values()} <= families
