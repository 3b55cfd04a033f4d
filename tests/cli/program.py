"""The program `bigtime`: in a process of its own, or, where that is enough, in this one."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import typer.testing
from typer.main import get_command
from typer.testing import CliRunner, Result

from bigtime.cli.app import app

# Typer goes through all verbs and their parameters each time, which takes longer than most verbs.
vars(typer.testing)["_get_command"] = functools.cache(get_command)

BIGTIME = [sys.executable, "-c", "from bigtime.cli import main; main()"]
INTERRUPTIBLE = [
    *BIGTIME[:2],
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); " + BIGTIME[2],
]
"""Tests that a shell runs in its background ignore Ctrl-C, and so does all that they start."""
HERE = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
WIDE = {**os.environ, **HERE}


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [*BIGTIME, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env=WIDE, cwd=cwd, timeout=300, check=False
    )


def invoke(*arguments: object, store: str = "", columns: int = 200) -> Result:
    """The same in this process, ten times as fast; `store` is what BIGTIME_STORE says."""
    environment = {"COLUMNS": f"{columns}", "NO_COLOR": "1", "TERM": "dumb", "BIGTIME_STORE": store}
    return CliRunner().invoke(app, [*map(str, arguments)], env=environment)


def ask(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What `run` does, in this process: for whatever shows when it prints and how it ends."""
    command = [*map(str, arguments)]
    with chdir(cwd or "."):
        done = CliRunner().invoke(app, command, env=HERE, prog_name="bigtime")
    return subprocess.CompletedProcess(command, done.exit_code, done.stdout, done.stderr)


class Server:
    """A running `bigtime engine serve`; `url` is what it announced."""

    def __init__(self, *arguments: object, cwd: Path | None = None) -> None:
        command = [*BIGTIME, "engine", "serve", "--port", "0", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=WIDE, cwd=cwd
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        found = re.search(r"https?://\S+", self.said)
        assert found, self.said + self.process.stdout.read()
        self.url = found[0]

    def stop(self) -> str:
        """Ends it with SIGTERM; what it had to say is returned."""
        with self.process:
            assert self.process.stdout is not None
            self.process.terminate()
            self.process.wait(60)
            return self.said + self.process.stdout.read()


@contextmanager
def server(*arguments: object, cwd: Path | None = None) -> Iterator[Server]:
    running = Server(*arguments, cwd=cwd)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()
