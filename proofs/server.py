"""A real `bigtime engine serve` in a process of its own, and its use of memory and CPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAM = [sys.executable, "-c", "from bigtime.cli.app import main; main()"]
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, log: Path, program: list[str] = PROGRAM, *options: str) -> None:
        self.log = log.open("w+b")
        self.process = subprocess.Popen(
            [*program, "engine", "serve", "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"},
        )
        assert self.process.stdout is not None
        announced = re.search(r"http://\S+:(\d+)", self.process.stdout.readline())
        assert announced, "the server announced no address"
        self.port = int(announced[1])

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def cpu_seconds(self) -> float:
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_bytes(self) -> int:
        return resident_bytes(self.process.pid)

    def read_log(self) -> str:
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def stop(self) -> None:
        if self.is_alive:
            self.process.terminate()
        self.process.wait(timeout=30)
        if self.process.stdout:
            self.process.stdout.close()
        self.log.close()


def resident_bytes(pid: int) -> int:
    """The resident set of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE


@contextmanager
def serving(folder: Path, *options: str, program: list[str] = PROGRAM) -> Iterator[Server]:
    server = Server(folder / "server.log", program, *options)
    try:
        yield server
    finally:
        server.stop()
