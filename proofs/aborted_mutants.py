"""Endpoints broken on purpose, each served by a process of its own, for P15 to catch."""

from __future__ import annotations

import gc
import sys

from bigtime.cli.app import main as serve
from bigtime.engine.http import connection as connection_module
from bigtime.engine.http import endpoint, protocol
from bigtime.engine.http.connection import Connection


def keep_lost_bytes() -> None:
    """Leaves a lost connection's bytes and parser to the garbage collector."""
    gc.set_threshold(100_000, 50, 1_000)

    def connection_lost(connection: Connection, exc: Exception | None) -> None:
        connection.endpoint.forget(connection)

    Connection.connection_lost = connection_lost  # type: ignore[assignment, method-assign]


def set_no_limit() -> None:
    connection_module.MAX_BODIES = 1 << 60


def read_on_the_loop() -> None:
    class Here:
        def submit(self, answer, call):  # type: ignore[no-untyped-def]
            answer(call)

        def shutdown(self, **options: object) -> None:
            pass

    protocol.MAX_VALUES = 1 << 60
    endpoint.ThreadPoolExecutor = lambda *given: Here()  # type: ignore[assignment, attr-defined]


BREAK = {
    "keep lost bytes": keep_lost_bytes,
    "no limit": set_no_limit,
    "read on the loop": read_on_the_loop,
}


def main(mutant: str) -> None:
    BREAK[mutant]()
    sys.argv[0] = "bigtime"
    serve()
