"""Housekeeping: one process is elected, chores go a chunk at a time, and the log stays short."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Event
from time import monotonic, process_time, sleep, time

import apsw
import pytest

from bigtime.engine import Engine
from bigtime.engine.housekeeping import complaints, expiry, housekeeper, lease, log_keeper
from bigtime.engine.housekeeping.log_keeper import WAL_ALARM_BYTES
from bigtime.engine.operations.write import Plan
from bigtime.engine.storage import Transaction, backfill, file
from tests.engine.calls import (
    Clock,
    add_index,
    begin,
    call,
    come,
    describe_table,
    fill,
    global_index,
    index,
    key_schema,
    make_table,
    n,
    s,
    until,
)

MEGABYTE = 1024 * 1024
NEW = index("new", key_schema("g"), "KEYS_ONLY")


@pytest.fixture
def crowd() -> Iterator[Engine]:
    """The table `crowd`, kept by nobody until the test asks."""
    with Engine.memory(housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
        yield engine


@pytest.fixture
def kept_engine(tmp_path: Path) -> Iterator[Engine]:
    """The table `crowd` in a file with a housekeeper."""
    with Engine.open(tmp_path / "crowd.db", durability="relaxed") as engine:
        make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
        yield engine


def switch(engine: Engine, *, on: bool) -> None:
    specification = {"Enabled": on, "AttributeName": "until"}
    call(engine, "UpdateTimeToLive", TableName="crowd", TimeToLiveSpecification=specification)


def put(engine: Engine, p: str, **attributes: object) -> None:
    call(engine, "PutItem", TableName="crowd", Item={"p": s(p), **attributes})


def is_there(engine: Engine, p: str) -> bool:
    return "Item" in call(engine, "GetItem", TableName="crowd", Key={"p": s(p)})


# --- Who keeps house ------------------------------------------------------------------------------


def test_one_of_two_is_elected_and_the_other_follows_it(tmp_path: Path) -> None:
    first = Engine.open(tmp_path / "crowd.db", durability="relaxed")
    assert until(lambda: first._housekeeper.lease.is_held)
    with Engine.open(tmp_path / "crowd.db", durability="relaxed") as second:
        sleep(2 * housekeeper.PAUSE_SECONDS)
        assert not second._housekeeper.lease.is_held
        first.close()
        assert until(lambda: second._housekeeper.lease.is_held)


def test_a_chore_that_fails_is_tried_again(
    kept_engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise apsw.FullError("the disk is full")

    switch(kept_engine, on=True)
    with caplog.at_level(logging.WARNING, logger="bigtime.engine"):
        with monkeypatch.context() as broken:
            broken.setattr(expiry, "expire_some", fail)
            put(kept_engine, "old", until=n(int(time()) - 1))
            assert until(lambda: "housekeeping: expire:" in caplog.text)
            assert is_there(kept_engine, "old")
        assert until(lambda: not is_there(kept_engine, "old"))


def test_what_one_process_expires_another_did_not_have_to_know(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "crowd.db", durability="relaxed") as keeper:
        assert until(lambda: keeper._housekeeper.lease.is_held)
        with Engine.open(tmp_path / "crowd.db", durability="relaxed") as other:
            make_table(other, {"p": "S"}, name="crowd", keys=("p",))
            switch(other, on=True)
            put(other, "old", until=n(int(time()) - 1))
            assert until(lambda: not is_there(other, "old"))


STOPPED = """
import sys, time
from bigtime.engine import Engine
engine = Engine.open(sys.argv[1], durability="relaxed")
while not engine._housekeeper.lease.is_held:
    time.sleep(0.01)
