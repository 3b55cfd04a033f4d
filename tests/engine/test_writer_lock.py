"""The writer lock when its holder is stopped: nobody hangs, and everybody learns who it is."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import get_ident
from time import monotonic, sleep
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.engine.storage.writer_lock import LockTimeout, WriterLock
from bigtime.wire import InternalServerError, Request
from tests.engine.calls import begin, call, come, failure, make_table, s, until

HOLDER = """
import sys, time
from pathlib import Path
from bigtime.engine.storage.writer_lock import WriterLock
WriterLock(Path(sys.argv[1])).acquire()
print("locked", flush=True)
time.sleep(600)
"""

LOCK_SECONDS = 0.3
SOON = 20.0
"""However busy the machine: a wait that has no deadline lasts longer."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "notes.db"
    with Engine.open(path, durability="relaxed", housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="notes", keys=("p",))
    return path


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is stopped while it holds the writer lock."""
    script = [sys.executable, "-c", HOLDER, f"{path}-lock"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "locked\n"
        process.send_signal(signal.SIGSTOP)
        yield process
        process.kill()


def open_engine(
    path: Path, durability: Any = "relaxed", *, lock_seconds: float = LOCK_SECONDS
) -> Engine:
    return Engine.open(path, durability=durability, housekeeping=False, lock_seconds=lock_seconds)


def put(engine: Engine, p: str) -> None:
    call(engine, "PutItem", TableName="notes", Item={"p": s(p)})


def is_there(engine: Engine, p: str) -> bool:
    return "Item" in call(engine, "GetItem", TableName="notes", Key={"p": s(p)})


@pytest.mark.parametrize("durability", ["full", "relaxed"])
def test_a_writer_is_told_to_retry_and_who_holds_the_lock(
    path: Path, holder: subprocess.Popen[str], durability: str
) -> None:
    with open_engine(path, durability) as engine:
        started = monotonic()
        with pytest.raises(InternalServerError) as caught:
            put(engine, "a")
        assert LOCK_SECONDS <= monotonic() - started < SOON
        assert caught.value.message == (
            f"Nothing was written, for process {holder.pid} has held the writer lock for 0.3 s. "
            "Retry."
        )
        assert not is_there(engine, "a")


def test_writers_go_on_when_the_holder_does(path: Path, holder: subprocess.Popen[str]) -> None:
    with open_engine(path) as engine:
        for name in "abc":
            assert isinstance(failure(begin(partial(put, engine, name))), Exception)
        holder.kill()
        holder.wait()
        assert until(lambda: failure(begin(lambda: put(engine, "d"))) is None)
        assert [is_there(engine, name) for name in "abcd"] == [False, False, False, True]


def test_a_whole_queue_is_told_within_one_deadline(
    path: Path, holder: subprocess.Popen[str]
) -> None:
    with Engine.open(path, housekeeping=False, lock_seconds=2.0) as engine:
        started = monotonic()
        writers = [begin(partial(put, engine, f"{number}")) for number in range(20)]
        assert all(isinstance(failure(writer), InternalServerError) for writer in writers)
        # Not two seconds for each of those that were queued behind the first.
        assert monotonic() - started < 2.0 + SOON / 2


def test_a_file_is_opened_and_read_without_the_lock(
    path: Path, holder: subprocess.Popen[str]
) -> None:
    started = monotonic()
    with Engine.open(path, housekeeping=False, lock_seconds=60) as engine:
        assert not is_there(engine, "a")
        assert monotonic() - started < SOON


def test_a_file_that_has_to_be_made_says_whose_lock_it_waits_for(tmp_path: Path) -> None:
    script = [sys.executable, "-c", HOLDER, f"{tmp_path / 'new.db'}-lock"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "locked\n"
        with pytest.raises(LockTimeout) as caught:
            open_engine(tmp_path / "new.db")
        assert caught.value.strerror == f"process {process.pid} has held the writer lock for 0.3 s"
        process.kill()


def test_closing_has_an_end(path: Path, holder: subprocess.Popen[str]) -> None:
    engine = Engine.open(path, lock_seconds=60)
    writing = begin(lambda: put(engine, "a"))
    assert until(lambda: engine._database.committer._group)
    started = monotonic()
    engine.close()
    assert monotonic() - started < SOON
    assert isinstance(failure(writing), InternalServerError)


@pytest.mark.parametrize("durability", ["full", "relaxed"])
def test_an_event_loop_does_not_wait_for_the_lock(
    path: Path, holder: subprocess.Popen[str], durability: str
) -> None:
    async def write_and_read(engine: Engine) -> tuple[float, BaseException | None]:
        loop, written = asyncio.get_running_loop(), asyncio.Event()
        errors: list[BaseException | None] = []

        def done(_: object, error: BaseException | None) -> None:
            assert get_ident() != thread
            errors.append(error)
            loop.call_soon_threadsafe(written.set)

        thread, started = get_ident(), monotonic()
        engine.submit(Request("PutItem", {"TableName": "notes", "Item": {"p": s("a")}}), done)
        blocked = monotonic() - started
        assert not is_there(engine, "a")
        await asyncio.wait_for(written.wait(), SOON)
        return blocked, errors[0]

    with open_engine(path, durability, lock_seconds=3.0) as engine:
        blocked, error = asyncio.run(write_and_read(engine))
        assert blocked < 2.0
        assert isinstance(error, InternalServerError)


@pytest.mark.parametrize("durability", ["full", "relaxed"])
def test_a_server_ends_when_it_is_told_to(
    path: Path, holder: subprocess.Popen[str], durability: str
) -> None:
    script = [sys.executable, "-c", "from bigtime.cli import main; main()", "engine", "serve"]
    options = ["--data", str(path), "--port", "0", "--durability", durability]
    with subprocess.Popen([*script, *options], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout and "listens on" in server.stdout.readline()
        server.terminate()
        assert server.wait(SOON) == 0


# --- The lock itself ------------------------------------------------------------------------------


@pytest.fixture
def locks(tmp_path: Path) -> Iterator[list[WriterLock]]:
    """As many open files, and so as many holders, as two processes have."""
    locks = [WriterLock(tmp_path / "lock", seconds) for seconds in (60.0, 0.05)]
    yield locks
    for lock in locks:
        lock.close()


def is_free(path: Path) -> bool:
    other = WriterLock(path)
    try:
        return other.try_acquire()
    finally:
        other.close()


def test_a_lock_is_given_to_the_one_who_waits(locks: list[WriterLock]) -> None:
    patient, hasty = locks
    hasty.acquire()
    waiting: Future[None] = begin(patient.acquire)
    sleep(0.05)
    assert not waiting.done() and not patient.try_acquire()
    hasty.release()
    come(waiting)
    assert not hasty.try_acquire()
    patient.release()
    assert hasty.try_acquire()


def test_a_lock_that_comes_too_late_is_given_back(tmp_path: Path, locks: list[WriterLock]) -> None:
    patient, hasty = locks
    patient.acquire()
    with pytest.raises(LockTimeout):
        hasty.acquire()
    hasty.release()
    assert not is_free(tmp_path / "lock")
    patient.release()
    # The thread that was left in the kernel's queue gets the lock, which nobody wants any more.
    assert until(lambda: is_free(tmp_path / "lock"))


def test_a_second_wait_takes_the_place_of_the_first(locks: list[WriterLock]) -> None:
    patient, hasty = locks
    patient.acquire()
    with pytest.raises(LockTimeout):
        hasty.acquire()
    hasty._seconds = 60.0
    waiting = begin(hasty.acquire)
    sleep(0.05)
    patient.release()
    come(waiting)
    assert not patient.try_acquire()


def test_a_holder_may_take_the_lock_again(tmp_path: Path, locks: list[WriterLock]) -> None:
    lock = locks[0]
    assert lock.try_acquire()
    lock.acquire()
    lock.release()
    assert not is_free(tmp_path / "lock")
    lock.release()
    assert is_free(tmp_path / "lock")


def test_the_holder_is_named_in_the_lock_file(tmp_path: Path, locks: list[WriterLock]) -> None:
    locks[0].acquire()
    assert (tmp_path / "lock").read_text().strip() == str(os.getpid())
    assert locks[1].holder() == str(os.getpid())


def test_a_lock_closed_while_it_waits_is_not_kept(tmp_path: Path) -> None:
    holder, waiter = WriterLock(tmp_path / "lock"), WriterLock(tmp_path / "lock", 0.05)
    holder.acquire()
    with pytest.raises(LockTimeout):
        waiter.acquire()
    waiter.close()
    holder.close()
    assert until(lambda: is_free(tmp_path / "lock"))
