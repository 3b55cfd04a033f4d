"""The pytest plugin: a fixture for whoever asks, and no cost for whoever does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DESIGN = """
from bigtime.model import (Entity, Keys, Table, get)
from bigtime.advisor.explanation import Cost


class Note(Entity, table=Table("Notes", "id")):
    keys = Keys(main="{id}")
    id: str


def test_a_note_is_half_a_unit(pattern_cost: Cost) -> None:
    assert pattern_cost(get(Note.key("a"))).read_units == 0.5
"""
BYSTANDER = """
import sys


def test_nothing_of_bigtime_is_imported():
    loaded = [name for name in sys.modules if name.startswith("bigtime.")]
    assert loaded == ["bigtime.pytest_plugin"]
"""


def run_pytest(directory: Path, test: str) -> subprocess.CompletedProcess[str]:
    (directory / "test_it.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    return subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=300, check=False
    )


def test_a_test_takes_the_fixture_without_a_conftest(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, DESIGN)
    assert done.returncode == 0, done.stdout


def test_a_run_that_does_not_use_it_imports_nothing_else(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, BYSTANDER)
    assert done.returncode == 0, done.stdout
