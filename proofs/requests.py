"""P8: no request, however large, deep or odd, is answered with a 5xx, hangs, or leaks memory.

A real server gets mutated requests of every operation on a persistent connection and, each on a
connection of its own, bytes that are not a request. In between it must still answer a well-formed
one. Its tables are in a file, since requests that succeed leave data behind. In the first quarter
its caches fill; from then on its memory in use must hardly grow. Its resident memory is reported
too.

A response that takes over a second counts if the server really worked that long for it: the machine
may have been busy with others, so the request is sent twice more and the server's own CPU time
decides.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import socket
import time
from pathlib import Path
from typing import Any

from proofs import corpus, memory, memory_in_use, pace, raw_http, seldom
from proofs.mutations import mutate_request
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.server import Server, serving

SLOW_SECONDS = 1.0
LOOKS = 5
"""Measurements of a slow response; busy neighbours stretch CPU time too, so the best counts."""
HANGING_SECONDS = 30.0
MEMORY_BYTES = 50 << 20
FRESH_TABLE_EVERY = 500
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
ODD_SHARE, LARGE_SHARE = 0.10, 0.002
LARGEST_BYTES = 15 << 20


class Connection:
    """A persistent connection, reopened when the server closes it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.open()

    def open(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self.port), HANGING_SECONDS)
        self.file = self.socket.makefile("rb")

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def ask(self, request: bytes) -> tuple[int, bytes]:
        """The status and body of one response."""
        try:
            return self.send(request)
        except ConnectionError:
            self.close()
            self.open()
            return self.send(request)

    def send(self, request: bytes) -> tuple[int, bytes]:
        self.socket.sendall(request)
        found = STATUS.match(self.file.readline())
        if not found:
            raise ConnectionResetError
        size = 0
        while line := self.file.readline().strip():
            if line.lower().startswith(b"content-length:"):
                size = int(line[15:])
        return int(found[1]), self.file.read(size)


def statuses(port: int, request: bytes) -> list[int]:
    """The statuses that the server returns for bytes after which the client sends no more."""
    with socket.create_connection(("127.0.0.1", port), HANGING_SECONDS) as alone:
        try:
            alone.sendall(request)
            alone.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: alone.recv(1 << 16), b""))
        except (ConnectionError, BrokenPipeError):
            return []  # refused before everything was sent
    return [int(status) for status in STATUS.findall(answer)]