print("kept", flush=True)
time.sleep(600)
"""


def test_the_chores_of_a_stopped_process_are_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "LEASE_SECONDS", 3.0)
    path = tmp_path / "crowd.db"
    script = [sys.executable, "-c", STOPPED, str(path)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as stopped:
        assert stopped.stdout and stopped.stdout.readline() == "kept\n"
        with Engine.open(path, durability="relaxed") as engine:
            make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
            switch(engine, on=True)
            sleep(2 * housekeeper.PAUSE_SECONDS)
            assert not engine._housekeeper.lease.is_held
            try:
                stop_between_writes(stopped, path)
                put(engine, "old", until=n(int(time()) - 1))
                assert until(lambda: not is_there(engine, "old"))
            finally:
                stopped.kill()


def stop_between_writes(process: subprocess.Popen[str], path: Path) -> None:
    """Stops it while it does not hold the writer lock: nobody could write otherwise."""
    while True:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        with path.with_name(path.name + "-lock").open() as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        process.send_signal(signal.SIGCONT)
        sleep(0.01)


def test_a_lease_is_lost_to_another_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("bigtime.engine.housekeeping.lease.time.monotonic", lambda: now[0])
    first, second = (lease.Lease(tmp_path / "keeper") for _ in range(2))
    assert first.renew() and not second.renew()
    now[0] += lease.LEASE_SECONDS - 1
    assert not second.renew()
    assert first.renew()
    now[0] += lease.LEASE_SECONDS
    assert second.renew()
    # The first goes on, and finds that it was taken for dead.
    assert not first.renew() and not first.is_held
    second.close()
    assert first.renew()
    # After a start of the machine, its clock begins anew.
    now[0] = 3.0
    third = lease.Lease(tmp_path / "keeper")
    assert third.renew()
    first.close()
    third.close()


# --- What fails -----------------------------------------------------------------------------------


def damage(engine: Engine, p: str) -> None:
    """Flips a byte of an item, so that it cannot be read."""
    table = engine._database.catalogue.table("crowd")

    def work(transaction: Transaction) -> None:
        transaction.execute(
            f"UPDATE {table.rows} SET item = CAST('{{' || item AS BLOB) WHERE instr(item, ?)",
            (f'"{p}"'.encode(),),
        )
        assert transaction.connection.changes() == 1

    engine._database.committer.run(work)


def test_an_item_that_cannot_be_read_keeps_no_other(
    crowd: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    switch(crowd, on=True)
    for number in range(250):
        put(crowd, f"{number}", until=n(int(time()) - 1_000 + number))
    for number in (0, 3, 120):
        damage(crowd, f"{number}")
    with caplog.at_level(logging.WARNING, logger="bigtime.engine"):
        crowd.tidy()
    assert describe_table(crowd, "crowd")["ItemCount"] == 3
    assert "housekeeping: expire: row 1 of crowd cannot be expired: JSONDecodeError" in caplog.text
    # Left alone from then on: nothing is due, and nothing is said.
    caplog.clear()
    put(crowd, "later", until=n(int(time()) - 1))
    crowd.tidy()
    assert not is_there(crowd, "later")
    assert caplog.text == ""


def test_an_item_that_cannot_be_deleted_keeps_no_other(
    crowd: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def apply(plan: Plan, transaction: Transaction) -> None:
        if plan.old and plan.old["p"] == s("7"):
            raise ZeroDivisionError
        whole(plan, transaction)

    whole = Plan.apply
    switch(crowd, on=True)
    fill(crowd, "crowd", 20, until=n(int(time()) - 1))
    with monkeypatch.context() as broken:
        broken.setattr(Plan, "apply", apply)
        crowd.tidy()
    assert describe_table(crowd, "crowd")["ItemCount"] == 1
    assert is_there(crowd, "7")


def test_an_index_is_filled_around_what_cannot_be_read(
    crowd: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    fill(crowd, "crowd", 2_500, g=s("same"))
    damage(crowd, "1700")
    add_index(crowd, "crowd", NEW, g="S")
    with caplog.at_level(logging.WARNING, logger="bigtime.engine"):
        crowd.tidy()
    shown = global_index(crowd, "crowd", "new")
    assert (shown["IndexStatus"], shown["ItemCount"]) == ("ACTIVE", 2_499)
    assert "backfill: crowd has rows that cannot be read: [1701]" in caplog.text


@pytest.mark.parametrize("error", [ZeroDivisionError, RuntimeError, KeyError, MemoryError])
def test_no_exception_ends_a_thread(
    kept_engine: Engine, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(*_: object) -> bool:
        raise error("odd")

    keeper = kept_engine._housekeeper
    switch(kept_engine, on=True)
    with monkeypatch.context() as broken:
        for chore in ("fill", "drop", "trim"):
            broken.setattr(keeper, chore, fail)
        broken.setattr(keeper.log_keeper, "checkpoint", fail)
        put(kept_engine, "old", until=n(int(time()) - 1))
        assert until(lambda: not is_there(kept_engine, "old"))
    assert keeper._thread.is_alive() and keeper.log_keeper.thread.is_alive()


def test_checkpoints_do_not_wait_for_a_chore(
    kept_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_keeper, "CHECKPOINT_BYTES", MEGABYTE)
    stuck, go = Event(), Event()

    def hang() -> bool:
        stuck.set()
        go.wait(60)
        return False

    monkeypatch.setattr(kept_engine._housekeeper, "expire", hang)
    assert stuck.wait(60)
    try:
        fill(kept_engine, "crowd", 200, text=s("x" * 20_000))
        assert until(lambda: kept_engine._database.file.wal_bytes() < MEGABYTE)
    finally:
        go.set()


def test_what_fails_again_and_again_is_told_once_a_minute(
    crowd: Engine, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("bigtime.engine.housekeeping.complaints.time.monotonic", lambda: now[0])

    def fail() -> bool:
        raise OSError("no room")

    with caplog.at_level(logging.WARNING, logger="bigtime.engine"):
        for _ in range(100):
            assert not crowd._housekeeper._complaints.attempt(fail, "trim")
        now[0] += complaints.EVERY_SECONDS
        crowd._housekeeper._complaints.attempt(fail, "trim")
    assert caplog.messages == [
        "housekeeping: trim: OSError: no room",
        "housekeeping: trim: OSError: no room (and 99 like it in the last minutes)",
    ]


@pytest.mark.proof
def test_a_thousand_idle_tables_cost_nothing_to_speak_of(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "idle.db", durability="relaxed") as engine:
        for number in range(1_000):
            name = f"table-{number}"
            make_table(engine, {"p": "S"}, name=name, keys=("p",))
            specification = {"Enabled": True, "AttributeName": "until"}
            call(
                engine,
                "UpdateTimeToLive",
                TableName=name,
                TimeToLiveSpecification=specification,
            )
        sleep(3.0)
        started, seconds = process_time(), 4.0
        sleep(seconds)
        assert process_time() - started < seconds / 100


# --- The log --------------------------------------------------------------------------------------


def test_steady_reading_and_writing_keeps_the_log_short(
    kept_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "LONG_LOG_PAGES", 250)
    monkeypatch.setattr(log_keeper, "CHECKPOINT_BYTES", 1 * MEGABYTE)
    monkeypatch.setattr(log_keeper, "PATIENT_BYTES", 4 * MEGABYTE)
    fill(kept_engine, "crowd", 200, text=s("x" * 20_000))
    ended = Event()

    def write(name: str) -> None:
        while not ended.is_set():
            put(kept_engine, name, text=s("x" * 20_000), at=n(monotonic()))

    def read() -> None:
        while not ended.is_set():
            call(kept_engine, "Scan", TableName="crowd")

    users = [begin(partial(write, name)) for name in "ab"] + [begin(read) for _ in range(7)]
    sizes = [0]

    def count_emptyings() -> int:
        sizes.append(kept_engine._database.file.wal_bytes())
        return sum(after < before / 2 for before, after in pairwise(sizes))

    # At no moment does nobody read, and yet the log is emptied again and again.
    assert until(lambda: count_emptyings() >= 3)
    ended.set()
    for user in users:
        come(user)
    assert max(sizes) < WAL_ALARM_BYTES


def test_chores_go_on_while_the_log_is_long(
    kept_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Every commit wakes the housekeeper, as it does when a frozen index keeps the log long.
    monkeypatch.setattr(file, "LONG_LOG_PAGES", 1)
    kept_engine.faults.lag_indexes(seconds=float("inf"))
    switch(kept_engine, on=True)
    ended = Event()

    def write() -> None:
        while not ended.is_set():
            put(kept_engine, "busy", at=n(monotonic()))

    writing = begin(write)
    try:
        put(kept_engine, "old", until=n(int(time()) - 1))
        assert until(lambda: not is_there(kept_engine, "old"))
    finally:
        ended.set()
        come(writing)


def test_a_log_that_is_kept_long_is_reported_once(
    crowd: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sizes = iter([1, WAL_ALARM_BYTES, WAL_ALARM_BYTES, 1, WAL_ALARM_BYTES])
    monkeypatch.setattr(crowd._housekeeper.log_keeper, "checkpoint", lambda **_: None)
    with caplog.at_level(logging.WARNING, logger="bigtime.engine"):
        for size in sizes:
            monkeypatch.setattr(crowd._database.file, "wal_bytes", lambda size=size: size)
            crowd._housekeeper.log_keeper.watch()
    assert len(caplog.records) == 2
    assert caplog.messages[0] == "the log has grown to 64 MB: a long read keeps it"


def test_closing_empties_the_log(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "crowd.db", durability="relaxed") as engine:
        make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
        fill(engine, "crowd", 50, text=s("x" * 10_000))
        wal = engine._database.file.wal_path
        assert wal.stat().st_size > 0
    assert not wal.exists() or wal.stat().st_size == 0


# --- A chunk at a time ----------------------------------------------------------------------------


def test_large_items_are_taken_into_an_index_few_at_a_time(crowd: Engine) -> None:
    for number in range(40):
        put(crowd, f"{number}", g=s("same"), text=s("x" * 300_000))
    add_index(crowd, "crowd", NEW, g="S")
    chunks = 1
    while crowd._housekeeper.fill():
        chunks += 1
    assert chunks >= 40 * 300_000 // backfill.CHUNK_BYTES
    shown = global_index(crowd, "crowd", "new")
    assert (shown["IndexStatus"], shown["ItemCount"]) == ("ACTIVE", 40)
    assert call(crowd, "Scan", TableName="crowd", IndexName="new", Select="COUNT")["Count"] == 40


def test_an_item_larger_than_a_chunk_is_taken_in_too(
    crowd: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfill, "CHUNK_BYTES", 10)
    fill(crowd, "crowd", 5, g=s("same"), text=s("x" * 100))
    add_index(crowd, "crowd", NEW, g="S")
    crowd.tidy()
    assert global_index(crowd, "crowd", "new")["ItemCount"] == 5


def test_writers_are_let_in_between_chunks(crowd: Engine) -> None:
    fill(crowd, "crowd", 2_500, g=s("same"))
    add_index(crowd, "crowd", NEW, g="S")
    before = crowd.groups[0]
    while crowd._housekeeper.fill():
        put(crowd, f"new {crowd.groups[0]}", g=s("same"))
    assert crowd.groups[0] - before >= 3
    shown = global_index(crowd, "crowd", "new")
    assert shown["ItemCount"] == describe_table(crowd, "crowd")["ItemCount"] > 2_500


def test_expiry_takes_a_chunk_to_a_transaction() -> None:
    clock = Clock()
    with Engine.memory(clock=clock, housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
        switch(engine, on=True)
        fill(engine, "crowd", 350, until=n(int(clock.now) - 1))
        left = []
        while engine._housekeeper.expire():
            left.append(describe_table(engine, "crowd")["ItemCount"])
        assert left == [250, 150, 50, 0]
