"""P4: a full or failing disk is an error to the writer, and nothing worse.

The disk is made full in three ways: a file system of a few megabytes, a limit on the size of
files, and a VFS that reports it. Each time the writer must get InternalServerError, which every
SDK retries, and never an acknowledgement; reads continue; and once there is room, writes
continue in the same engine.

Then the disk fails intermittently: now and then a write, a sync or a truncation of the database or
its log fails, in commits and in checkpoints, while four writers share their commits. Each retries
what was refused until it is done. The ledger shows whether a refused write left anything behind or
took another writer's with it.
"""

from __future__ import annotations

import logging
import os
import random
import resource
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from bigtime.engine import Engine
from bigtime.wire import InternalServerError
from proofs import audit
from proofs.child import checkpoint_often
from proofs.failing import Call, Disk, FailingVFS, Trouble
from proofs.filling import Filling
from proofs.ledger import WRITERS, Book, create_table, write
from proofs.processes import ChildDied, in_child
from proofs.result import Result, result
from proofs.scratch import scratch
from proofs.tape import FileName

FILE_SYSTEM_BYTES = 4 << 20
FILE_LIMIT_BYTES = 1 << 20
BALLAST_BYTES = 1 << 20
ROUNDS_PER_FILE = 40
VFS = "bigtime-failing"
FOREVER = 1 << 60

Outcome = tuple[dict[str, int], list[str]]


# --- Full -----------------------------------------------------------------------------------


def fill(path: Path, make_room: Callable[[], None], vfs: str | None = None) -> Outcome:
    with Engine.open(path, vfs=vfs) as engine:
        filling = Filling(engine)
        filling.go_through(make_room)
    with Engine.open(path) as filling.engine:
        filling.look("after opening again")
    faults = filling.faults + audit.integrity_faults(path)
    return {"refused by a full disk": filling.refused}, faults


def small_file_system(folder: Path) -> Outcome:
    with mount_small_disk(folder) as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(BALLAST_BYTES))
        return fill(disk / "full.db", ballast.unlink)


@contextmanager
def mount_small_disk(folder: Path) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir()
    options = f"size={FILE_SYSTEM_BYTES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def why_not_mount(folder: Path) -> str | None:
    """Why no file system can be mounted here; None if one can."""
    if os.geteuid() != 0:
        return "a small file system can only be mounted by root"
    point = folder / "mounted"
    point.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(point)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        return "this machine does not let root mount a small file system"
    subprocess.run(["umount", point], check=True)
    return None


def limited_file_size(path: Path, pipe: Connection) -> None:
    """In a child: files may not grow, until the limit is lifted."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    logging.disable()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT_BYTES, hard))
    pipe.send(fill(path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))))


def full_for_sqlite(path: Path, pipe: Connection) -> None:
    """In a child: the log cannot grow by more than a few hundred pages, until it may."""
    logging.disable()
    trouble = Trouble("write", "wal", is_full=True, spare=500, times=FOREVER)
    disk = Disk(trouble)
    vfs = FailingVFS(VFS, disk)
    outcome = fill(path, lambda: setattr(disk, "trouble", None), VFS)
    vfs.unregister()
    pipe.send(outcome)


# --- Stumbling ------------------------------------------------------------------------------


def stumble(path: Path, seed: int, rounds: int, pipe: Connection) -> None:
    """In a child: writers at work while the disk fails now and then, and their book."""
    logging.disable()
    checkpoint_often()
    disk = Disk()
    vfs = FailingVFS(VFS, disk)
    book = Book(seed)
    refused: list[str] = []
    faults: list[str] = []
    with Engine.open(path, vfs=VFS) as engine:
        engine(create_table())
        writers = [
            threading.Thread(target=insist, args=(engine, seed, writer, rounds, refused, faults))
            for writer in range(WRITERS)
        ]
        for thread in writers:
            thread.start()
        make_trouble(disk, random.Random(seed), writers)
        disk.trouble = None
        for writer in range(WRITERS):
            for _ in range(rounds):
                book.carry_out(writer)
        faults += check(engine, book)
    vfs.unregister()
    faults += audit.integrity_faults(path)
    pipe.send(({"I/O errors": disk.failures, "refused by a failing disk": len(refused)}, faults))


def insist(
    engine: Engine, seed: int, writer: int, rounds: int, refused: list[str], faults: list[str]
) -> None:
    """Sends a writer's writes, each again and again until it is acknowledged."""
    for number in range(1, rounds + 1):
        while True:
            try:
                engine(write(seed, writer, number).request())
                break
            except InternalServerError as error:
                refused.append(str(error))
            except Exception as error:
                faults.append(f"a failing disk is told as {error!r}")
                break


def make_trouble(disk: Disk, chance: random.Random, writers: list[threading.Thread]) -> None:
    """Causes one short trouble after another, until the writers are done."""
    calls: list[Call] = ["write", "sync", "truncate"]
    files: list[FileName] = ["db", "wal"]
    while any(thread.is_alive() for thread in writers):
        trouble = Trouble(
            chance.choice(calls),
            chance.choice(files),
            is_full=chance.random() < 0.5,
            spare=chance.randrange(8),
            times=chance.choice([1, 1, 2, 5]),
        )
        with disk.lock:
            disk.trouble = trouble
        writers[0].join(0.010)


def check(engine: Engine, book: Book) -> list[str]:
    faults = audit.index_faults(engine, book.items) + audit.count_faults(engine, book.items)
    faults += audit.stream_faults(audit.StreamReader().new_changes(engine), book)
    if audit.items(engine) != book.items:
        faults.append("the table is not what was acknowledged")
    return faults


# --- The proof ------------------------------------------------------------------------------


def run_in_child(target: Callable[..., None], *arguments: object) -> Outcome:
    try:
        outcome: Outcome = in_child(target, *arguments)
    except ChildDied as death:
        return {}, [str(death)]
    return outcome


def run(files: int, *, seed: int = 1) -> Result:
    """Fills the disk in each way once, and writes that many files on an unreliable disk."""
    chance = random.Random(seed)
    skipped: list[str] = []
    with scratch() as folder:
        outcomes = [
            run_in_child(limited_file_size, folder / "limited.db"),
            run_in_child(full_for_sqlite, folder / "said.db"),
        ]
        reason = why_not_mount(folder)
        if reason is None:
            outcomes.append(small_file_system(folder))
        else:
            skipped.append(reason)
        ways = len(outcomes)
        for number in range(files):
            seeded = chance.getrandbits(32)
            path = folder / f"stumble-{number}.db"
            outcomes.append(run_in_child(stumble, path, seeded, ROUNDS_PER_FILE))
    counts = {"ways to be full": ways, "files on a failing disk": files}
    violations: list[str] = []
    for outcome, faults in outcomes:
        violations += faults
        for what, count in outcome.items():
            counts[what] = counts.get(what, 0) + count
    return result(counts, violations, skipped)
