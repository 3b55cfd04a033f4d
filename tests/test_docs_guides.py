"""The files and commands in the guides to a project are what they say, each in an empty folder.

A block that begins with the comment `# path` is a file. A `console` block has commands and what
they print; the commands of a `sh` block are run where they are of `bigtime`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from configparser import ConfigParser
from itertools import takewhile
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.testing import serve_in_thread
from tests.nested import nested_pytest, without_plugins
from tests.warm_commands import WarmCommands

DOCS = Path(__file__).parent.parent / "docs"
FILE = re.compile(
    r"^```(?:python|toml|ini)\n# ([\w/.-]+\.\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
OPEN_TICKET = "bigtime run helpdesk:SYSTEM.open_ticket --team=it --title=Tea"


def read(guide: str) -> str:
    return (DOCS / guide).read_text()


def write_files(folder: Path, *guides: str) -> None:
    for guide in guides:
        for name, text in FILE.findall(read(guide)):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def environment(**more: str) -> dict[str, str]:
    """Without what the tests of this project, or who runs them, have set."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWS_", "BIGTIME_", "PYTEST_"))
    }
    return {**kept, "AWS_EC2_METADATA_DISABLED": "true", "COLUMNS": "120", **more}


def run(folder: Path, command: list[str], variables: dict[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def section(guide: str, heading: str) -> str:
    """The text under a heading, up to the next of the same level."""
    level = heading.partition(" ")[0]
    found = re.search(
        rf"^{re.escape(heading)}\n(.*?)(?=^#{{2,{len(level)}}} |\Z)",
        read(guide),
        re.MULTILINE | re.DOTALL,
    )
    assert found, heading
    return found[1]


def blocks(kind: str, text: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run_lines(
    commands: WarmCommands, folder: Path, lines: list[str], variables: dict[str, str]
) -> list[str]:
    """What each line prints; `export` holds for those that follow."""
    printed = []
    exported = dict(variables)
    for line in lines:
        settings, words = split_settings(line.removeprefix("export "))
        if line.startswith("export "):
            assert not words, line
            exported |= settings
        else:
            printed.append(run_bigtime(commands, folder, words, {**exported, **settings}))
    return printed


def split_settings(line: str) -> tuple[dict[str, str], list[str]]:
    """The variables that a line of shell sets, and the command after them."""
    words = shlex.split(line)
    settings = list(takewhile(re.compile(r"[A-Z_]+=").match, words))
    return dict(setting.split("=", 1) for setting in settings), words[len(settings) :]


def run_bigtime(
    commands: WarmCommands, folder: Path, words: list[str], variables: dict[str, str]
) -> str:
    assert words[0] == "bigtime", words
    done = commands.run(*words, folder=folder, variables=variables)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize(
    ("guide", "tests", "passed"),
    [
        ("start.md", "tests/test_tickets.py", 7),
        ("fastapi.md", "tests/test_web.py", 5),
        ("lambda.md", "tests/test_functions.py", 3),
    ],
)
def test_the_tests_of_a_guide_pass(guide: str, tests: str, passed: int, tmp_path: Path) -> None:
    write_files(tmp_path, "start.md", guide)
    command = nested_pytest("-W", "error::RuntimeWarning", tests)
    printed = run(tmp_path, command, without_plugins(environment()))
    assert re.search(rf"^{passed} passed", printed, re.MULTILINE), printed


def test_all_python_of_the_guides_is_in_files() -> None:
    for guide in ("start.md", "fastapi.md", "lambda.md", "deploy.md"):
        assert all(re.match(r"# [\w/]+\.py\n", block) for block in blocks("python", read(guide)))


def test_the_commands_of_the_first_project_print_what_the_guide_shows(
    tmp_path: Path, commands: WarmCommands
) -> None:
    write_files(tmp_path, "start.md")
    for heading in ("## The command on your own system", "## On a file"):
        [block] = blocks("console", section("start.md", heading))
        shown = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
        lines, outputs = shown[::2], [text for text in shown[1::2] if text]
        printed = run_lines(commands, tmp_path, lines, environment())
        for output, said in zip(printed, outputs, strict=True):
            assert [line.rstrip() for line in output.splitlines()] == said.splitlines()
    variables = environment(BIGTIME_STORE="file:desk.db")
    run_lines(commands, tmp_path, [OPEN_TICKET], variables)
    report = run(tmp_path, [sys.executable, "-m", "helpdesk.report", "it"], variables)
    assert report.endswith(" Tea\n")


@pytest.mark.parametrize(("guide", "count"), [("start.md", 2), ("deploy.md", 4)])
def test_the_commands_for_aws_work(
    guide: str, count: int, tmp_path: Path, engine: Engine, commands: WarmCommands
) -> None:
    """On an endpoint that stands for AWS."""
    write_files(tmp_path, "start.md")
    [block] = blocks("sh", section(guide, "## On AWS"))
    with serve_in_thread(engine) as url:
        keys = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
        variables = environment(
            AWS_ENDPOINT_URL_DYNAMODB=url, AWS_ENDPOINT_URL_DYNAMODB_STREAMS=url, **keys
        )
        assert len(run_lines(commands, tmp_path, block.splitlines(), variables)) == count


@pytest.mark.proof
def test_a_dump_is_loaded_as_the_guide_says(tmp_path: Path, commands: WarmCommands) -> None:
    write_files(tmp_path, "start.md")
    variables = environment(BIGTIME_STORE="file:desk.db")
    run_lines(commands, tmp_path, ["bigtime tables create helpdesk:SYSTEM"], variables)
    run_lines(commands, tmp_path, [OPEN_TICKET], variables)
    [block] = blocks("sh", section("deploy.md", "### Backups"))
    run_lines(commands, tmp_path, block.splitlines(), variables)
    restored = environment(BIGTIME_STORE="file:restored.db")
    shown = ["bigtime run helpdesk:SYSTEM.open_tickets --team=it"]
    assert "Tea" in run_lines(commands, tmp_path, shown, restored)[0]


def test_the_units_run_commands_that_there_are(tmp_path: Path, commands: WarmCommands) -> None:
    write_files(tmp_path, "start.md", "fastapi.md", "deploy.md")
    started = []
    for unit in ("helpdesk.service", "helpdesk-consume.service"):
        parser = ConfigParser(interpolation=None)
        parser.optionxform = str  # type: ignore[assignment, method-assign]
        parser.read(tmp_path / unit)
        assert parser["Service"]["EnvironmentFile"].endswith("helpdesk.env")
        started += [parser["Service"].get(key) for key in ("ExecStartPre", "ExecStart")]
    assert [command.split()[1:] for command in started if command and "/bigtime " in command] == [
        ["tables", "create", "helpdesk:SYSTEM"],
        ["consume", "helpdesk:SYSTEM"],
    ]
    variables = environment(BIGTIME_STORE="file:desk.db")
    run_lines(commands, tmp_path, ["bigtime tables create helpdesk:SYSTEM"], variables)
    run_lines(commands, tmp_path, ["bigtime consume helpdesk:SYSTEM --once"], variables)
    run(tmp_path, [sys.executable, "-c", "from helpdesk.web import app"], variables)


def test_the_guide_to_functions_shows_a_measured_cold_start() -> None:
    assert re.search(r"^On .*, 20\d\d-\d\d-\d\d:$", read("lambda.md"), re.MULTILINE)
    assert len(re.findall(r"\| \d+ ms \|$", read("lambda.md"), re.MULTILINE)) == 4
