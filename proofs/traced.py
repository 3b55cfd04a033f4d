"""The process whose syncs are traced: it acknowledges each write by the name of its item.

Run as a program, under strace, it writes the names to its standard output.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bigtime.engine import Engine
from bigtime.wire import Request
from proofs.ledger import TABLE, create_table
from proofs.mutants import mutate
from proofs.tape import Event, RecordingVFS, Tape

WRITERS = 4


def write_and_acknowledge(engine: Engine, writes: int, acknowledge: Callable[[str], None]) -> None:
    """Runs several writers at once, so that they share commits; every item has its own name."""

    def write(writer: int) -> None:
        for number in range(writes // WRITERS):
            name = f"{writer}/{number}"
            engine(request_for(name, number))
            acknowledge(name)

    engine(create_table())
    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def request_for(name: str, number: int) -> Request:
    put = put_of(name, number)
    if number % 3:
        return Request("PutItem", put)
    second = put_of(f"{name}/second", number)
    return Request("TransactWriteItems", {"TransactItems": [{"Put": put}, {"Put": second}]})


def put_of(name: str, number: int) -> dict[str, Any]:
    item = {
        "account": {"S": name},
        "group": {"S": "group"},
        "number": {"N": str(number)},
    }
    return {"TableName": TABLE, "Item": item}


def record(path: Path, writes: int, mutant: str | None, pipe: Connection) -> None:
    """In a child: the tape of the writes, with their acknowledgements."""
    mutate(mutant)
    tape: Tape = []
    vfs = RecordingVFS("bigtime-tape", tape)
    engine = Engine.open(path, vfs="bigtime-tape")
    write_and_acknowledge(
        engine, writes, lambda name: tape.append(Event("ack", data=name.encode()))
    )
    seen = list(tape)
    engine.close()
    vfs.unregister()
    pipe.send(seen)


def main(path: str, writes: str, mutant: str = "") -> None:
    mutate(mutant or None)
    with Engine.open(path) as engine:
        write_and_acknowledge(engine, int(writes), lambda name: sys_write(f"ack {name}\n"))


def sys_write(line: str) -> None:
    """Makes one system call, for the tracer to see."""
    os.write(sys.stdout.fileno(), line.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
