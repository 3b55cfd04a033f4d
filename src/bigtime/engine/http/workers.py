"""Workers: several processes that serve one file on one port.

1. The supervisor opens the sockets, one for each worker, all bound to the port (SO_REUSEPORT): the
   kernel distributes connections over them. It keeps them open as long as it lives, so connections
   that a dead worker had not accepted are not lost: its successor takes them. The port is first
   bound exclusively, to detect one already in use.
2. Workers are forked, and each opens the file itself: SQLite's connections do not survive a fork.
   The first one opens it before the others start: it may have to create or upgrade the file, and an
   error in the file is then reported once.
3. A worker that dies is restarted; one that dies three times before it serves ends them all.
4. SIGTERM and SIGINT are passed to all workers, which answer what has arrived. Those that take too
   long are killed. A worker whose supervisor has died stops by itself: a pipe between them tells.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn, TypeAlias

from bigtime.engine.http.connection import Serving
from bigtime.engine.http.endpoint import (
    BACKLOG,
    SECONDS_TO_STOP,
    listen,
    listening_addresses,
    serve_on,
)
from bigtime.engine.iam import AccessKeys

log = logging.getLogger("bigtime.endpoint")

Work: TypeAlias = Callable[[int, int, int], None]
"""Serves as a worker, given its number and two pipes: one reports readiness, one to its parent."""

SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}
MOST_STARTS = 3
SECONDS_BETWEEN_STARTS = 1.0
SECONDS_TO_END = SECONDS_TO_STOP + 5.0


def serve_workers(
    open_engine: Callable[[], Serving],
    *,
    workers: int,
    host: str = "127.0.0.1",
    port: int = 8000,
    on_ready: Callable[[int], None] = lambda port: None,
    users: AccessKeys | None = None,
    certificate: ssl.SSLContext | None = None,
) -> int:
    """Serves in several processes until SIGTERM or SIGINT; returns the exit code.

    Each calls `open_engine`. The other parameters are as in `serve`.
    """
    anywhere = users is not None and certificate is not None
    shares = listen_shared(host, port, workers, anywhere=anywhere)

    def work(number: int, ready: int, lifeline: int) -> None:
        close_all(share for place, share in enumerate(shares) if place != number)
        with contextlib.closing(open_engine()) as engine:
            serve_on(engine, shares[number], lambda _: tell(ready), users, certificate, lifeline)

    try:
        supervisor = Supervisor(work, workers, lambda: close_all(shares))
        return supervisor.run(lambda: on_ready(shares[0][0].getsockname()[1]))
    finally:
        close_all(shares)


def listen_shared(
    host: str, port: int, workers: int, *, anywhere: bool
) -> list[list[socket.socket]]:
    """For each worker, a socket on every address of the host, all on one port."""
    probes = listen(host, port, anywhere=anywhere)
    port = probes[0].getsockname()[1]
    close_all([probes])
    addresses = listening_addresses(host, anywhere=anywhere)
    return [
        [
            socket.create_server((address, port), family=family, backlog=BACKLOG, reuse_port=True)
            for address, family in addresses.items()
        ]
        for _ in range(workers)
    ]


def close_all(shares: Iterable[Sequence[socket.socket]]) -> None:
    for share in shares:
        for listener in share:
            listener.close()


def tell(ready: int) -> None:
    os.write(ready, b"1")
    os.close(ready)


class Supervisor:
    """Starts, restarts and stops the workers."""

    def __init__(self, work: Work, count: int, close: Callable[[], None]) -> None:
        self.work = work
        self.count = count
        self.close = close
        self.numbers: dict[int, int] = {}  # worker numbers by process id
        self.lifeline, self.held = os.pipe()

    def run(self, on_ready: Callable[[], None]) -> int:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            for number in range(self.count):
                if not self.start(number):
                    return self.stop() or 1
            on_ready()
            return self.watch()
        finally:
            self.stop()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(self.lifeline)
            os.close(self.held)

    def watch(self) -> int:
        """Restarts workers that die, until a signal arrives; returns the exit code."""
        while True:
            caught = signal.sigwaitinfo(SIGNALS)
            if caught.si_signo != signal.SIGCHLD:
                return self.stop()
            for number in self.reap():
                if not self.start_again(number):
                    log.error("worker %d does not stay up: stopping", number)
                    return self.stop() or 1

    def start_again(self, number: int) -> bool:
        for _ in range(MOST_STARTS):
            if self.start(number):
                return True
            time.sleep(SECONDS_BETWEEN_STARTS)
        return False

    def start(self, number: int) -> bool:
        """Forks a worker and waits until it serves; False if it ended before."""
        heard, ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(heard)
            os.close(self.held)
            self.be_worker(number, ready)
        os.close(ready)
        self.numbers[pid] = number
        is_up = os.read(heard, 1) == b"1"
        os.close(heard)
        return is_up

    def be_worker(self, number: int, ready: int) -> NoReturn:
        code = 1
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            self.work(number, ready, self.lifeline)
            code = 0
        except BaseException as error:
            # A command that ends with an error message raises an error with its exit code.
            code = getattr(error, "exit_code", 1)
            if not hasattr(error, "exit_code"):
                log.exception("worker %d failed", number)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def reap(self) -> list[int]:
        """The numbers of the workers that have ended."""
        found = []
        for pid, number in list(self.numbers.items()):
            if (status := exit_status(pid)) is not None:
                log.warning("worker %d (process %d) ended: %s", number, pid, describe(status))
                del self.numbers[pid]
                found.append(number)
        return found

    def stop(self) -> int:
        """Stops the workers, in the end by force; returns the worst of their exit codes."""
        self.close()
        for pid in self.numbers:
            os.kill(pid, signal.SIGTERM)
        worst = 0
        deadline = time.monotonic() + SECONDS_TO_END
        while self.numbers:
            for pid in list(self.numbers):
                if (status := exit_status(pid)) is not None:
                    del self.numbers[pid]
                    worst = max(worst, os.waitstatus_to_exitcode(status))
            if time.monotonic() > deadline:
                for pid in self.numbers:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        return worst


def exit_status(pid: int) -> int | None:
    """The exit status of a worker that has ended, which can be collected only once."""
    found, status = os.waitpid(pid, os.WNOHANG)
    return status if found else None


def describe(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
