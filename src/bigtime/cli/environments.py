"""`bigtime environments`, and the option `--environment` of other verbs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table as Sheet

from bigtime.cli.packages import bt, ops, stores
from bigtime.cli.screen import refuse, refuse_on
from bigtime.cli.systems import SystemName, system_named

VARIABLE = "BIGTIME_ENVIRONMENT"
EnvironmentName = Annotated[
    str | None,
    typer.Option(
        "--environment",
        metavar="NAME",
        envvar=VARIABLE,
        help="As they are run in this environment of the system.",
    ),
]


def environments(system: SystemName) -> None:
    """Show where a system is run, and how: accounts, regions, backups, budgets, tags."""
    declared = system_named(system)
    if not declared.environments:
        refuse(
            f"{declared.name} declares no environment: give its System(...) some, as in"
            " environments=(Environment('dev', 'af-south-1'),)."
        )
    sheet = Sheet("", *(there.name for there in declared.environments))
    for title, text in rows(declared):
        sheet.add_row(title, *map(text, declared.environments))
    Console(highlight=False).print(sheet)


def rows(system: bt.System) -> list[tuple[str, Callable[[bt.Environment], str]]]:
    saved = ", ".join(table.name for table in system.saved_tables)
    keys = dict.fromkeys(key for there in system.environments for key in there.tags)
    return [
        ("account", lambda there: there.account or "any"),
        ("region", lambda there: there.region),
        ("replica", lambda there: there.dr_region or "-"),
        ("restore to any moment", lambda there: f"{there.recovery_days} days"),
        ("backups", lambda there: f"{there.backup_frequency}, {there.backup_schedule}"),
        ("backups of", lambda there: saved),
        ("kept for", lambda there: f"{there.retention_days} days"),
        ("vault", lambda there: there.backup_vault),
        ("deletion protection", lambda there: "on" if there.protected else "off"),
        ("encryption", lambda there: there.encryption or "AWS's own key"),
        ("budget a month", lambda there: dollars(there.budget_dollars)),
        ("alert at", lambda there: dollars(alert_dollars(there))),
        ("estimate a month", lambda there: dollars(sum(there.estimates.values()) or None)),
        *((f"tag {key}", lambda there, key=key: there.tags.get(key, "-")) for key in keys),
    ]


def alert_dollars(environment: bt.Environment) -> int | None:
    budget = environment.budget_dollars
    return None if budget is None else budget * environment.budget_alert_percent // 100


def dollars(amount: int | None) -> str:
    return "-" if amount is None else f"${amount:,}"


def environment_named(system: bt.System, name: str) -> bt.Environment:
    """The environment, or the end of the program with a sentence."""
    with refuse_on(bt.DesignError, code=2, then="."):
        return system.environment(name)


def check_environment(system: bt.System, store: str | None) -> None:
    """Ends the program if the store is not where `BIGTIME_ENVIRONMENT` of the system is.

    A system that declares no environments has its tables anywhere.
    """
    name = os.environ.get(VARIABLE)
    if name and system.environments:
        in_environment(system, name, store)


def in_environment(system: bt.System, name: str | None, store: str | None) -> bt.System:
    """The system as it is run there, if the store is there too; else the end, with a sentence."""
    if name is None:
        return system
    environment = environment_named(system, name)
    with refuse_on(stores.SettingError, code=2):
        ops.check_store(environment, store)
    return environment.system(system)
