"""P15 at the site: heads and bodies without end, requests that break off or come slowly.

The real site is attacked in rounds, from an address of the attacker's own:

- *endless*: heads and bodies that do not end; each has to be refused, with 431 or 413;
- *aborted*: uploads that break off half way;
- *slow*: more connections than the site allows one address, each with half a request. Those
  above the limit are refused at once, and the others are closed when their time is over;

and in between a visitor from another address, who must get every page. Afterwards the memory of
the server must be what it was before.
"""

from __future__ import annotations

import select
import socket
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from proofs import pace
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.server import resident_bytes
from proofs.site import serve

ATTACKER, VISITOR = "127.0.0.66", "127.0.0.1"
MEGABYTE = 1 << 20
ENDLESS_BYTES = 8 * MEGABYTE
ENDLESS, ABORTED, SLOW = 6, 10, 330
MOST_OF_ONE_ADDRESS = 251
MOST_GROWTH = 32 * MEGABYTE
SECONDS = 30.0
REFUSED_SECONDS = 10.0
HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
UPLOAD = b"POST /log-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"


def connect(port: int, address: str) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(SECONDS)
    connection.bind((address, 0))
    connection.connect((VISITOR, port))
    return connection


def status_after(port: int, sent: bytes, endless: bytes = b"") -> int:
    """The status of the response to a request that never ends; 0 if there is none."""
    with connect(port, ATTACKER) as connection:
        with suppress(OSError):
            connection.sendall(sent)
            for _ in range(0, ENDLESS_BYTES if endless else 0, MEGABYTE):
                connection.sendall(endless * (MEGABYTE // len(endless)))
        with suppress(OSError, IndexError):
            return int(connection.recv(64).split(b" ")[1])
    return 0


def count_refused(waiting: Sequence[socket.socket]) -> int:
    """How many were refused because there are too many; a busy server says so late."""
    refused, left, end = 0, set(waiting), time.monotonic() + REFUSED_SECONDS
    while refused < SLOW - MOST_OF_ONE_ADDRESS and time.monotonic() < end:
        for connection in select.select(left, [], [], 1)[0]:
            left.remove(connection)
            with suppress(OSError):
                refused += b" 503 " in connection.recv(64)
    return refused


class Attack:
    """A site under attack, and its violations."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []

    def run_round(self) -> None:
        with ExitStack() as held:
            self.hold_slow_requests(held)
            self.send_endless_requests()
            self.abort_uploads()
            self.visit()
        self.visit()

    def hold_slow_requests(self, held: ExitStack) -> None:
        waiting = [held.enter_context(connect(self.port, ATTACKER)) for _ in range(SLOW)]
        for connection in waiting:
            with suppress(OSError):
                connection.sendall(HEAD)
        refused = count_refused(waiting)
        self.counts["slow requests"] += SLOW
        self.counts["refused for their number"] += refused
        if refused < SLOW - MOST_OF_ONE_ADDRESS:
            self.faults.append(f"one address has {SLOW - refused} connections")

    def send_endless_requests(self) -> None:
        for _ in range(ENDLESS):
            for sent, endless, wanted in (
                (HEAD, b"X-Header: x\r\n", {431, 503}),
                (UPLOAD % (1 << 40), b"x", {413, 503}),
            ):
                status = status_after(self.port, sent, endless)
                self.counts["endless requests"] += 1
                if status not in wanted | {0}:
                    self.faults.append(f"an endless request was answered with {status}")

    def abort_uploads(self) -> None:
        for _ in range(ABORTED):
            with connect(self.port, ATTACKER) as connection, suppress(OSError):
                connection.sendall(UPLOAD % MEGABYTE + b"x" * (MEGABYTE // 2))
            self.counts["aborted uploads"] += 1

    def visit(self) -> None:
        """Loads pages as everybody else does meanwhile."""
        for path in (b"/", b"/brands", b"/healthz"):
            try:
                with connect(self.port, VISITOR) as connection:
                    connection.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path)
                    answer = connection.recv(64)
            except OSError as error:
                answer = repr(error).encode()
            self.counts["visits"] += 1
            if b" 200 " not in answer:
                self.faults.append(f"a visitor of {path.decode()} got {answer[:60]!r}")

    def wait_until_parted_with(self) -> None:
        """Holds half a request until the server closes the connection."""
        with connect(self.port, ATTACKER) as connection:
            connection.sendall(HEAD)
            try:
                is_closed = connection.recv(64) == b""
            except ConnectionError:
                is_closed = True
            except TimeoutError:
                is_closed = False
        if not is_closed:
            self.faults.append(f"half a request was waited for longer than {SECONDS:g} s")


def attack(rounds: int, *, mutant: str | None = None) -> Attack:
    with scratch() as folder, serve(folder, mutant=mutant, proxies=0) as site:
        attack = Attack(site.port)
        attack.run_round()
        before = resident_bytes(site.pid)
        for _ in range(rounds):
            if pace.is_over() or (mutant and attack.faults):
                break
            attack.run_round()
        growth = resident_bytes(site.pid) - before
        if mutant is None:
            attack.wait_until_parted_with()
        if growth > MOST_GROWTH:
            attack.faults.append(f"the server's memory grew by {growth >> 20} MB")
        if mutant is None:
            attack.faults += site.complaints()
    attack.counts["MB of memory more"] = max(0, growth >> 20)
    return attack


def run(rounds: int) -> Result:
    sound = attack(rounds)
    is_caught = bool(attack(1, mutant="no bounds").faults)
    faults = [*sound.faults, *([] if is_caught else ["a site without bounds was not caught"])]
    return result({**sound.counts, "mutants caught": int(is_caught)}, faults)
