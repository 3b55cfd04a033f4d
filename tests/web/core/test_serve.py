"""`bigtime serve` as a person runs it: two processes, started and stopped together."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bigtime.store import open_store
from bigtime.systems.deals.deals import create_deal
from bigtime.systems.deals.messages import view_messages
from bigtime.systems.deals.watches import watch_brand

BIGTIME = [sys.executable, "-c", "from bigtime.cli.app import main; main()", "serve"]
SECONDS = 90


class Site:
    """A site that is being served."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.store = f"file:{folder}/site.db"
        self.said: list[str] = []
        self.url = self.read_until(r"Big Time Deals is at (http\S+)")

    def read_until(self, pattern: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if found := re.search(pattern, line):
                return found[1]
        raise AssertionError(f"it ended before it said {pattern!r}: {self.said}")

    def get(self, path: str) -> tuple[int, str]:
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.status, answer.read().decode()

    def workers(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        by_thread = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(pid) for one in {children, *by_thread} for pid in one.read_text().split()]


@contextmanager
def served(folder: Path) -> Iterator[Site]:
    arguments = ["--port", "0", "--store", f"file:{folder}/site.db"]
    process = subprocess.Popen(
        [*BIGTIME, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield Site(process, folder)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(SECONDS)


def wait_for(what: Callable[[], object]) -> None:
    until = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.1)


def test_it_serves_with_its_worker_and_stops_both_when_told(tmp_path: Path) -> None:
    with served(tmp_path) as site:
        assert site.read_until(r"log in as (\S+)") == "shopper@example.com"
        status, front = site.get("/")
        assert status == 200 and "/deals/" in front
        wait_for(site.workers)
        (first,) = site.workers()

        os.kill(first, signal.SIGKILL)
        wait_for(lambda: site.workers() not in ([], [first]))
        (second,) = site.workers()
        with open_store(site.store) as store:
            store.run(watch_brand("Voltaic", "shopper"))
            before = len(store.run(view_messages("shopper")))
            link = "https://shop.example/1"
            store.run(create_deal("A radio", link, 5, "Voltaic", "Electronics"))  # type: ignore[arg-type]
            wait_for(lambda: len(store.run(view_messages("shopper"))) > before)

        site.process.send_signal(signal.SIGTERM)
        assert site.process.wait(SECONDS) == 0
        wait_for(lambda: not Path(f"/proc/{second}").exists())

    production = {"BIGTIME_MODE": "production", "BIGTIME_SECRET": "x" * 40}
    done = run("--store", site.store, cwd=tmp_path, environment=production)
    assert done.returncode == 2 and "demo accounts" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["--store", "memory:"], {}, "two processes"),
        (["--store", "nowhere"], {}, "names no store"),
        ([], {"BIGTIME_MODE": "production"}, "BIGTIME_SECRET must have 32 characters"),
    ],
    ids=["memory", "no store", "no secret"],
)
def test_what_cannot_be_served_is_refused_with_a_sentence(
    arguments: list[str], environment: dict[str, str], words: str, tmp_path: Path
) -> None:
    done = run(*arguments, cwd=tmp_path, environment=environment)
    assert done.returncode == 2 and words in done.stderr
    assert "Traceback" not in done.stderr


def run(
    *arguments: str, cwd: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BIGTIME, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
