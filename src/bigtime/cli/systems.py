"""Finds the system, pattern and environment that were typed; and `bigtime environments`."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from sysconfig import get_path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Sheet

import bigtime
from bigtime.cli.packages import bt, ops, stores
from bigtime.cli.screen import refuse, refuse_on

PACKAGE = "bigtime.systems"
ATTRIBUTE = "SYSTEM"
SITE = "site"
"""The system that is composed of the others, in a package of its own."""

SystemName = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM",
        help="One of Bigtime's systems by name, or your own as package.module:ATTRIBUTE.",
    ),
]

PatternName = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM.PATTERN",
        help="The system, a dot, and its pattern's name: deals.fetch_deal, or shop:SYSTEM.save.",
    ),
]

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


def pattern_named(name: str) -> tuple[bt.System, bt.Pattern[..., Any]]:
    """The pattern and its system; ends the program with a sentence if there is none."""
    system = system_of(name)
    found = system_named(system)
    with refuse_on(bt.DesignError, code=2, then="."):
        return found, found.pattern(name.removeprefix(f"{system}."))


def system_of(pattern: str) -> str:
    """The system part of a pattern's name, as typed."""
    system, dot, name = pattern.rpartition(".")
    if not dot or ":" in name:
        refuse(
            f"{pattern!r} names no pattern: say SYSTEM.PATTERN. `bigtime patterns {pattern}` lists"
            " those of a system.",
            code=2,
        )
    return system


def system_named(name: str) -> bt.System:
    """The system; ends the program with a sentence if there is none."""
    module, attribute = address_of(name)
    if "" not in sys.path:
        sys.path.insert(0, "")  # the user's own system is in the current folder
    try:
        found = getattr(import_module(module), attribute, None)
    except bt.DesignError as error:
        refuse(f"{name} cannot work as it is declared: {error}")
    except ModuleNotFoundError as error:
        if f"{module}.".startswith(f"{error.name}."):
            refuse(f"{missing_message(name, module)} {choices()}", code=2)
        refuse(f"{module} cannot be imported: {error}.")
    except Exception as error:  # whatever the user's own module raises
        refuse(f"{module} cannot be imported: {fault_of(error)}")
    if not isinstance(found, bt.System):
        refuse(f"{module} has no System called {attribute}. {choices()}", code=2)
    return found


def fault_of(error: Exception) -> str:
    """The error, with the line of the application's own file that it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_own(frame.filename)] or frames
    words = "".join(traceback.format_exception_only(error)).strip()
    return f"{words}\n{own[-1].filename}, line {own[-1].lineno}: {own[-1].line}"


def is_own(file: str) -> bool:
    """Whether a file is the application's own: not Bigtime's, nor a library's."""
    path, libraries = Path(file), (bigtime.__path__[0], get_path("stdlib"), get_path("purelib"))
    return path.is_file() and not any(path.is_relative_to(folder) for folder in libraries)


def address_of(name: str) -> tuple[str, str]:
    """The module and the attribute of a system."""
    if name == SITE:
        return "bigtime.site", "SITE"
    if ":" not in name:
        return f"{PACKAGE}.{name}", ATTRIBUTE
    module, _, attribute = name.partition(":")
    return module, attribute or ATTRIBUTE


def all_systems() -> list[bt.System]:
    return [system_named(name) for name in names()]


def names() -> list[str]:
    """The names of the systems that come with Bigtime; importing some needs an extra."""
    return [*(module.name for module in iter_modules(import_module(PACKAGE).__path__)), SITE]


def missing_message(name: str, module: str) -> str:
    """Says what was not found, and what was probably meant."""
    if ":" in name:
        return f"There is no module {module!r} in this directory or among the installed ones."
    own = f" Your own is {name}:{ATTRIBUTE}." if find_spec(name.partition(".")[0]) else ""
    return f"There is no system {name!r}.{own}"


def choices() -> str:
    return f"Choose one of {', '.join(names())}, or name your own as package.module:ATTRIBUTE."


# Environments


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
    """The environment; ends the program with a sentence if there is none."""
    with refuse_on(bt.DesignError, code=2, then="."):
        return system.environment(name)


def check_environment(system: bt.System, store: str | None) -> None:
    """Ends the program if the store is not in the system's `BIGTIME_ENVIRONMENT`.

    A system without environments may have its tables anywhere.
    """
    name = os.environ.get(VARIABLE)
    if name and system.environments:
        in_environment(system, name, store)


def in_environment(system: bt.System, name: str | None, store: str | None) -> bt.System:
    """The system with the environment's settings; ends the program if the store is not there."""
    if name is None:
        return system
    environment = environment_named(system, name)
    with refuse_on(stores.SettingError, code=2):
        ops.check_store(environment, store)
    return environment.system(system)
