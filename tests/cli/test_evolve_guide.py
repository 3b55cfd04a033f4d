"""docs/evolve.md, from its first line to its last: its files are written, its commands run."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.warm_commands import WarmCommands

GUIDE = (Path(__file__).parents[2] / "docs" / "evolve.md").read_text()
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\w+\.py)\n")


@pytest.mark.parametrize(
    ("guide", "expected"),
    [
        (GUIDE.partition("## Rename an attribute or a class")[0], {"verify", "backfill"}),
        pytest.param(
            GUIDE, {"verify", "backfill", "move", "consume", "migrate"}, marks=pytest.mark.proof
        ),
    ],
    ids=["an index", "all"],
)
def test_the_guide_works_from_start_to_end(
    guide: str, expected: set[str], tmp_path: Path, commands: WarmCommands
) -> None:
    verbs = set[str]()
    for kind, text in BLOCK.findall(guide):
        if kind == "python":
            name = FILE.match(text)
            assert name, text
            (tmp_path / name[1]).write_text(text)
            continue
        for line in text.splitlines():
            command, _, comment = line.partition("#")
            verbs |= run_line(commands, command.split(), tmp_path, fails="exit code 1" in comment)
    assert verbs == expected
    assert not [path.name for path in tmp_path.iterdir() if ".state" in path.name]


def run_line(commands: WarmCommands, words: list[str], folder: Path, *, fails: bool) -> set[str]:
    """Runs a line of shell; the verb of `bigtime` in it."""
    program, *arguments = words
    if program == "export":
        assert arguments == ["BIGTIME_STORE=file:shop.db"]
        return set()
    assert program in ("python", "bigtime")
    # Two versions of shop.py in one second, of the same size, would be one to the cache.
    variables = {**os.environ, "BIGTIME_STORE": "file:shop.db", "PYTHONDONTWRITEBYTECODE": "1"}
    command = arguments if program == "python" else words
    done = commands.run(*command, folder=folder, variables=variables)
    assert done.returncode == fails, f"{words}: {done.stdout[-2000:]}{done.stderr}"
    return {arguments[0]} if program == "bigtime" else set()
