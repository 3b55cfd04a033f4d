"""Metrics by table: what a store's requests consumed, and how they failed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime import ops
from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.ops import COUNTERS
from bigtime.site import SITE, SYSTEMS, Worker, view_worker_report
from bigtime.store import Exchange, Store, open_store
from bigtime.systems import portal
from bigtime.web.http import Meters, Settings
from bigtime.web.worker import Worker as WorkerProcess
from bigtime.wire import (
    ConditionalCheckFailedException,
    DynamoDBError,
    InternalServerError,
    ProvisionedThroughputExceededException,
    Request,
    ValidationException,
)

WRITE = Request("PutItem", {"TableName": "tenants", "Item": {}})


def value(meters: Meters, name: str, table: str = "tenants", **labels: str) -> float | None:
    return meters.registry.get_sample_value(name, {"table": table, **labels})


def test_units_and_seconds_are_counted_by_table(engine: Engine) -> None:
    meters = Meters()
    Store(engine).run(setup(portal.SYSTEM))
    store = Store(engine, meter=meters.count_units, hooks=[meters.tables.observe])
    store.run(portal.create_tenant("ann@example.com", by="admin@example.com"))
    written = "bigtime_consumed_write_units_total"
    assert value(meters, written, index="") == 4.0  # the record and its marker, in a transaction
    assert value(meters, written, index="TenantStatusIndex") == 1.0
    assert value(meters, written, "audit", index="") == 2.0
    store.run(portal.get_tenant_by_email("ann@example.com"))
    read = value(meters, "bigtime_consumed_read_units_total", index="EmailIndex")
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


def test_the_log_and_the_syncs_of_a_file_are_reported(tmp_path: Path) -> None:
    meters = Meters()
    with Engine.open(tmp_path / "a.db") as engine:
        meters.watch_file(engine.file_figures)
        Store(engine).run(setup(portal.SYSTEM))
        found = meters.registry.get_sample_value
        assert (found("bigtime_wal_bytes") or 0) > 0
        assert (found("bigtime_fsync_seconds_count") or 0) >= len(portal.SYSTEM.tables)
        assert (found("bigtime_fsync_seconds_sum") or 0) > 0


def test_the_age_of_backups_grows_while_the_worker_is_dead() -> None:
    at = datetime(2026, 11, 16, 12, tzinfo=UTC)
    meters = Meters(clock=lambda: at)
    found = meters.registry.get_sample_value
    assert found("bigtime_backup_age_seconds") is None
    report = Worker(
        backup_at=at - timedelta(hours=2), recovery_seconds={"tenants": Decimal(86_400)}
    )
    meters.note_worker(report)
    assert found("bigtime_backup_age_seconds") == 7_200
    assert found("bigtime_pitr_window_seconds", {"table": "tenants"}) == 86_400


def test_the_worker_finds_the_newest_backup_and_the_window_of_each_table(tmp_path: Path) -> None:
    settings = Settings(store=f"file:{tmp_path / 'a.db'}", backups=str(tmp_path / "vault"))
    with open_store(settings.store) as store:
        store.run(setup(*SYSTEMS))
        engine = ops.engine_of(store)
        assert engine is not None
        worker = WorkerProcess(store, settings)
        worker.look_at_recovery()
        assert worker.backup_at is None and worker.recovery_seconds["tenants"] == 0
        moment = datetime(2026, 11, 16, 12, tzinfo=UTC)
        place = ops.place_at(settings.backups)
        ops.create_backup(ops.BackupSource(engine, SITE), place, moment=moment)
        worker.look_at_recovery()
        store.run(worker.tell())
        report = store.run(view_worker_report())
        assert report.backup_at == moment and "codes" not in report.recovery_seconds
