"""The process that keeps an index is killed at any moment: nothing is lost, nothing is left."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.model import delete, scan_all, setup
from bigtime.projections.search import Query, SearchUnavailable, TantivyBackend
from bigtime.store import Store
from bigtime.systems import deals

ROOT = Path(__file__).parents[3]
KILLS_OF_BUILDS = 2
KILLS = 8


@pytest.mark.proof
def test_a_kill_at_any_moment_repeats_and_never_skips(tmp_path: Path) -> None:
    file, folder = tmp_path / "deals.db", tmp_path / "search"
    backend = TantivyBackend(folder, deals.DEAL_SEARCH)
    dice = random.Random(19)
    with Engine.open(file) as engine:
        store = Store(engine)
        prepare(store)
        stop = threading.Event()
        faults: list[object] = []
        writing = threading.Thread(target=write_until, args=(store, stop, faults))
        reading = threading.Thread(target=read_until, args=(backend, stop, faults))
        writing.start()
        reading.start()
        try:
            for _ in range(KILLS_OF_BUILDS):
                with started(file, folder) as process:
                    time.sleep(dice.uniform(0.02, 0.6))
                    process.kill()
            with started(file, folder) as process:
                wait_until(lambda: backend.reader().status().state == "ready")
                process.kill()
            for _ in range(KILLS):
                with started(file, folder) as process:
                    time.sleep(dice.uniform(0.02, 1.0))
                    process.kill()
        finally:
            stop.set()
            writing.join()
            reading.join()
        with started(file, folder) as process:
            try:
                wait_until(lambda: is_equal(store, backend))
            finally:
                process.kill()
    assert faults == []
    generations = [each for each in backend.folder.path.iterdir() if each.is_dir()]
    assert generations == [backend.folder.current()]


def prepare(store: Store) -> None:
    store.run(setup(deals.SYSTEM))
    store.run(deals.create_categories())
    store.run(deals.create_brand("Sony"))


def started(file: Path, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.projections.search.killed", str(file), str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    return process


def write_until(store: Store, stop: threading.Event, faults: list[object]) -> None:
    """Posts, changes and deletes deals."""
    dice = random.Random(4)
    posted: list[deals.Deal] = []
    try:
        while not stop.is_set():
            if posted and dice.random() < 0.3:
                chosen = dice.choice(posted)
                store.run(deals.update_deal(chosen.deal_id, title=f"Torch {dice.random()}"))
            elif posted and dice.random() < 0.2:
                store.run(delete(posted.pop(dice.randrange(len(posted))).own_key()))
            else:
                steps = deals.create_deal("Lamp", "https://a.example/1", Decimal(5), "Sony", "Home")
                posted.append(store.run(steps))
            time.sleep(0.002)
    except Exception as error:
        faults.append(error)


def read_until(backend: TantivyBackend, stop: threading.Event, faults: list[object]) -> None:
    """Searches all the time; the only excuse is that there is no index yet."""
    reader = backend.reader()
    has_read = False
    while not stop.is_set():
        try:
            reader.find(Query("lamp", sort="-created_at"))
            has_read = True
        except SearchUnavailable as error:
            if has_read:
                faults.append(error)
        except Exception as error:
            faults.append(error)
        time.sleep(0.003)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def is_equal(store: Store, backend: TantivyBackend) -> bool:
    """Whether the index has every deal of the table, as it is, and no other."""
    reader = backend.reader()
    wanted = {str(deal.deal_id): deal.title for deal in store.run(scan_all(deals.Deal))}
    found = reader.find(Query("", sort="price", limit=100_000))
    torches = {hit.key for hit in reader.find(Query("torch", limit=100_000)).hits}
    return (
        {hit.key for hit in found.hits} == wanted.keys()
        and found.total == len(wanted)
        and torches == {key for key, title in wanted.items() if title.startswith("Torch")}
    )
