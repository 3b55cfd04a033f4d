"""What a person types, and what the program says back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import bigtime
from bigtime.cli.app import app
from tests.cli.program import ask, run

MANUAL = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()


def verbs(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of the program, with the words that lead to it."""
    command = command or get_command(app)
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from verbs(inner, (*path, name))


@pytest.mark.parametrize("path", [path for path, _ in verbs()], ids=" ".join)
def test_every_verb_explains_itself(path: tuple[str, ...]) -> None:
    done = ask(*path, "--help")
    assert done.returncode == 0
    assert f"Usage: {' '.join(['bigtime', *path])}" in done.stdout


@pytest.mark.parametrize(("path", "command"), list(verbs()), ids=str)
def test_every_verb_and_option_has_help_and_is_in_the_manual(
    path: tuple[str, ...], command: Any
) -> None:
    assert command.help
    if not getattr(command, "commands", None):
        assert f"bigtime {' '.join(path)}" in MANUAL
    for parameter in command.params:
        assert parameter.help, f"{path} {parameter.name} has no help"
        for name in parameter.opts:
            assert f"`{name}" in MANUAL, f"{name} of {path} is not in docs/cli.md"


def test_no_package_is_imported_before_a_verb_needs_it() -> None:
    program = "import sys, bigtime.cli.app; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    ours = {name.split(".")[1] for name in loaded if name.startswith("bigtime.")}
    assert ours == {"cli", "extras"}
    assert not {"pydantic", "botocore", "fastapi"} & {*loaded}


def test_it_knows_its_version() -> None:
    assert run("--version").stdout == f"bigtime {bigtime.__version__}\n"


def test_no_verb_at_all_shows_the_help() -> None:
    done = ask()
    assert "engine" in done.stdout and "doctor" in done.stdout


def test_the_help_shows_what_a_design_needs_first_and_the_demo_last() -> None:
    shown = ask("--help").stdout
    titles = ["Design", "Run", "Change", "Operate", "The demo's site"]
    places = [shown.index(f"─ {title} ") for title in titles]
    assert places == sorted(places)
    assert shown.index(" check ") < places[1] and shown.index(" serve ") > places[-1]


def test_an_unknown_verb_is_named() -> None:
    done = ask("engin")
    assert done.returncode == 2
    assert "engin" in done.stderr
