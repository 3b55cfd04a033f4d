"""An environment: the account and region that hold a system's tables, and their settings there.

It is a plain value. `System(environments=(DEV, PROD))` declares them; `environment.system(SYSTEM)`
is the system with that environment's table settings, which `setup` and `diff` take like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from bigtime.model.errors import DesignError
from bigtime.model.schema import MANAGED_KEY, MAX_RECOVERY_DAYS, Table

if TYPE_CHECKING:
    from bigtime.model.system import System

Frequency: TypeAlias = Literal["hourly", "daily"]

NAME = re.compile(r"[a-z][a-z0-9-]*")
ACCOUNT = re.compile(r"\d{12}")
REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d+")
PERIODS: dict[Frequency, timedelta] = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
}


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a system runs, and how.

    `prefix` begins the names of the resources created beside the tables (vault, plan, topic).
    Backups are taken every hour on the hour, or every day at `backup_hour` UTC, and kept for
    `retention_days`; with a `dr_region` the tables have a replica there, and the backups a copy.
    `estimates` are the planned dollars a month, by purpose. An `account` of None means any account.
    """

    name: str
    region: str
    account: str | None = None
    dr_region: str | None = None
    prefix: str = "bigtime"
    backup_frequency: Frequency = "daily"
    backup_hour: int = 0
    retention_days: int = 7
    recovery_days: int = MAX_RECOVERY_DAYS
    encryption: str | None = MANAGED_KEY
    protected: bool = False
    budget_dollars: int | None = None
    budget_alert_percent: int = 80
    estimates: Mapping[str, int] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_environment(self)

    @property
    def regions(self) -> tuple[str, ...]:
        """The regions that hold its tables: its own, then the replica's."""
        return (self.region,) if self.dr_region is None else (self.region, self.dr_region)

    @property
    def backup_schedule(self) -> str:
        """The schedule of backups, as a cron expression for AWS Backup."""
        hour = "*" if self.backup_frequency == "hourly" else self.backup_hour
        return f"cron(0 {hour} * * ? *)"

    @property
    def backup_period(self) -> timedelta:
        return PERIODS[self.backup_frequency]

    @property
    def backup_vault(self) -> str:
        return f"{self.prefix}-backup-vault-{self.name}"

    @property
    def backup_plan(self) -> str:
        return f"{self.prefix}-dynamodb-{self.name}-{self.backup_frequency}"

    @property
    def backup_rule(self) -> str:
        return f"{self.backup_frequency}_backup"

    @property
    def backup_selection(self) -> str:
        return f"{self.prefix}-dynamodb-{self.name}-selection"

    @property
    def alert_topic(self) -> str:
        return f"{self.prefix}-dynamodb-alerts-{self.name}"

    def table(self, declared: Table) -> Table:
        """The table with this environment's settings; those that the table declares itself win.

        Tags and replicas are those of both.
        """
        there = replace(
            declared,
            deletion_protection=declared.deletion_protection or self.protected,
            tags={**declared.tags, **self.tags},
            encryption=declared.encryption or self.encryption,
            point_in_time_recovery=declared.point_in_time_recovery or self.recovery_days,
            replicas=tuple(dict.fromkeys((*declared.replicas, *self.regions[1:]))),
        )
        there.entities = declared.entities
        return there

    def system(self, declared: System) -> System:
        """The system with this environment's table settings."""
        return replace(declared, tables=tuple(map(self.table, declared.tables)))


def check_environment(environment: Environment) -> None:
    where = f"environment {environment.name!r}"
    if not NAME.fullmatch(environment.name):
        raise DesignError(f"{where}: its name is of the characters a-z, 0-9 and -; rename it")
    if environment.account is not None and not ACCOUNT.fullmatch(environment.account):
        raise DesignError(
            f"{where}: an account of AWS has 12 digits, as a text; {environment.account!r} is none"
        )
    for region in environment.regions:
        if not REGION.fullmatch(region):
            raise DesignError(f"{where}: {region!r} is no region; one is called af-south-1")
    if environment.dr_region == environment.region:
        raise DesignError(f"{where}: its replica is in its own region; name another")
    check_backups(environment, where)


def check_backups(environment: Environment, where: str) -> None:
    if environment.backup_frequency not in PERIODS:
        raise DesignError(
            f"{where}: backups are taken {' or '.join(PERIODS)}, not"
            f" {environment.backup_frequency!r}"
        )
    if not 0 <= environment.backup_hour <= 23:
        raise DesignError(f"{where}: {environment.backup_hour} is no hour of a day; give 0 to 23")
    if environment.retention_days < 1:
        raise DesignError(f"{where}: backups are kept for a day at least")
    if not 1 <= environment.recovery_days <= MAX_RECOVERY_DAYS:
        raise DesignError(
            f"{where}: tables can be restored to 1 to {MAX_RECOVERY_DAYS} days, not"
            f" {environment.recovery_days}"
        )
