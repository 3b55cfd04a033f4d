"""The real site as its user starts it, `bigtime serve`: two processes to observe and to kill.

It keeps its data in a folder of its own and listens on one port, also when it is started again. One
proxy is trusted, unless another number is given: so each of its visitors has an address of their
own, as behind a real proxy, and nobody hits a limit meant for one address.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from bigtime.web.app import LIMITS
from proofs.server import PROGRAM

ROOT = Path(__file__).parents[1]
WORKER = b"bigtime.web.worker"
ANNOUNCED = "Big Time Deals is at "
SECONDS_TO_STOP = 60.0
RESTARTED = "; it is started again"
"""What `serve` logs about a worker that has died, which is not an error of its own."""
SIGNS = ("Traceback", "ERROR", "Error", "failed", "cannot")


def allow_crowd() -> None:
    """Lets accounts order and write as fast as they can, which is what is tested here.

    These limits are counted as ever, but nobody reaches them.
    """
    for action in ("order", "order from", "write", "upload"):
        LIMITS[action] = replace(LIMITS[action], tries=1_000_000)


class NotServed(Exception):
    """The site did not start; the message is its log."""


class Site:
    """A site that can be started, killed, and started again."""

    def __init__(self, folder: Path, *, mutant: str | None = None, proxies: int = 1) -> None:
        self.folder = folder
        self.file = folder / "site.db"
        self.mutant = mutant
        self.proxies = proxies
        self.port = free_port()
        self.log = (folder / "site.log").open("ab")
        self.process: subprocess.Popen[str] | None = None

    @property
    def pictures(self) -> Path:
        """The folder of its pictures, which is the default."""
        return Path(f"{self.file}.pictures")

    @property
    def store(self) -> str:
        return f"file:{self.file}"

    def start(self) -> None:
        """Starts it, and waits until it announces its address."""
        self.process = subprocess.Popen(
            [*self.program(), "serve", "--port", str(self.port), "--store", self.store],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=self.environment(),
            start_new_session=True,
        )
        assert self.process.stdout is not None
        if not any(ANNOUNCED in line for line in self.process.stdout):
            raise NotServed(self.read_log()[-2_000:])

    def program(self) -> list[str]:
        *python, code = PROGRAM
        code = f"from proofs.site import allow_crowd; allow_crowd(); {code}"
        if self.mutant is not None:
            code = f"from proofs.site_mutants import mutate; mutate({self.mutant!r}); {code}"
        return [*python, code]

    def environment(self) -> dict[str, str]:
        """The settings of this site, without any that this process has."""
        kept = {name: each for name, each in os.environ.items() if not name.startswith("BIGTIME_")}
        settings = {"BIGTIME_DATA": str(self.folder / "data"), "BIGTIME_PROXIES": str(self.proxies)}
        found = os.pathsep.join([str(ROOT), *kept.get("PYTHONPATH", "").split(os.pathsep)])
        return {**kept, **settings, "PYTHONPATH": found.rstrip(os.pathsep)}

    # Its processes

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def workers(self) -> list[int]:
        """The process ids of its workers: one, or none for a moment."""
        found: list[int] = []
        for task in Path(f"/proc/{self.pid}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, task.read_text().split())
        return [pid for pid in found if is_worker(pid)]

    def worker(self, *, but: int | None = None, seconds: float = 30.0) -> int | None:
        """The first worker that is not `but`, as soon as there is one."""
        wait_until(lambda: [pid for pid in self.workers() if pid != but], seconds)
        return next((pid for pid in self.workers() if pid != but), None)

    def kill(self) -> None:
        """Kills the web process as a power cut would; its worker is left alone."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()

    def stop(self) -> None:
        """Stops it as Ctrl+C does."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(SECONDS_TO_STOP)
        if self.process.stdout:
            self.process.stdout.close()

    # Its log

    def read_log(self) -> str:
        return Path(self.log.name).read_text(errors="replace")

    def complaints(self) -> list[str]:
        """Lines of its log that report an error, whatever its visitors were told."""
        lines = self.read_log().splitlines()
        return [
            f"the log says: {line}"
            for line in lines
            if RESTARTED not in line and any(sign in line for sign in SIGNS)
        ]


def free_port() -> int:
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port: int = chosen.getsockname()[1]
        return port


def is_worker(pid: int) -> bool:
    try:
        return WORKER in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def is_running(pid: int) -> bool:
    """Whether a process is running, and not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(what: Callable[[], object], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def serve(folder: Path, *, mutant: str | None = None, proxies: int = 1) -> Iterator[Site]:
    site = Site(folder, mutant=mutant, proxies=proxies)
    try:
        site.start()
        yield site
    finally:
        if site.is_alive:
            site.stop()
        site.log.close()
