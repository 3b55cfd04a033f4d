"""Alarms: the rules of Prometheus, tried with promtool where it is, and Alertmanager's part."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from bigtime.model import ALARMS, Alarm
from bigtime.ops import COUNTERS, prometheus_rules
from bigtime.systems.portal import SYSTEM
from tests.cli.program import invoke

COUNTED = [alarm for alarm in ALARMS if alarm.metric in COUNTERS]


def promtool(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed (Debian: prometheus)")
    return subprocess.run(
        ["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_a_rule_for_each_alarm_of_a_table() -> None:
    rules = yaml.safe_load(invoke("alarms", "portal").stdout)["groups"][0]["rules"]
    assert [rule["alert"] for rule in rules] == [
        *("ReadCapacity", "WriteCapacity", "Throttled", "SystemErrors", "ReplicationLatency"),
        *("BackupTooOld", "LongWriteAheadLog", "SlowSync", "DailyCost"),
    ]
    assert rules[0]["expr"] == (
        'sum by (table) (increase(bigtime_consumed_read_units_total{table=~"tenants|products'
        '|campaigns|orders|audit|codes"}[60s])) > 10000'
    )
    assert rules[0]["annotations"]["action"] == ALARMS[0].action
    assert rules[4]["expr"] == (
        "max by (table, receiving_region) (avg_over_time(bigtime_replication_latency_milliseconds"
        '{table=~"tenants|products|campaigns|orders|audit|codes"}[60s])) > 5000'
    )


def test_alertmanager_sends_to_the_topic_of_the_environment() -> None:
    shown = invoke("alarms", "portal", "--format", "alertmanager", "--environment", "prod")
    receiver = yaml.safe_load(shown.stdout)["receivers"][0]
    assert receiver["sns_configs"][0]["topic_arn"] == (
        "arn:aws:sns:af-south-1:093646564004:bbws-dynamodb-alerts-prod"
    )
    wrong = invoke("alarms", "portal", "--format", "alertmanager", "--environment", "qa")
    assert wrong.exit_code == 2
    assert "has no environment 'qa'" in wrong.stderr


def test_promtool_takes_the_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text(prometheus_rules(SYSTEM))
    done = promtool("check", "rules", "rules.yml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "9 rules found" in done.stdout
    (tmp_path / "rules.yml").write_text(prometheus_rules(SYSTEM, SYSTEM.environment("prod")))
    assert "10 rules found" in promtool("check", "rules", "rules.yml", folder=tmp_path).stdout


@pytest.mark.parametrize(("latency", "fires"), [(5_100, True), (4_900, False)])
def test_a_replica_that_is_late_is_told(latency: int, fires: bool, tmp_path: Path) -> None:
    (tmp_path / "rules.yml").write_text(prometheus_rules(SYSTEM))
    gauge = "bigtime_replication_latency_milliseconds"
    labels = '{table="orders",receiving_region="eu-west-1"}'
    found = [{"labels": "{}", "value": 1}] if fires else []
    expected = 'count(ALERTS{alertname="ReplicationLatency",receiving_region="eu-west-1"})'
    test = {
        "interval": "15s",
        "input_series": [{"series": gauge + labels, "values": f"{latency}+0x20"}],
        "promql_expr_test": [{"expr": expected, "eval_time": "4m", "exp_samples": found}],
    }
    tests = {"rule_files": ["rules.yml"], "evaluation_interval": "15s", "tests": [test]}
    (tmp_path / "tests.yml").write_text(json.dumps(tests))
    done = promtool("test", "rules", "tests.yml", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("alarm", COUNTED, ids=lambda alarm: alarm.name)
def test_a_load_over_the_threshold_fires_and_one_under_it_does_not(
    alarm: Alarm, tmp_path: Path
) -> None:
    a_scrape = alarm.threshold * 15 / alarm.period_seconds
    name = "".join(word.capitalize() for word in alarm.name.split("-"))
    # Half of it is of the table itself, half of an index.
    series = [f'{COUNTERS[alarm.metric]}{{table="tenants",index="{i}"}}' for i in ("", "By")]
    if alarm.by == "operation":
        series, a_scrape = [f'{COUNTERS[alarm.metric]}{{table="tenants"}}'], 2 * a_scrape
    try_rules(
        tmp_path,
        f'{name}",table="tenants',
        (dict.fromkeys(series, f"0+{a_scrape * 0.6}x80"), True),
        (dict.fromkeys(series, f"0+{a_scrape * 0.4}x80"), False),
    )


@pytest.mark.parametrize(
    ("alert", "fires", "rests"),
    [
        (
            "BackupTooOld",
            {"bigtime_backup_age_seconds": "7200+15x80"},
            {"bigtime_backup_age_seconds": "0+15x80"},
        ),
        (
            "NoPointInTimeRecovery",
            {'bigtime_pitr_window_seconds{table="tenants"}': "0x80"},
            {'bigtime_pitr_window_seconds{table="tenants"}': "60+15x80"},
        ),
        (
            "LongWriteAheadLog",
            {"bigtime_wal_bytes": "80000000x80"},
            {"bigtime_wal_bytes": "8000000x80"},
        ),
        (
            "SlowSync",
            {"bigtime_fsync_seconds_sum": "0+3x80", "bigtime_fsync_seconds_count": "0+15x80"},
            {"bigtime_fsync_seconds_sum": "0+1x80", "bigtime_fsync_seconds_count": "0+150x80"},
        ),
        (
            "DailyCost",
            {"bigtime_daily_cost_dollars": "1.6x80", "bigtime_daily_cost_mean_dollars": "1x80"},
            {"bigtime_daily_cost_dollars": "1.4x80", "bigtime_daily_cost_mean_dollars": "1x80"},
        ),
    ],
)
def test_what_goes_wrong_with_the_running_of_it_fires(
    alert: str, fires: dict[str, str], rests: dict[str, str], tmp_path: Path
) -> None:
    try_rules(tmp_path, alert, (fires, True), (rests, False))


def try_rules(folder: Path, alert: str, *cases: tuple[dict[str, str], bool]) -> None:
    """Lets promtool evaluate the rules of prod over series: whether they raise that alert."""
    rules = prometheus_rules(SYSTEM, SYSTEM.environment("prod"))
    (folder / "rules.yml").write_text(rules)
    tests = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "15s",
        "tests": [
            {
                "interval": "15s",
                "input_series": [
                    {"series": name, "values": values} for name, values in series.items()
                ],
                "promql_expr_test": [
                    {
                        "expr": f'count(ALERTS{{alertname="{alert}"}})',
                        "eval_time": "20m",
                        "exp_samples": [{"labels": "{}", "value": 1}] if is_raised else [],
                    }
                ],
            }
            for series, is_raised in cases
        ],
    }
    (folder / "tests.yml").write_text(json.dumps(tests))
    done = promtool("test", "rules", "tests.yml", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
