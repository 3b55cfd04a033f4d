"""`bigtime engine serve`, which on SIGUSR1 writes to a file how many bytes it has in use.

A process's resident memory includes what is free between objects that stay, and large requests
leave ever more of that; a leak is what stays in use. With PYTHONMALLOC=malloc everything that
Python and SQLite hold is from glibc, which counts it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

FIELDS = (
    *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
    *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
)
ANSWER_SECONDS = 30.0


class Counts(ctypes.Structure):
    """glibc's `struct mallinfo2`: https://man7.org/linux/man-pages/man3/mallinfo.3.html"""

    _fields_ = tuple((name, ctypes.c_size_t) for name in FIELDS)


def program(answer: Path) -> list[str]:
    """The command of a server that writes its counts to `answer`."""
    code = f"from proofs.memory_in_use import main; main({str(answer)!r})"
    return ["env", "PYTHONMALLOC=malloc", sys.executable, "-c", code]


def main(answer: str) -> None:
    from bigtime.cli.app import main as run_command

    def tell(*_: object) -> None:
        partial = Path(f"{answer}.partial")
        partial.write_text(str(bytes_in_use()))
        partial.replace(answer)

    signal.signal(signal.SIGUSR1, tell)
    run_command()


def bytes_in_use() -> int:
    """Bytes on heaps, and in blocks large enough to be mapped separately."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Counts
    counts = mallinfo()
    return int(counts.uordblks + counts.hblkhd)


def ask(pid: int, answer: Path) -> int:
    """The bytes in use of a server started by `program`."""
    answer.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR1)
    end = time.monotonic() + ANSWER_SECONDS
    while not answer.exists():
        assert time.monotonic() < end, "the server does not tell what it has in use"
        time.sleep(0.01)
    return int(answer.read_text())
