"""`bigtime serve` as a person runs it: two processes, started and stopped together."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from bigtime.cli.app import app
from bigtime.site.demo import demo_logins
from bigtime.site.registration import join
from bigtime.store import open_store
from bigtime.systems.deals.deals import create_deal
from bigtime.systems.deals.interests import watch_brand
from bigtime.systems.deals.users import view_messages
from bigtime.web import server as serve
from bigtime.web import worker_process
from bigtime.web.http.settings import Settings
from tests.web.browsing import PRODUCTION

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
        return children_of(self.process)


def children_of(process: subprocess.Popen[str]) -> list[int]:
    by_thread = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(pid) for each in by_thread for pid in each.read_text().split()]


@contextmanager
def start_site(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A site that is on its way up."""
    arguments = ["--port", "0", "--store", f"file:{folder}/site.db", *options]
    process = subprocess.Popen(
        [*BIGTIME, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(SECONDS)


@contextmanager
def serve_site(folder: Path) -> Iterator[Site]:
    with start_site(folder) as process:
        yield Site(process, folder)


def wait_for(what: Callable[[], object]) -> None:
    until = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.1)


@pytest.mark.proof
def test_it_serves_with_its_worker_and_stops_both_when_told(tmp_path: Path) -> None:
    with serve_site(tmp_path) as site:
        assert site.read_until(r"sign in as (\S+)") == "shopper@example.com"
        status, front = site.get("/")
        assert status == 200 and "/deals/" in front
        assert f"Sitemap: {site.url}/sitemap.xml" in site.get("/robots.txt")[1]
        wait_for(site.workers)
        (first,) = site.workers()

        os.kill(first, signal.SIGKILL)
        wait_for(lambda: site.workers() not in ([], [first]))
        (second,) = site.workers()
        with open_store(site.store) as store:
            store.run(watch_brand("Voltaic", "shopper"))
            link, price = "https://shop.example/1", Decimal(5)
            deal = store.run(create_deal("A radio", link, price, "Voltaic", "Electronics"))

            def newest() -> str | None:
                return next(iter(store.run(view_messages("shopper")))).deal_id

            wait_for(lambda: newest() == deal.deal_id)

        site.process.send_signal(signal.SIGTERM)
        assert site.process.wait(SECONDS) == 0
        wait_for(lambda: not Path(f"/proc/{second}").exists())

    production = {f"BIGTIME_{name.upper()}": str(value) for name, value in PRODUCTION.items()}
    done = run("--store", site.store, cwd=tmp_path, environment=production)
    assert done.returncode == 2 and "demo accounts" in done.stderr


def test_a_login_of_the_demo_is_anybodys_but_not_its_password(tmp_path: Path) -> None:
    store = f"file:{tmp_path}/site.db"
    settings = Settings.model_validate({**PRODUCTION, "store": store})
    assert serve.prepare(settings, tell=print) is False
    with open_store(store) as opened:
        opened.run(join("admin@example.com", "a password of my own", "stranger"))
    assert serve.prepare(settings, tell=print) is False

    admin = next(
        demo_login for demo_login in demo_logins() if demo_login.login.startswith("editor")
    )
    with open_store(store) as opened:
        opened.run(join(admin.login, admin.password, "editor"))
    with pytest.raises(serve.NotForProduction):
        serve.prepare(settings, tell=print)


def test_a_worker_whose_server_is_killed_at_once_does_not_stay(tmp_path: Path) -> None:
    with start_site(tmp_path) as process:
        wait_for(lambda: children_of(process))
        (worker,) = children_of(process)
        process.kill()
        process.wait(SECONDS)
    wait_for(lambda: not is_running(worker))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_worker_that_dies_soon_waits_longer_and_one_that_worked_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert pauses_after(monkeypatch, [0, 5, 5]) == [1, 2, 4]
    assert pauses_after(monkeypatch, [0] * 7) == [1, 2, 4, 8, 16, 30, 30]
    assert pauses_after(monkeypatch, [0, 0, 600, 0]) == [1, 2, 1, 2]


def pauses_after(monkeypatch: pytest.MonkeyPatch, lives: list[float]) -> list[float]:
    """How long it is until a worker is started again, for workers that live so many seconds."""
    pauses: list[float] = []
    moment = 0.0

    def start(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(poll=dead, returncode=1)

    def dead() -> int:
        nonlocal moment
        moment += lives[len(pauses)]
        return 1

    stop = SimpleNamespace(is_set=lambda: len(pauses) == len(lives), wait=pauses.append)
    monkeypatch.setattr("subprocess.Popen", start)
    monkeypatch.setattr(worker_process, "time", SimpleNamespace(monotonic=lambda: moment))
    worker_process.keep_worker(Settings(), stop)  # type: ignore[arg-type]
    return pauses


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["--store", "memory:"], {}, "two processes"),
        (["--store", "nowhere"], {}, "names no store"),
        ([], {"BIGTIME_MODE": "production"}, "BIGTIME_SECRET must have 32 characters"),
        ([], {"BIGTIME_MODE": "play"}, "BIGTIME_MODE: Input should be 'development'"),
        ([], {"BIGTIME_TIME_ZONE": "Mars/Base"}, "BIGTIME_TIME_ZONE must name a time zone"),
        (["--host", "192.0.2.1"], {}, "BIGTIME_HOST is 192.0.2.1, and in development"),
        (
            ["--host", "192.0.2.1"],
            {f"BIGTIME_{name.upper()}": str(value) for name, value in PRODUCTION.items()},
            "Choose another with --host",
        ),
    ],
    ids=["memory", "no store", "no secret", "mode", "time zone", "host", "address"],
)
def test_what_cannot_be_served_is_refused_with_a_sentence(
    arguments: list[str],
    environment: dict[str, str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = refusal_to_serve(monkeypatch, *arguments, cwd=tmp_path, environment=environment)
    assert done.exit_code == 2 and words in done.stderr
    assert isinstance(done.exception, SystemExit)


def test_a_port_that_is_taken_is_told_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = refusal_to_serve(monkeypatch, "--port", port, cwd=tmp_path, environment={})
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Port {port} is taken. Choose another")
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_does_not_answer_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
    done = refusal_to_serve(monkeypatch, "--store", nobody, cwd=tmp_path, environment={})
    assert done.exit_code == 1
    assert done.stderr.startswith("The store does not answer")


def refusal_to_serve(
    monkeypatch: pytest.MonkeyPatch, *arguments: str, cwd: Path, environment: dict[str, str]
) -> Result:
    """In this process, where nothing may be served."""
    monkeypatch.chdir(cwd)
    monkeypatch.delattr("uvicorn.Server.run")
    monkeypatch.delattr("uvicorn.Server.serve")
    return CliRunner().invoke(app, ["serve", *arguments], env={"BIGTIME_PORT": "0", **environment})


def run(
    *arguments: str, cwd: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """On any port that is free, unless told otherwise: somebody may serve a site beside this."""
    return subprocess.run(
        [*BIGTIME, *arguments],
        cwd=cwd,
        env={**os.environ, "BIGTIME_PORT": "0", **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
