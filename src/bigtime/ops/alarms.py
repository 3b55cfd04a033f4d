"""A system's alarms for Prometheus, and Alertmanager's part; CloudWatch's are in the Terraform.

A rule looks at as many seconds as its alarm does, and fires at once. (With a `for` on top, a burst
that leaves the window before that time is over would never fire.) It goes by what `/metrics` of
the site counts, which is what this application asked of its tables.
"""

from __future__ import annotations

import json
from typing import Final

from bigtime.model import Alarm, Environment, System

COUNTERS: Final = {
    "ConsumedReadCapacityUnits": "bigtime_consumed_read_units_total",
    "ConsumedWriteCapacityUnits": "bigtime_consumed_write_units_total",
    "ThrottledRequests": "bigtime_throttled_requests_total",
    "SystemErrors": "bigtime_system_errors_total",
    "UserErrors": "bigtime_user_errors_total",
    "ConditionalCheckFailedRequests": "bigtime_conditional_check_failed_requests_total",
}
"""What `/metrics` calls the metrics of CloudWatch."""
GAUGES: Final = {"ReplicationLatency": "bigtime_replication_latency_milliseconds"}
"""Those that are a mean, by table and receiving region."""


def prometheus_rules(system: System) -> str:
    """The rules, as a file that Prometheus loads. JSON quotes texts as YAML does."""
    lines = ["groups:", f"  - name: {system.name}", "    rules:"]
    for alarm in system.alarms:
        if alarm.metric in COUNTERS or alarm.metric in GAUGES:
            lines += rule_lines(system, alarm)
        else:
            lines.append(f"      # {alarm.metric} is CloudWatch's alone: see the Terraform.")
    return "\n".join(lines) + "\n"


def rule_lines(system: System, alarm: Alarm) -> list[str]:
    words = "".join(word.capitalize() for word in alarm.name.split("-"))
    summary = f"{alarm.metric} of {{{{ $labels.table }}}} is {{{{ $value }}}}"
    return [
        f"      - alert: {words}",
        f"        expr: {json.dumps(expression(system, alarm))}",
        "        labels:",
        f"          system: {json.dumps(system.name)}",
        "          severity: warning",
        "        annotations:",
        f"          summary: {json.dumps(f'{summary} in {alarm.period_seconds} s')}",
        f"          action: {json.dumps(alarm.action)}",
    ]


def expression(system: System, alarm: Alarm) -> str:
    tables = "|".join(table.name.replace(".", "[.]") for table in system.tables)
    if gauge := GAUGES.get(alarm.metric):
        mean = f'avg_over_time({gauge}{{table=~"{tables}"}}[{alarm.period_seconds}s])'
        return f"max by (table, receiving_region) ({mean}) > {alarm.threshold}"
    counter = f'{COUNTERS[alarm.metric]}{{table=~"{tables}"}}'
    return f"sum by (table) (increase({counter}[{alarm.period_seconds}s])) > {alarm.threshold}"


def alertmanager_example(environment: Environment) -> str:
    """Alertmanager's configuration: to the topic that CloudWatch's alarms go to."""
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
