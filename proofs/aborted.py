"""P15: requests that break off, come slowly, or grow in memory leak nothing and stall nobody.

A real server is attacked in rounds, each a mix of:

- *aborted*: a large upload that breaks off somewhere. Once its connection is gone, so are its
  bytes: the memory is free at once, without waiting for the garbage collector;
- *slow*: an upload that stops half way and stays; all such bodies together have one limit, and
  clients above it are refused or disconnected;
- *grown*: a few KB of gzip that unpack to 16 MB of small lists;

and in between a well-behaved client, which must be answered quickly. The target is a value: any
server process that accepts uploads can be attacked.

Mutants keep the bytes of lost connections, set no limit, or read large bodies on the event loop.
"""

from __future__ import annotations

import gzip
import random
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from proofs import raw_http
from proofs.requests import Connection
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.server import PROGRAM, Server

MEGABYTE = 1 << 20
UPLOAD_BYTES = 6 * MEGABYTE
UPLOADS_PER_ROUND = 20
SLOW_UPLOADS = 24
SLOW_BYTES = 15 * MEGABYTE
MOST_GROWTH = 48 * MEGABYTE
MOST_LEFT = 160 * MEGABYTE  # of 360 sent: an allocator may keep what was held at the same time
MOST_HELD = 220 * MEGABYTE  # the limit for all bodies, and room for what the system buffers
MOST_SECONDS = 0.25
LOOKS = 5
PATIENCE_SECONDS = 20.0

MUTANTS = ("keep lost bytes", "no limit", "read on the loop")


@dataclass(frozen=True, slots=True)
class Target:
    """What is attacked. `upload` makes a whole request of so many bytes; `question` is small."""

    serve: Callable[[Path, str | None], Server]
    upload: Callable[[int], bytes]
    grown: Callable[[], bytes]
    question: bytes


def serve_endpoint(folder: Path, mutant: str | None) -> Server:
    broken = [sys.executable, "-c", f"from proofs.aborted_mutants import main; main({mutant!r})"]
    program = PROGRAM if mutant is None else broken
    return Server(folder / f"{mutant or 'server'}.log", program, "--memory")


def upload(size: int) -> bytes:
    return raw_http.call("PutItem", {"TableName": "T", "Item": {"a": {"S": "x" * size}}})


def grown() -> bytes:
    lists = b'{"TableName":[' + b"[]," * (5 * MEGABYTE) + b"[]]}"
    return raw_http.http(gzip.compress(lists), extra="Content-Encoding: gzip\r\n")


ENDPOINT = Target(serve_endpoint, upload, grown, raw_http.call("ListTables", {}))


class Attack:
    """A server under attack, and the violations found."""

    def __init__(self, target: Target, server: Server, seed: int) -> None:
        self.target = target
        self.server = server
        self.chance = random.Random(seed)
        self.good = Connection(server.port)
        self.counts = {"aborted": 0, "slow": 0, "parted with": 0, "grown": 0, "answered": 0}
        self.violations: list[str] = []
        self.largest = target.upload(UPLOAD_BYTES)
        self.grown = target.grown()
        self.slowest = target.upload(SLOW_BYTES)
        self.ask()
        self.base = server.memory_bytes()

    def ask(self) -> float:
        """Seconds until a well-formed request is answered."""
        started = time.monotonic()
        status, _ = self.good.ask(self.target.question)
        self.counts["answered"] += 1
        if status != 200:
            self.violations.append(f"a good request was answered with {status}")
        return time.monotonic() - started

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.port), PATIENCE_SECONDS)

    def abort_uploads(self) -> None:
        for _ in range(UPLOADS_PER_ROUND):
            end = self.chance.randrange(len(self.largest) // 2, len(self.largest) - 1)
            with self.connect() as client, suppress(OSError):
                client.sendall(self.largest[:end])
            self.counts["aborted"] += 1
            self.ask()
        self.check_memory("after aborted uploads", MOST_GROWTH)

    def send_slowly(self) -> None:
        with ExitStack() as opened:
            for _ in range(SLOW_UPLOADS):
                client = opened.enter_context(self.connect())
                self.counts["slow"] += 1
                try:
                    client.sendall(self.slowest[: len(self.slowest) - 10])
                    client.settimeout(0.01)
                    self.counts["parted with"] += bool(client.recv(1 << 16))
                except TimeoutError:
                    pass
                except OSError:
                    self.counts["parted with"] += 1
            self.ask()
            held = self.server.memory_bytes() - self.base
            if held > MOST_HELD:
                self.violations.append(f"uploads under way hold {held >> 20} MB")
        self.check_memory("after slow uploads", MOST_LEFT)

    def send_grown(self) -> None:
        """Takes the best of several tries: a busy machine may be late for reasons of its own."""
        seconds = min(self.seconds_beside_grown() for _ in range(LOOKS))
        if seconds > MOST_SECONDS:
            self.violations.append(f"a good request took {seconds:.2f} s beside a grown one")

    def seconds_beside_grown(self) -> float:
        self.counts["grown"] += 1
        with self.connect() as client:
            client.sendall(self.grown)
            worst = 0.0
            client.settimeout(0.001)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while time.monotonic() < deadline:
                worst = max(worst, self.ask())
                try:
                    client.recv(1 << 16)
                except TimeoutError:
                    continue
                except OSError:
                    break
                break
            return worst

    def check_memory(self, when: str, most: int) -> None:
        deadline = time.monotonic() + 5.0
        while (growth := self.server.memory_bytes() - self.base) > most:
            if time.monotonic() > deadline:
                self.violations.append(f"{when} the server holds {growth >> 20} MB more")
                return
            time.sleep(0.05)


@contextmanager
def attack_on(target: Target, folder: Path, mutant: str | None, seed: int) -> Iterator[Attack]:
    server = target.serve(folder, mutant)
    try:
        attack = Attack(target, server, seed)
        yield attack
        attack.good.close()
    finally:
        server.stop()


def run(rounds: int, *, target: Target = ENDPOINT, seed: int = 1) -> Result:
    with scratch() as folder:
        with attack_on(target, folder, None, seed) as attack:
            for _ in range(rounds):
                # What an allocator keeps of the first round it keeps for good; any more is a leak.
                attack.base = attack.server.memory_bytes() if attack.counts["slow"] else attack.base
                attack.abort_uploads()
                attack.send_slowly()
                attack.send_grown()
        caught = [mutant for mutant in MUTANTS if is_caught(target, folder, mutant, seed)]
    missed = [f"{mutant!r} was not caught" for mutant in MUTANTS if mutant not in caught]
    counts = {"rounds": rounds, **attack.counts, "mutants caught": len(caught)}
    return result(counts, attack.violations + missed)


def is_caught(target: Target, folder: Path, mutant: str, seed: int) -> bool:
    with attack_on(target, folder, mutant, seed) as attack:
        if mutant == "keep lost bytes":
            attack.abort_uploads()
        elif mutant == "no limit":
            attack.send_slowly()
        else:
            attack.send_grown()
    return bool(attack.violations)
