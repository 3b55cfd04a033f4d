"""A tape from the kernel's side: the same events, parsed from strace's output.

Only what crosses into the kernel counts here, so this also proves the recording VFS right. A write
is timed by the line that begins its call; a sync by the one with its result, which is the same line
or, if another thread came between, the one that says it is resumed.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from proofs.tape import Event, Tape

ROOT = Path(__file__).parent.parent
CALLS = "write,pwrite64,fsync,fdatasync"
BEGUN = re.compile(
    r'(\d+) +(\w+)\(\d+<([^>]*)>(?:, "((?:[^"\\]|\\.)*)"(?:\.\.\.)?, \d+(?:, (\d+))?)?'
)
RESUMED = re.compile(r"(\d+) +<\.\.\. (fsync|fdatasync) resumed>")


def why_not() -> str | None:
    """Why nothing can be traced here; None if it can."""
    if shutil.which("strace") is None:
        return "strace is not installed (apt install strace)"
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else "strace may not trace processes on this machine"


def run_traced(folder: Path, writes: int, mutant: str | None) -> Tape:
    """Runs `proofs.traced` under strace."""
    log = folder / "strace.log"
    program = [sys.executable, "-m", "proofs.traced", str(folder / "traced.db"), str(writes)]
    options = ["-f", "-y", "-s", "4096", "-e", f"trace={CALLS}", "-o", str(log)]
    subprocess.run(
        ["strace", *options, *program, mutant or ""],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        timeout=300,
    )
    with log.open(encoding="latin-1") as lines:
        return list(events(lines))


def events(lines: Iterable[str]) -> Iterator[Event]:
    syncing: dict[str, str] = {}
    for line in lines:
        resumed = RESUMED.match(line)
        if resumed:
            yield from sync_events(syncing.pop(resumed[1]))
            continue
        begun = BEGUN.match(line)
        if not begun:
            continue
        thread, call, path, text, offset = begun.groups()
        if call.endswith("sync"):
            if "<unfinished" in line:
                syncing[thread] = path
            else:
                yield from sync_events(path)
        elif text is not None:
            yield from write_events(path, ast.literal_eval(f'b"{text}"'), int(offset or 0))


def sync_events(path: str) -> Iterator[Event]:
    if path.endswith("-wal"):
        yield Event("sync", "wal")


def write_events(path: str, data: bytes, offset: int) -> Iterator[Event]:
    if path.endswith("-wal"):
        yield Event("write", "wal", offset, data)
    elif path.startswith("pipe:") and data.startswith(b"ack "):
        yield Event("ack", data=data[4:].strip())
