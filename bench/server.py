"""A server in a process of its own, its CPU time, and a client that adds no cost to it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import orjson

from bigtime.wire import Request

HEAD = (
    "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amz-json-1.0\r\n"
    "X-Amz-Target: DynamoDB_20120810.{operation}\r\nX-Amz-Date: 20200101T000000Z\r\n"
    "Authorization: AWS4-HMAC-SHA256 Credential=none/20200101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=none\r\nContent-Length: {length}\r\n\r\n"
)

SECONDS_PATIENT = 120.0


class Client:
    """One persistent connection, which sends prepared bytes.

    A server closes a connection that was idle for five seconds; the next call opens another.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.connect()

    def connect(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS_PATIENT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def __call__(self, request: Request) -> Any:
        return orjson.loads(self.send(encode_request(request)))

    def send(self, call: bytes) -> bytes:
        return self.receive(self.status_of(call))

    def receive(self, status: bytes | None = None) -> bytes:
        """The body of the response; its status line may have been read already."""
        readline = self.file.readline
        status = readline() if status is None else status
        length = 0
        while len(line := readline()) > 2:
            if line[:15].lower() == b"content-length:":
                length = int(line[15:])
        body = self.file.read(length)
        if b" 200 " not in status:
            raise AssertionError(f"{status!r} {body!r}")
        return body

    def status_of(self, call: bytes) -> bytes:
        """The status line of the response."""
        try:
            self.socket.sendall(call)
            if status := self.file.readline():
                return status
        except ConnectionError:
            pass
        self.close()
        self.connect()
        self.socket.sendall(call)
        return self.file.readline()

    def send_all(self, calls: Sequence[bytes]) -> None:
        for call in calls:
            self.send(call)

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def encode_request(request: Request) -> bytes:
    body = orjson.dumps(request.params)
    return HEAD.format(operation=request.operation, length=len(body)).encode() + body


class Server:
    """A server process, and a client of it."""

    def __init__(self, process: subprocess.Popen[bytes], client: Client) -> None:
        self.process = process
        self.client = client

    def cpu_seconds(self) -> float:
        """User and system time of all the server's threads, with a precision of nanoseconds.

        /proc/PID/stat counts the same in hundredths of a second. The id of another process's CPU
        clock is computed as Linux does it (clock_getcpuclockid(3)): ~PID, three bits, SCHED.
        """
        return time.clock_gettime((~self.process.pid << 3) | 2)


@contextmanager
def run_server(
    command: Sequence[str | Path],
    port: int,
    *,
    seconds: float = SECONDS_PATIENT,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """Starts a server and yields it; `settings` are environment variables."""
    environment = {**os.environ, **(settings or {})}
    quiet = subprocess.DEVNULL
    with ExitStack() as stack:
        process = stack.enter_context(
            subprocess.Popen(command, stdout=quiet, stdin=quiet, env=environment)
        )
        stack.callback(process.terminate)
        client = connect(port, process, seconds)
        stack.callback(client.close)
        yield Server(process, client)


def connect(port: int, process: subprocess.Popen[bytes], seconds: float) -> Client:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return Client(port)
        except ConnectionRefusedError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def engine_server(*options: str | Path) -> Iterator[Server]:
    port = free_port()
    program = [sys.executable, "-c", "from bigtime.cli.app import main; main()"]
    with run_server([*program, "engine", "serve", "--port", str(port), *options], port) as server:
        yield server


@contextmanager
def dynalite_server(script: Path) -> Iterator[Server]:
    port = free_port()
    delays = [f"--{verb}TableMs=0" for verb in ("create", "delete", "update")]
    command: list[str | Path] = [
        "node",
        script,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        *delays,
    ]
    with run_server(command, port) as server:
        yield server


def dynalite_script() -> Path | None:
    """dynalite's program, if node and the package are installed."""
    given = os.environ.get("BIGTIME_NODE_MODULES")
    modules = Path(given) if given else Path("build/node/node_modules")
    script = modules / "dynalite" / "cli.js"
    return script if shutil.which("node") and script.is_file() else None
