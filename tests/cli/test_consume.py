"""`bigtime consume`: a system's reactions, once or until they are stopped."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import BIGTIME, WIDE, invoke

ROOT = Path(__file__).parents[2]
ORDERS = "tests.cli.orders:SYSTEM"


def place(store: str, number: int, total: int = 1) -> None:
    order = json.dumps({"customer": "alex", "number": number, "total": total})
    assert invoke("run", f"{ORDERS}.place_order", "--order", order, store=store).exit_code == 0


def count_records(store: str) -> Any:
    done = invoke("run", f"{ORDERS}.read_placed", "--customer", "alex", "--json", store=store)
    placed = json.loads(done.stdout)
    return placed and placed["orders"]


def test_once_handles_what_is_there_and_no_more_the_next_time(store: str) -> None:
    for number in range(3):
        place(store, number)
    first = invoke("consume", ORDERS, "--once", store=store)
    assert first.exit_code == 0, first.output
    assert "count_placed 6 records 0 s behind" in first.stdout  # each count is a record too
    assert count_records(store) == 3
    again = invoke("consume", ORDERS, "--once", "--only", "count_placed", store=store)
    assert "count_placed 0 records" in again.stdout
    assert count_records(store) == 3


def test_a_record_that_cannot_be_handled_is_set_aside_and_can_be_retried(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place(store, 1)
    place(store, 2, total=5_000)
    place(store, 3)
    done = invoke("consume", ORDERS, "--once", store=store)
    assert done.exit_code == 1
    refused = "count_placed cannot handle a record, and tries again: This is more than we have."
    assert done.stderr.count(refused) == 4
    assert "Records set aside: 1. `bigtime dead-letters list" in done.stderr
    assert count_records(store) == 2
    assert invoke("consume", ORDERS, "--once", store=store).exit_code == 0

    listed = invoke("dead-letters", "list", ORDERS, store=store)
    assert "count_placed" in listed.stdout and "This is more than we have." in listed.stdout
    again = invoke("dead-letters", "retry", ORDERS, store=store)
    assert again.exit_code == 1
    assert "1 records could not be handled, and stay where they are." in again.stderr

    monkeypatch.setattr("tests.cli.orders.MOST", 10_000)
    assert invoke("dead-letters", "retry", ORDERS, store=store).exit_code == 0
    assert count_records(store) == 3
    none = invoke("dead-letters", "list", ORDERS, store=store)
    assert none.stdout == "orders has no dead letters.\n"


def test_before_any_consumer_has_run_there_are_no_dead_letters(store: str) -> None:
    assert invoke("dead-letters", "list", ORDERS, store=store).stdout == (
        "orders has no dead letters.\n"
    )


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_handles_what_comes_until_it_is_stopped(store: str, ending: signal.Signals) -> None:
    process = subprocess.Popen(
        [*BIGTIME, "consume", ORDERS, "--store", store],
        cwd=ROOT,
        env=WIDE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for number in range(2):
            place(store, number)
            until_counted(store, number + 1)
        process.send_signal(ending)
        printed, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, printed
    assert "count_placed " in printed and " records " in printed


def until_counted(store: str, orders: int) -> None:
    deadline = time.monotonic() + 60
    while count_records(store) != orders:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_missing_tables_are_told_with_what_makes_them(tmp_path: Path) -> None:
    store = f"file:{tmp_path / 'empty.db'}"
    done = invoke("consume", ORDERS, "--once", "--store", store)
    assert done.exit_code == 1
    assert done.stderr == (
        "Table 'Orders' has no stream: make what is missing with"
        f" `bigtime tables create {ORDERS} --store {store}`.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sessions"], "sessions has no reactions: there is nothing to run."),
        ([ORDERS, "--only", "x"], "orders has no reaction 'x'; it has count_placed."),
        (["nothing"], "There is no system 'nothing'."),
        ([ORDERS], "No store is chosen: set BIGTIME_STORE"),
    ],
    ids=str,
)
def test_a_mistake_is_told(arguments: list[str], sentence: str) -> None:
    done = invoke("consume", *arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
