"""The process that is killed: it writes to the ledger from several threads until it dies.

After each write that the engine acknowledged, it writes the writer and the number into a pipe.
What is in the pipe was promised to be durable.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from bigtime.engine import Engine
from bigtime.engine.housekeeping import log_keeper
from bigtime.engine.storage import file
from bigtime.wire import ResourceInUseException
from proofs.ledger import create_table, log_changes, writes
from proofs.mutants import mutate

SECONDS_TO_LIVE = 120.0  # in case nobody kills it


def work_until_killed(
    path: Path, seed: int, done: dict[int, int], mutant: str | None, acks: Connection
) -> None:
    mutate(mutant)
    checkpoint_often()
    engine = Engine.open(path)
    with suppress(ResourceInUseException):
        engine(create_table())
    engine(log_changes())
    for writer, number in done.items():
        threading.Thread(
            target=write_on, args=(engine, seed, writer, number, acks.fileno()), daemon=True
        ).start()
    threading.Event().wait(SECONDS_TO_LIVE)
    os._exit(1)


def checkpoint_often(pages: int = 40) -> None:
    """Makes some kills fall into a checkpoint: otherwise a child would not live to see one."""
    log_keeper.CHECKPOINT_BYTES = pages * 4096
    file.LONG_LOG_PAGES = pages


def write_on(engine: Engine, seed: int, writer: int, done: int, acks: int) -> None:
    for number, request in writes(seed, writer, done):
        engine(request)
        os.write(acks, b"%d %d\n" % (writer, number))


def acknowledgements(said: bytes) -> dict[int, list[int]]:
    """The numbers that each writer got acknowledged, in order."""
    numbers: dict[int, list[int]] = {}
    for line in said.splitlines():
        writer, number = map(int, line.split())
        numbers.setdefault(writer, []).append(number)
    return numbers
