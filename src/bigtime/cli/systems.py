"""Finding the system that a person means: one that comes with Bigtime, or one of their own."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from sysconfig import get_path
from typing import Annotated, Any

import typer

import bigtime
from bigtime.cli.packages import bt
from bigtime.cli.screen import refuse, refuse_on

PACKAGE = "bigtime.systems"
ATTRIBUTE = "SYSTEM"
SITE = "site"
"""The system that is made of the others, in a package of its own."""

SystemName = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM",
        help="One of Bigtime's systems by its name, or your own as package.module:ATTRIBUTE.",
    ),
]

PatternName = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM.PATTERN",
        help="The system, a dot, and its pattern's name: deals.fetch_deal, or shop:SYSTEM.save.",
    ),
]


def pattern_named(name: str) -> tuple[bt.System, bt.Pattern[..., Any]]:
    """The pattern and its system, or the end of the program with a sentence."""
    system = system_of(name)
    found = system_named(system)
    with refuse_on(bt.DesignError, code=2, then="."):
        return found, found.pattern(name.removeprefix(f"{system}."))


def system_of(pattern: str) -> str:
    """The system in the name of a pattern, as it was typed."""
    system, dot, name = pattern.rpartition(".")
    if not dot or ":" in name:
        refuse(
            f"{pattern!r} names no pattern: say SYSTEM.PATTERN. `bigtime patterns {pattern}` lists"
            " those of a system.",
            code=2,
        )
    return system


def system_named(name: str) -> bt.System:
    """The system, or the end of the program with a sentence."""
    module, attribute = address_of(name)
    if "" not in sys.path:
        sys.path.insert(0, "")  # one's own system is in the directory one is in
    try:
        found = getattr(import_module(module), attribute, None)
    except bt.DesignError as error:
        refuse(f"{name} cannot work as it is declared: {error}")
    except ModuleNotFoundError as error:
        if f"{module}.".startswith(f"{error.name}."):
            refuse(f"{missing_message(name, module)} {choices()}", code=2)
        refuse(f"{module} cannot be imported: {error}.")
    except Exception as error:  # whatever one's own module raises
        refuse(f"{module} cannot be imported: {fault_of(error)}")
    if not isinstance(found, bt.System):
        refuse(f"{module} has no System called {attribute}. {choices()}", code=2)
    return found


def fault_of(error: Exception) -> str:
    """The error, with the line of the program's own file that it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_own(frame.filename)] or frames
    words = "".join(traceback.format_exception_only(error)).strip()
    return f"{words}\n{own[-1].filename}, line {own[-1].lineno}: {own[-1].line}"


def is_own(file: str) -> bool:
    """Whether a file is of the application: not of Bigtime, nor of a library."""
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
    """The names of the systems that come with Bigtime; some need an extra to be imported."""
    return [*(module.name for module in iter_modules(import_module(PACKAGE).__path__)), SITE]


def missing_message(name: str, module: str) -> str:
    """What is not there, and what was probably meant."""
    if ":" in name:
        return f"There is no module {module!r} in this directory or among the installed ones."
    own = f" Your own is {name}:{ATTRIBUTE}." if find_spec(name.partition(".")[0]) else ""
    return f"There is no system {name!r}.{own}"


def choices() -> str:
    return f"Choose one of {', '.join(names())}, or name your own as package.module:ATTRIBUTE."
