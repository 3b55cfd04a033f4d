"""The operators' page: what it shows of backups, recovery, replicas, alarms, cost and drills."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime import ops
from bigtime.advisor import CostLine
from bigtime.engine import Engine, Replication
from bigtime.ops import TableUnits
from bigtime.ops.status import size_of
from bigtime.site import SITE, Worker, write_worker_report
from bigtime.site.daily_units import add_daily_units
from bigtime.systems.accounts import Role
from bigtime.web.admin.operations import (
    Backups,
    MonthCost,
    OperationsView,
    ReplicaLag,
    gigabytes_of,
    replica_lags,
)
from bigtime.web.http import Meters
from bigtime.wire import Request
from tests.web.browsing import Browser, Web, words

PAGE = "/admin/operations"
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def ada(web: Web) -> Browser:
    return web.signed_in("ada", Role.ADMIN)


def set_up(web: Web, **values: object) -> None:
    settings = web.site.settings.model_copy(update=values)
    object.__setattr__(web.site, "settings", settings)


def page(browser: Browser) -> str:
    answer = browser.get(PAGE)
    assert answer.status_code == 200
    return words(answer.text)


def test_a_site_without_an_environment_has_a_page_too(web: Web, ada: Browser) -> None:
    set_up(web, drills="no-such-folder")
    shown = page(ada)
    assert "Name none Store" in shown
    assert "No place is set for the worker's backups (BIGTIME_BACKUPS)." in shown
    assert "tenants off" in shown and "No replicas." in shown and "No drills yet" in shown
    assert "Worker no report yet. Look at the log of the site" in shown and "Raised" in shown
    assert "ConsumedReadCapacityUnits 10,000 60 s" in shown


def test_the_environment_and_the_cost_of_the_month_beside_its_budget(
    web: Web, ada: Browser
) -> None:
    set_up(web, environment="dev", store="dynamodb:af-south-1")
    million = TableUnits(Decimal(0), Decimal(1_000_000_000))
    web.run(add_daily_units(datetime.now(UTC).date(), {"orders": million}))
    shown = page(ada)
    assert "Name dev" in shown and "Account 536580886816" in shown
    assert "cron(0 1 * * ? *), kept 7 days" in shown
    assert "So far $841.00 Budget $500 Used 168.2%" in shown
    assert "Requests as counted $841.0000" in shown
    assert "Storage in af-south-1 0.001 GB, the first 25 GB free" in shown
    assert "Point-in-time recovery in af-south-1 0.001 GB, 35 days" in shown
    assert "Backups in af-south-1 7 copies of 0.001 GB" in shown
    assert "Cost of this month $841.00 of $500. See what it is spent on" in shown
    assert "Point-in-time recovery off for" in shown


def test_a_file_has_the_prices_of_its_environment(web: Web, ada: Browser) -> None:
    set_up(web, environment="prod", store="file:portal.db")
    assert "Storage in af-south-1" in page(ada)


def test_backups_are_shown_with_their_age_and_last_verification(
    web: Web, ada: Browser, tmp_path: Path
) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    set_up(web, backups=str(first), backups_copy=str(second))
    assert "Backups none. Run" in page(ada)
    engine = ops.engine_of(web.store)
    assert engine is not None
    place = ops.FolderPlace(first)
    moment = datetime.now(UTC) - timedelta(hours=3)
    made = ops.create_backup(ops.BackupSource(engine, SITE), place, moment=moment)
    ops.copy_backup(place, made.name, ops.FolderPlace(second))
    shown = page(ada)
    assert shown.count(f"{made.name} 3.0 h") == 2 and shown.count(": intact") == 2
    assert "Backups the newest is 3.0 h old. OK" in shown
    place.file(made.name, "tenants.backup").write_bytes(b"bigtime backup 1\n")
    ops.verify_backup(place, made.name)
    assert "tenants.backup is damaged: its SHA-256 is not the manifest's" in page(ada)
    (first / made.name / "manifest.json").write_text("{}")
    assert f"{made.name} in {first} is damaged" in page(ada)
    first.rename(tmp_path / "gone")
    first.write_text("in the way")
    assert f"{first} is a file: name a folder for backups." in page(ada)


def test_the_log_and_the_replicas_of_an_engine_are_shown(
    web: Web, ada: Browser, engine: Engine
) -> None:
    application = web.served.app.application  # type: ignore[attr-defined]
    meters: Meters = application.state.meters
    meters.watch_file(engine.file_figures)
    assert "Write-ahead log" in page(ada)
    late = Replication("tenants", "us-east-1", "eu-west-1", 3, 7.0, 0, ())
    table = ops.TableRecovery("tenants", None, {"eu-west-1": "ACTIVE"})
    assert [*replica_lags([table], [late])] == [
        ReplicaLag("tenants", "eu-west-1", "ACTIVE", 3, 7.0)
    ]
    assert [*replica_lags([table], [])] == [
        ReplicaLag("tenants", "eu-west-1", "ACTIVE", None, None)
    ]


def test_the_window_of_recovery_is_shown(web: Web, ada: Browser) -> None:
    recovery = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 35}
    web.store.send(
        Request(
            "UpdateContinuousBackups",
            {"TableName": "tenants", "PointInTimeRecoverySpecification": recovery},
        )
    )
    shown = page(ada)
    assert "tenants off" not in shown and "products off" in shown


def test_a_worker_that_reports_raises_no_alarm(web: Web, ada: Browser) -> None:
    web.run(
        write_worker_report(datetime.now(UTC), daily_cost=Decimal(2), daily_cost_mean=Decimal(1))
    )
    shown = page(ada)
    assert "Worker last report 0 s ago. OK" in shown
    assert "Cost of today $2.0000, the mean is $1.0000. Look for the table" in shown


def test_drills_are_listed_and_their_reports_shown(web: Web, ada: Browser, tmp_path: Path) -> None:
    set_up(web, drills=str(tmp_path))
    (tmp_path / "2026-11-15-pitr-prod.md").write_text("# Drill\n\n| RTO | 2 s |\n\nPassed.\n")
    (tmp_path / "2026-11-16-backup-prod.md").write_text("# Drill\n\n**Failed.**\n- <late>\n")
    (tmp_path / "2026-11-16T143000Z-region-prod.md").write_text("# Drill\n\nPassed.\n")
    (tmp_path / "notes.md").write_text("mine")
    shown = page(ada)
    assert shown.index("backup in prod") < shown.index("pitr in prod")
    assert "region in prod 16 November 2026, 14:30 UTC Passed" in shown
    assert "backup in prod 16 November 2026 Failed" in shown and "Passed" in shown
    report = ada.get(f"{PAGE}/drills/2026-11-16-backup-prod.md")
    assert report.status_code == 200 and "- &lt;late&gt;" in report.text
    for name in ("notes.md", "2026-11-17-pitr-prod.md", "..%2F..%2Fetc%2Fpasswd"):
        assert ada.get(f"{PAGE}/drills/{name}").status_code == 404


# Alarms


def make_view(**values: object) -> OperationsView:
    shown: dict[str, object] = {
        "at": NOW,
        "environment": SITE.environment("prod"),
        "store": "file:data/bigtime.db",
        "worker": Worker(seen_at=NOW),
        "backups": [],
        "tables": [],
        "replicas": [],
        "cost": MonthCost(Decimal(1), (), Decimal(1), 5_000, Decimal(4_000)),
        "drills": [],
        "declared": (),
        "log_bytes": 0,
        **values,
    }
    return OperationsView(**shown)  # type: ignore[arg-type]


def raised_alarms(view: OperationsView) -> list[str]:
    return [alarm.name for alarm in view.alarms if alarm.is_raised]


def test_an_alarm_is_raised_for_each_thing_that_is_wrong() -> None:
    assert raised_alarms(make_view()) == []
    silent = Worker(seen_at=NOW - timedelta(minutes=1))
    assert raised_alarms(make_view(worker=silent)) == ["Worker"]
    assert raised_alarms(make_view(log_bytes=65 << 20)) == ["Write-ahead log"]
    lag = ReplicaLag("tenants", "eu-west-1", "ACTIVE", 40, 6.0)
    assert raised_alarms(make_view(replicas=[lag])) == ["Replication of tenants to eu-west-1"]
    assert raised_alarms(make_view(replicas=[lag._replace(lag_seconds=0.2)])) == []
    newest = ops.BackupState("site-prod", NOW, 1, 1, None, None)
    first, second = Backups("here", 1, [newest]), Backups("there", 1, [newest])
    assert raised_alarms(make_view(backups=[first])) == ["Copies of backups"]
    assert raised_alarms(make_view(backups=[first, second])) == []
    assert raised_alarms(make_view(backups=[first], environment=SITE.environment("dev"))) == []
    assert raised_alarms(
        make_view(cost=MonthCost(Decimal(4_001), (), Decimal(1), 5_000, Decimal(4_000)))
    ) == ["Cost of this month"]


def test_what_a_month_costs_is_paid_by_the_day() -> None:
    line = CostLine("storage", "DynamoDB", "100 GB", Decimal(30), estimated=False)
    cost = MonthCost(Decimal(10), (line,), Decimal("0.5"), 100, Decimal(80))
    assert (cost.dollars, cost.percent) == (Decimal(25), 25.0)
    assert MonthCost(Decimal(10), (), Decimal(1), None, None).percent is None


def test_the_size_of_a_table_has_its_indexes() -> None:
    described = {
        "TableSizeBytes": 2**30,
        "GlobalSecondaryIndexes": [{"IndexSizeBytes": 2**29}, {}],
        "LocalSecondaryIndexes": [{"IndexSizeBytes": 1}],
    }
    assert size_of(described) == 2**30 + 2**29 + 1
    table = ops.TableRecovery("tenants", None, {}, size_of(described))
    assert gigabytes_of([table]) == Decimal("1.501")
    assert gigabytes_of([]) == 0
