"""Commands of `bigtime` and small programs, each in a process of its own that has its modules.

To start Python and to import takes longer than most commands. So one process imports what they
need, and forks for each of them. It has one thread, so that a fork is safe.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

SECONDS = 300
MODULES = (
    "bigtime.advisor.system_check",
    "bigtime.cli.app",
    "bigtime.cli.parameters",
    "bigtime.cli.results",
    "bigtime.engine",
    "bigtime.model.verification",
    "bigtime.ops",
    "bigtime.store.botocore_transport",
    "rich.markdown",
    "typer.rich_utils",
)
"""What most commands import."""


class WarmCommands:
    """Runs commands one after the other; `close` ends the process behind them."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, *command: str, folder: Path, variables: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Runs `bigtime` or a file of Python, whichever the first word is, in a folder."""
        assert self._process.stdin and self._process.stdout
        with tempfile.TemporaryDirectory() as place:
            out, errors = Path(place, "out"), Path(place, "errors")
            work = [command, str(folder), dict(variables), [str(out), str(errors)]]
            print(json.dumps(work), file=self._process.stdin, flush=True)
            code = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(command, code, out.read_text(), errors.read_text())

    def close(self) -> None:
        with self._process:
            pass


def serve() -> None:
    """Forks for each line of stdin, and prints how the command ended."""
    for module in MODULES:
        import_module(module)
    gc.freeze()  # so that no collection in a child copies the pages that it shares
    while line := sys.stdin.readline():
        child = os.fork()
        if not child:
            run_command(*json.loads(line))
            sys.exit()
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def run_command(
    command: list[str], folder: str, variables: dict[str, str], files: list[str]
) -> None:
    for number, path in enumerate([os.devnull, *files]):
        opened = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in variables
    sys.argv, sys.path[0] = command, ""
    signal.alarm(SECONDS)
    if command[0] == "bigtime":
        from bigtime.cli import main

        main()
    else:
        runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__":
    serve()