class Fuzz:
    """A server under fuzzing, and what was wrong with its responses."""

    def __init__(self, server: Server, answer: Path, seed: int) -> None:
        self.server = server
        self.answer = answer
        self.chance = random.Random(seed)
        self.kept = Connection(server.port)
        self.counts = {"requests": 0, "refused": 0, "of odd bytes": 0, "of a megabyte or more": 0}
        self.violations: list[str] = []
        self.in_use: list[int] = []
        self.resident: list[int] = []
        self.fresh_table()

    def call(self, operation: str, params: Any) -> Any:
        return json.loads(self.kept.ask(raw_http.call(operation, params))[1])

    def fresh_table(self) -> None:
        """Creates the table that the requests use, with an item; and the requests on it."""
        self.call("DeleteTable", {"TableName": corpus.TABLE})
        described = self.call("CreateTable", corpus.create_table(corpus.TABLE))
        self.call("PutItem", {"TableName": corpus.TABLE, "Item": corpus.ITEM})
        table = self.call("DescribeTable", {"TableName": corpus.TABLE}).get("Table")
        if table is None:
            self.violations.append(f"no table could be made: {described}")
            return
        stream = table["LatestStreamArn"]
        shards = self.call("DescribeStream", {"StreamArn": stream})["StreamDescription"]["Shards"]
        place = {"StreamArn": stream, "ShardId": shards[0]["ShardId"]}
        iterator = self.call("GetShardIterator", {**place, "ShardIteratorType": "TRIM_HORIZON"})
        self.requests = [
            *corpus.item_requests(),
            *corpus.table_requests(table["TableArn"]),
            *corpus.stream_requests(stream, place["ShardId"], iterator["ShardIterator"]),
            *seldom.seldom_requests(table["TableArn"], stream),
        ]

    def warm_up(self) -> None:
        """Sends each of the largest requests once."""
        for body in raw_http.LARGE_BODIES:
            self.counts["requests"] += 1
            self.counts["of a megabyte or more"] += 1
            self.try_alone(body.request(LARGEST_BYTES))

    def fire(self, requests: int) -> None:
        for number in range(requests):
            if pace.is_over():
                return
            if number % FRESH_TABLE_EVERY == 0:
                self.fresh_table()
                self.in_use.append(memory_in_use.ask(self.server.process.pid, self.answer))
                self.resident.append(self.server.memory_bytes())
            self.counts["requests"] += 1
            draw = self.chance.random()
            if draw < LARGE_SHARE:
                self.counts["of a megabyte or more"] += 1
                self.try_alone(self.chance.choice(raw_http.LARGE)(self.chance))
            elif draw < LARGE_SHARE + ODD_SHARE:
                self.counts["of odd bytes"] += 1
                self.try_alone(self.chance.choice(raw_http.ODD)(self.chance))
            else:
                operation, params = self.chance.choice(self.requests)
                self.try_kept(raw_http.call(operation, mutate_request(params, self.chance)))

    def try_kept(self, request: bytes) -> None:
        started = time.monotonic()
        try:
            status, body = self.kept.ask(request)
        except (TimeoutError, ConnectionError) as error:
            self.violations.append(f"no answer ({error!r}) to {short_repr(request)}")
            self.kept = Connection(self.server.port)
            return
        self.judge([status], time.monotonic() - started, request, body)

    def try_alone(self, request: bytes) -> None:
        started = time.monotonic()
        try:
            answers = statuses(self.server.port, request)
        except TimeoutError:
            self.violations.append(f"no end of the answer to {short_repr(request)}")
            return
        self.judge(answers, time.monotonic() - started, request)

    def judge(self, answers: list[int], seconds: float, request: bytes, body: bytes = b"") -> None:
        self.counts["refused"] += any(400 <= status < 500 for status in answers)
        if any(status >= 500 for status in answers):
            self.violations.append(f"{answers} {body[:200]!r} to {short_repr(request)}")
        if seconds > SLOW_SECONDS:
            work = min(self.work_for(request) for _ in range(LOOKS))
            if work > SLOW_SECONDS:
                self.violations.append(f"{work:.1f} s of CPU time for {short_repr(request)}")

    def work_for(self, request: bytes) -> float:
        before = self.server.cpu_seconds()
        statuses(self.server.port, request)
        return self.server.cpu_seconds() - before

    def still_answers(self) -> bool:
        return "TableNames" in self.call("ListTables", {})


def short_repr(request: bytes) -> str:
    text = repr(request.partition(b"X-Amz-Target: ")[2] or request)
    return text if len(text) < 600 else f"{text[:400]} ... {text[-100:]} ({len(request)} bytes)"


def run(requests: int, *, seed: int = 1) -> Result:
    with scratch() as folder:
        answer = folder / "bytes-in-use"
        program = memory_in_use.program(answer)
        with serving(folder, *options(folder), program=program) as server:
            return attack(Fuzz(server, answer, seed), requests)


def attack(fuzz: Fuzz, requests: int) -> Result:
    server = fuzz.server
    fuzz.warm_up()
    fuzz.fire(requests - fuzz.counts["requests"])
    growth, resident = (
        memory.growth(samples[len(samples) // 4 :]) for samples in (fuzz.in_use, fuzz.resident)
    )
    if growth >= MEMORY_BYTES:
        fuzz.violations.append(f"what the server has in use grew by {growth >> 20} MB")
    if not (server.is_alive and fuzz.still_answers()):
        fuzz.violations.append(f"the server does not answer any more: {server.read_log()[-2000:]}")
    fuzz.kept.close()
    fuzz.violations += logged_errors(server)
    more = {"MB more in use": growth, "MB more held": resident}
    megabytes = {name: max(0, count >> 20) for name, count in more.items()}
    return result({**fuzz.counts, **megabytes}, fuzz.violations)


def options(folder: Path) -> list[str]:
    data = ["--data", str(folder / "server.db"), "--durability", "relaxed"]
    return [*data, "--s3", str(make_bucket(folder))]


def make_bucket(folder: Path) -> Path:
    """The folder that stands for S3, with the bucket of the exports and imports."""
    (folder / "s3" / corpus.BUCKET / "a").mkdir(parents=True)
    (folder / "s3" / corpus.BUCKET / "a" / "rows.csv.gz").write_bytes(gzip.compress(b"a;1\nb;2\n"))
    return folder / "s3"


def logged_errors(server: Server) -> list[str]:
    """Errors in the server's log: each is a bug, whatever its client was told."""
    lines = server.read_log().splitlines()
    return [line for line in lines if "failed" in line or "Error" in line][:5]
