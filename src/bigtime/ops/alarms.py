"""A system's alarms as Prometheus rules, and Alertmanager's part; CloudWatch's are in Terraform.

A rule's window is as long as its alarm's period, and the rule fires at once. (With a `for` on top,
a burst that leaves the window before that time is over would never fire.) The figures are those of
the site's `/metrics`, which count what this application asked of its tables.

Beside the alarms of the tables are operational ones that CloudWatch knows nothing of: the age of
backups, the window of point-in-time recovery, the disk of a file, the cost of a day.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Final, NamedTuple

from bigtime.model import Alarm, Environment, System, Table

COUNTERS: Final = {
    "ConsumedReadCapacityUnits": "bigtime_consumed_read_units_total",
    "ConsumedWriteCapacityUnits": "bigtime_consumed_write_units_total",
    "ThrottledRequests": "bigtime_throttled_requests_total",
    "SystemErrors": "bigtime_system_errors_total",
    "UserErrors": "bigtime_user_errors_total",
    "ConditionalCheckFailedRequests": "bigtime_conditional_check_failed_requests_total",
}
"""The counters of `/metrics` for CloudWatch's metrics."""
GAUGES: Final = {"ReplicationLatency": "bigtime_replication_latency_milliseconds"}
"""The gauges that are a mean, by table and receiving region."""


LONG_LOG_BYTES: Final = 64 << 20
SLOW_SYNC_SECONDS: Final = 0.1


class OperationRule(NamedTuple):
    """A condition on the figures of the whole site, or of each table."""

    alert: str
    expression: str
    summary: str
    action: str


def operation_rules(system: System, environment: Environment | None) -> Iterator[OperationRule]:
    """Operational alarms; how often backups are promised is for the environment to say."""
    period = timedelta(days=1) if environment is None else environment.backup_period
    yield OperationRule(
        "BackupTooOld",
        f"bigtime_backup_age_seconds > {2 * period.total_seconds():.0f}",
        "The newest backup is {{ $value | humanizeDuration }} old",
        "Run `bigtime backup run --once`, and read why it fails.",
    )
    if environment is not None:
        yield OperationRule(
            "NoPointInTimeRecovery",
            f'bigtime_pitr_window_seconds{{table=~"{names_pattern(system.saved_tables)}"}} == 0',
            "{{ $labels.table }} cannot be restored to a moment",
            "Run `bigtime tables create --environment NAME`.",
        )
    yield OperationRule(
        "LongWriteAheadLog",
        f"bigtime_wal_bytes > {LONG_LOG_BYTES}",
        "SQLite's log is {{ $value | humanize1024 }}B long",
        "Look for a process that holds a read transaction open.",
    )
    yield OperationRule(
        "SlowSync",
        "rate(bigtime_fsync_seconds_sum[5m]) / rate(bigtime_fsync_seconds_count[5m])"
        f" > {SLOW_SYNC_SECONDS}",
        "A commit takes {{ $value | humanizeDuration }}",
        "Look at the disk: what else writes to it?",
    )
    yield OperationRule(
        "DailyCost",
        "bigtime_daily_cost_dollars > 1.5 * bigtime_daily_cost_mean_dollars",
        "Today has cost ${{ $value }} so far, over 150 % of the last seven days' mean",
        "Look for the table whose units have grown.",
    )


def names_pattern(tables: Iterable[Table]) -> str:
    """A regular expression that matches the tables' names."""
    return "|".join(table.name.replace(".", "[.]") for table in tables)


def prometheus_rules(system: System, environment: Environment | None = None) -> str:
    """The rules as a file that Prometheus loads. JSON quotes strings as YAML does."""
    lines = ["groups:", f"  - name: {system.name}", "    rules:"]
    for alarm in system.alarms:
        if alarm.metric in COUNTERS or alarm.metric in GAUGES:
            lines += rule_lines(system, alarm)
        else:
            lines.append(f"      # {alarm.metric} is CloudWatch's alone: see the Terraform.")
    for rule in operation_rules(system, environment):
        lines += text_of_rule(system, rule)
    return "\n".join(lines) + "\n"


def rule_lines(system: System, alarm: Alarm) -> list[str]:
    words = "".join(word.capitalize() for word in alarm.name.split("-"))
    summary = f"{alarm.metric} of {{{{ $labels.table }}}} is {{{{ $value }}}}"
    rule = OperationRule(
        words, expression(system, alarm), f"{summary} in {alarm.period_seconds} s", alarm.action
    )
    return text_of_rule(system, rule)


def text_of_rule(system: System, rule: OperationRule) -> list[str]:
    return [
        f"      - alert: {rule.alert}",
        f"        expr: {json.dumps(rule.expression)}",
        "        labels:",
        f"          system: {json.dumps(system.name)}",
        "          severity: warning",
        "        annotations:",
        f"          summary: {json.dumps(rule.summary)}",
        f"          action: {json.dumps(rule.action)}",
    ]


def expression(system: System, alarm: Alarm) -> str:
    tables = names_pattern(system.tables)
    if gauge := GAUGES.get(alarm.metric):
        mean = f'avg_over_time({gauge}{{table=~"{tables}"}}[{alarm.period_seconds}s])'
        return f"max by (table, receiving_region) ({mean}) > {alarm.threshold}"
    counter = f'{COUNTERS[alarm.metric]}{{table=~"{tables}"}}'
    return f"sum by (table) (increase({counter}[{alarm.period_seconds}s])) > {alarm.threshold}"


def alertmanager_example(environment: Environment) -> str:
    """Alertmanager's configuration: it sends to the same SNS topic as CloudWatch's alarms."""
    topic = f"arn:aws:sns:{environment.region}:{environment.account or 'ACCOUNT'}"
    return f"""\
route:
  receiver: {environment.alert_topic}
  group_by: [alertname, table]
  group_wait: 30s
  repeat_interval: 4h
receivers:
  - name: {environment.alert_topic}
    sns_configs:
      - topic_arn: "{topic}:{environment.alert_topic}"
        sigv4:
          region: {environment.region}
        subject: '{{{{ .CommonLabels.alertname }}}} in {environment.name}'
"""
