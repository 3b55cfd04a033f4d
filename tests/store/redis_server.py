"""A Redis of the tests' own, on a free port, which can be stopped and started again."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
import redis

SECONDS = 30


def free_port() -> int:
    """One below those that systems hand out: nothing else takes it while the server is stopped."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class RedisServer:
    def __init__(self, folder: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is not installed: apt-get install redis-server")
        self.port = free_port()
        self.command = [program, "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""]
        self.command += ["--appendonly", "no", "--dir", str(folder)]
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        client = redis.Redis(port=self.port)
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                client.ping()
                break
            except redis.ConnectionError:
                assert time.monotonic() < deadline, "redis-server does not start"
                time.sleep(0.02)
        client.close()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(SECONDS)
            self.process = None
