"""The files in docs/testing.md are what they say: its tests pass, each part in a folder."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.nested import nested_pytest, without_plugins

GUIDE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()
BLOCK = re.compile(r"^```python\n(?:# (\w+\.py)\n)?(.*?)^```", re.MULTILINE | re.DOTALL)
PARTS = {
    heading: dict(BLOCK.findall(text))
    for heading, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL)
}
TESTED = {
    "Move a suite from moto": 2,
    "What is intercepted": 3,
    "Fixtures": 4,
    "A FastAPI application": 2,
}


def run_tests(folder: Path, files: dict[str, str], **variables: str) -> str:
    """The last line that pytest prints."""
    for name, text in files.items():
        (folder / name).write_text(text)
    environment = {name: value for name, value in os.environ.items() if name[:4] != "AWS_"}
    done = subprocess.run(
        nested_pytest(),
        cwd=folder,
        env=without_plugins({**environment, "AWS_EC2_METADATA_DISABLED": "true", **variables}),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()[-1]


def test_every_part_with_files_is_tested() -> None:
    assert {heading for heading, files in PARTS.items() if files} == set(TESTED)
    assert all(name for files in PARTS.values() for name in files)


@pytest.mark.parametrize("heading", TESTED)
def test_the_tests_of_a_part_pass(heading: str, tmp_path: Path) -> None:
    assert run_tests(tmp_path, PARTS[heading]).startswith(f"{TESTED[heading]} passed")


def test_the_suite_to_be_moved_passes_on_moto_before(tmp_path: Path) -> None:
    files = PARTS["Move a suite from moto"]
    before = files["conftest.py"].replace("mock_aws(), intercept()", "mock_aws()")
    assert before != files["conftest.py"]
    # A client made at import needs them there.
    keys = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
    assert run_tests(tmp_path, {**files, "conftest.py": before}, **keys).startswith("2 passed")
