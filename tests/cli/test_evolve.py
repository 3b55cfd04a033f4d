"""`bigtime verify`, `repair`, `backfill` and `move`: whole, interrupted, raced and refused."""

from __future__ import annotations

import faulthandler
import math
import os
import random
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from typer.testing import Result

import bigtime as bt
from bigtime.engine.storage.file import CACHE_KIB
from bigtime.model import Conflict, Misplaced, load_many, verify_pages
from bigtime.model.verification import PlaceTaken
from bigtime.ops import Evolution, JobState, evolution, table_walk
from bigtime.store import Store
from bigtime.wire import Item, Request, Steps
from tests.cli import versions
from tests.cli.program import BIGTIME, WIDE, invoke

MODULE = "tests.cli.versions"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(table_walk, "PAGE_ITEMS", 20)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(Path.cwd() / "src"), str(Path.cwd()))))
    monkeypatch.chdir(tmp_path)
    return f"file:{tmp_path / 'shop.db'}"


def entity(system: bt.System, name: str = "Order") -> Any:
    return next(each for each in system.entities if each.__name__ == name)


def fill(setting: str, count: int) -> None:
    order = entity(versions.FIRST)
    with bt.open_store(setting) as database:
        database.run(bt.setup(versions.FIRST))
        for start in range(0, count, 500):
            orders = [
                order(customer=f"c{number % 11}", number=number, city=f"city{number % 3}")
                for number in range(start, min(count, start + 500))
            ]
            database.run(load_many(orders))


def run(verb: str, version: str, store: str, *options: str) -> Result:
    return invoke(verb, f"{MODULE}:{version}", *options, "--segments", "2", store=store)


def items_of(setting: str, table: str = "Versions") -> list[Item]:
    with bt.open_store(setting) as database:
        items: list[Item] = []
        params: dict[str, Any] = {"TableName": table}
        while True:
            page = database.send(Request("Scan", params))
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return items
            params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def leftovers() -> list[str]:
    return [path.name for path in Path().iterdir() if ".state" in path.name]


# --- Whole runs ---


def test_a_new_index_is_made_and_filled(store: str) -> None:
    fill(store, 100)
    done = run("verify", "INDEXED", store)
    assert done.exit_code == 1
    assert "100 items of Versions read: 100 StaleKeys" in done.stdout
    assert done.stdout.count("GSI1PK is None") == 100
    done = run("backfill", "INDEXED", store, "--index", "GSI1")
    assert done.exit_code == 0, done.output
    assert "created index GSI1 of Versions" in done.stdout
    assert "100 StaleKeys; 100 repaired" in done.stdout
    order = entity(versions.INDEXED)
    with bt.open_store(store) as database:
        found = database.run(bt.all_of(order.within("GSI1", city="city1")))
    assert [each.number for each in found] == list(range(1, 100, 3))
    assert "nothing to backfill" in run("backfill", "INDEXED", store).stdout
    assert "all is well" in run("verify", "INDEXED", store).stdout
    assert leftovers() == []


def test_older_items_are_brought_into_todays_form(store: str) -> None:
    fill(store, 40)
    done = run("backfill", "UPGRADED", store)
    assert done.exit_code == 0, done.output
    assert "40 Outdated; 40 repaired" in done.stdout
    for item in items_of(store):
        assert item["v"] == {"N": "2"} and "city" not in item and item["town"]["S"]
        assert item["label"] == {"S": f"no. {item['number']['N']}"}


def test_items_are_moved_under_their_new_key(store: str) -> None:
    fill(store, 60)
    assert run("backfill", "INDEXED", store).exit_code == 0
    before = items_of(store)
    done = run("verify", "MOVED", store)
    assert "60 Misplaced" in done.stdout and "should be at" in done.stdout
    done = run("move", "MOVED", store, "--entity", "Order")
    assert done.exit_code == 0, done.output
    assert "60 Misplaced; 60 moved" in done.stdout
    after = items_of(store)
    keys = ("PK", "SK")
    assert sorted(str({**item, "PK": 0, "SK": 0}) for item in after) == sorted(
        str({**item, "PK": 0, "SK": 0}) for item in before
    )
    assert all(item["PK"]["S"].startswith("CUSTOMER#") for item in after)
    assert len({tuple(item[name]["S"] for name in keys) for item in after}) == 60
    assert "all is well" in run("verify", "MOVED", store).stdout


def test_items_that_fit_are_moved_in_one_transaction(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty at a time, and large ones fewer."""
    fill(store, 120)
    large = {"note": {"S": "x" * 380_000}}
    with bt.open_store(store) as database:
        for number in range(4):
            key = {"PK": {"S": "C#large"}, "SK": {"S": f"O#{number:08}"}}
            fields = {
                "type": {"S": "Order"},
                "customer": {"S": "large"},
                "number": {"N": f"{number}"},
            }
            item = {**key, **fields, **large}
            database.send(Request("PutItem", {"TableName": "Versions", "Item": item}))
    groups: list[int] = []
    move_together = Misplaced.move_together

    def count(group: list[Misplaced]) -> Any:
        groups.append(len(group))
        return move_together(group)

    monkeypatch.setattr(Misplaced, "move_together", count)
    done = run("move", "MOVED", store, "--entity", "Order")
    assert done.exit_code == 0, done.output
    assert "124 Misplaced; 124 moved" in done.stdout
    assert sum(groups) == 124 and max(groups) <= 50 and len(groups) <= 12
    assert len(items_of(store)) == 124


def test_repair_mends_what_it_can_and_names_the_rest(store: str) -> None:
    fill(store, 10)
    with bt.open_store(store) as database:
        for name, value in (("type", "Ghost"), ("number", "no number")):
            item = {"PK": {"S": "C#x"}, "SK": {"S": f"O#{name}"}, "type": {"S": "Order"}}
            item |= {"customer": {"S": "x"}, "number": {"N": "1"}, name: {"S": value}}
            database.send(Request("PutItem", {"TableName": "Versions", "Item": item}))
    done = run("repair", "UPGRADED", store)
    assert done.exit_code == 1
    assert "10 Outdated, 2 Unreadable; 10 repaired, 2 left" in done.stdout
    assert done.stdout.count("cannot be read") == 2


# --- Interruptions ---


def interrupt_after(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    concerns = Evolution.concerns
    left = [count]

    def look(self: Evolution, violation: Any) -> bool:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return concerns(self, violation)

    monkeypatch.setattr(Evolution, "concerns", look)


@pytest.mark.parametrize(
    ("verb", "version", "options"),
    [
        ("backfill", "INDEXED", ()),
        ("repair", "UPGRADED", ()),
        ("move", "MOVED", ("--entity", "Order")),
    ],
)
def test_an_interrupted_run_goes_on(
    store: str, monkeypatch: pytest.MonkeyPatch, verb: str, version: str, options: tuple[str, ...]
) -> None:
    fill(store, 300)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 150)
        done = run(verb, version, store, *options)
    assert done.exit_code == 1
    assert "Run the same command again" in done.stderr
    assert len(leftovers()) == 2
    done = run(verb, version, store, *options)
    assert done.exit_code == 0, done.output
    assert "resuming: " in done.stdout
    assert run("verify", version, store).exit_code == (version == "MOVED" and verb != "move")
    assert len(items_of(store)) == 300
    assert leftovers() == []


def test_counts_are_verified_after_an_interruption_too(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    brand, like = entity(versions.COUNTING, "Brand"), entity(versions.COUNTING, "Like")
    with bt.open_store(store) as database:
        database.run(bt.setup(versions.COUNTING))
        likes = [like(name="acme", user=f"u{number}") for number in range(100)]
        odd = [{"PK": {"S": f"odd{n}"}, "SK": {"S": "x"}} for n in range(50)]
        database.run(load_many([brand(name="acme", likes=99), *likes]))
        for item in odd:
            database.send(Request("PutItem", {"TableName": "Counting", "Item": item}))
    with monkeypatch.context() as patch:
        interrupt_after(patch, 30)
        assert run("verify", "COUNTING", store).exit_code == 1
    done = run("verify", "COUNTING", store)
    assert "resuming" in done.stdout
    assert "1 CountWrong, 50 Unreadable" in done.stdout
    done = run("repair", "COUNTING", store)
    assert "1 repaired, 50 left" in done.stdout
    with bt.open_store(store) as database:
        acme: Any = database.run(bt.get(brand.key("acme")))
        assert acme.likes == 100


def test_a_count_is_left_alone_while_items_cannot_be_read(store: str) -> None:
    brand, like = entity(versions.COUNTING, "Brand"), entity(versions.COUNTING, "Like")
    with bt.open_store(store) as database:
        database.run(bt.setup(versions.COUNTING))
        database.run(bt.create(brand(name="b")))
        for number in range(3):
            database.run(bt.create(like(name="b", user=f"u{number}")))
    done = run("repair", "FORGOTTEN", store)
    assert done.exit_code == 1
    assert done.stdout.count('if it is Like, which was renamed, declare was="Like"') == 3
    assert "likes is 3, and the number of Like is 0; not repaired while there are" in done.stdout
    assert "1 CountWrong, 3 Unreadable; 0 repaired, 4 left" in done.stdout
    assert run("repair", "RENAMED", store).exit_code == 0
    with bt.open_store(store) as database:
        found = database.run(bt.get(brand.key("b")))
    assert found is not None and found.likes == 3


def test_two_at_once_are_refused(store: str) -> None:
    fill(store, 10)
    with bt.open_store(store) as database:
        ids = evolution.table_ids(database, [table.name for table in versions.INDEXED.tables])
    identity = {"verb": "repair", "system": "versions", "option": "", "tables": ids}
    with JobState(Path("mine.json"), identity):
        done = run("repair", "FIRST", store, "--state", "mine.json")
    assert done.exit_code == 1
    assert "Another process is at it" in done.stderr
    assert run("repair", "FIRST", store, "--state", "mine.json").exit_code == 0


# --- Others write meanwhile ---


def found_misplaced(database: Store) -> Misplaced:
    (violation,) = database.run(bt.verify(versions.MOVED))
    assert isinstance(violation, Misplaced)
    return violation


def change(database: Store, key: Item, expression: str) -> None:
    params = {
        "TableName": "Versions",
        "Key": key,
        "UpdateExpression": expression,
        "ExpressionAttributeValues": {":new": {"S": "new"}},
    }
    database.send(Request("UpdateItem", params))


@pytest.mark.parametrize("expression", ["SET city = :new", "SET GSI1PK = :new, GSI1SK = :new"])
def test_an_item_that_changed_is_not_moved_as_it_was(store: str, expression: str) -> None:
    fill(store, 1)
    with bt.open_store(store) as database:
        violation = found_misplaced(database)
        change(database, violation.key, expression)
        with pytest.raises(Conflict):
            database.run(violation.move())
        database.run(found_misplaced(database).move())
    assert [item["PK"]["S"] for item in items_of(store)] == ["CUSTOMER#c0"]


def test_an_item_that_was_deleted_stays_deleted(store: str) -> None:
    fill(store, 1)
    with bt.open_store(store) as database:
        violation = found_misplaced(database)
        key = {"TableName": "Versions", "Key": violation.key}
        database.send(Request("DeleteItem", key))
        database.run(violation.move())
    assert items_of(store) == []


def test_a_place_that_is_taken_is_left_to_a_person(store: str) -> None:
    fill(store, 1)
    order = entity(versions.MOVED)
    with bt.open_store(store) as database:
        violation = found_misplaced(database)
        database.run(bt.put(order(customer="c0", number=0, city="other")))
        with pytest.raises(PlaceTaken):
            database.run(violation.move())
    done = run("move", "MOVED", store, "--entity", "Order")
    assert done.exit_code == 1
    assert "delete the one that is wrong" in done.stdout and "1 left" in done.stdout
    assert len(items_of(store)) == 2
    with bt.open_store(store) as database:  # the same item twice is one
        database.run(bt.put(order(customer="c0", number=0, city="city0")))
    assert run("move", "MOVED", store, "--entity", "Order").exit_code == 0
    assert len(items_of(store)) == 1


@pytest.mark.parametrize(
    ("verb", "version", "options"),
    [("backfill", "INDEXED", ()), ("move", "MOVED", ("--entity", "Order"))],
)
def test_no_write_is_lost_meanwhile(
    store: str, verb: str, version: str, options: tuple[str, ...]
) -> None:
    """Another process writes to items under the key that they have; nothing of it goes."""
    fill(store, 200)
    marks: dict[int, str] = {}
    stop = threading.Event()
    writer = threading.Thread(target=mark_items, args=(store, 200, marks, stop))
    writer.start()
    try:
        done = run(verb, version, store, *options)
    finally:
        stop.set()
        writer.join()
    assert done.exit_code == 0 or "changed meanwhile" in done.stdout, done.output
    assert marks
    run(verb, version, store, *options)
    found = {int(item["number"]["N"]): item["city"]["S"] for item in items_of(store)}
    assert len(found) == 200
    assert {number: found[number] for number in marks} == marks
    assert "all is well" in run("verify", version, store).stdout


def mark_items(setting: str, count: int, marks: dict[int, str], stop: threading.Event) -> None:
    chance = random.Random(3)
    with bt.open_store(setting) as database:
        while not stop.is_set():
            number = chance.randrange(count)
            key = {"PK": {"S": f"C#c{number % 11}"}, "SK": {"S": f"O#{number:08}"}}
            mark = f"{time.monotonic_ns()}"
            params = {
                "TableName": "Versions",
                "Key": key,
                "UpdateExpression": "SET city = :mark",
                "ConditionExpression": "attribute_exists(PK)",
                "ExpressionAttributeValues": {":mark": {"S": mark}},
            }
            try:
                database.send(Request("UpdateItem", params))
            except bt.wire.ConditionalCheckFailedException:
                continue  # it is moved
            marks[number] = mark


def test_two_with_states_of_their_own_do_no_harm(store: str) -> None:
    fill(store, 400)
    command = [*BIGTIME, "backfill", f"{MODULE}:INDEXED", "--store", store, "--state", "other.json"]
    with subprocess.Popen(command, env={**WIDE, "PYTHONPATH": os.environ["PYTHONPATH"]}) as other:
        while not Path("other.json").exists() and other.poll() is None:
            time.sleep(0.01)
        done = run("backfill", "INDEXED", store)
        assert other.wait(120) == 0
    assert done.exit_code == 0, done.output
    assert "all is well" in run("verify", "INDEXED", store).stdout


def test_an_item_that_cannot_be_mended_does_not_stop_the_others(store: str) -> None:
    fill(store, 20)
    item = {"PK": {"S": "C#wide"}, "SK": {"S": "O#00000001"}, "type": {"S": "Order"}}
    item |= {"customer": {"S": "wide"}, "number": {"N": "1"}, "city": {"S": "x"}}
    item |= {f"extra{number}": {"N": "1"} for number in range(400)}  # no condition has so many
    with bt.open_store(store) as database:
        database.send(Request("PutItem", {"TableName": "Versions", "Item": item}))
    done = run("move", "MOVED", store, "--entity", "Order")
    assert done.exit_code == 1
    assert "21 Misplaced; 20 moved, 1 left" in done.stdout
    assert "C#wide" in done.stdout and "ConditionExpression" in done.stdout


# --- The kit's own form ---


def test_violations_are_handed_over_page_by_page(store: str) -> None:
    fill(store, 10)
    pages: list[int] = []

    def handle(violations: list[bt.model.Violation]) -> Steps[None]:
        pages.append(len(violations))
        return
        yield

    with bt.open_store(store) as database:
        assert database.run(verify_pages(versions.INDEXED, handle)) == {"StaleKeys": 10}
        assert len(database.run(bt.verify(versions.INDEXED))) == 10
    assert pages == [10]


# --- Refused ---


def refusal_text(done: Result) -> str:
    assert done.exit_code in (1, 2)
    assert "Traceback" not in done.output
    return " ".join(done.stderr.split())


def test_what_cannot_be_is_said(store: str, tmp_path: Path) -> None:
    assert "bigtime tables create" in refusal_text(run("verify", "FIRST", store))
    fill(store, 3)
    text = refusal_text(run("backfill", "INDEXED", store, "--index", "GSI9"))
    assert "versions has no index GSI9: it has GSI1" in text
    text = refusal_text(run("move", "MOVED", store, "--entity", "Basket"))
    assert "versions has no entity Basket: it has Order" in text
    text = refusal_text(run("verify", "FIRST", store, "--state", "no/such/folder/x.json"))
    assert "cannot be written" in text and "--state FILE" in text
    Path("odd.json").write_text("[]")
    assert "not the state of a job" in refusal_text(
        run("verify", "FIRST", store, "--state", "odd.json")
    )
    with JobState(Path("other.json"), {"verb": "x"}) as other:
        other.save({})
    assert "is of another job" in refusal_text(
        run("verify", "FIRST", store, "--state", "other.json")
    )
    assert "no system" in refusal_text(invoke("verify", "nonsense", store=store))


# --- Large ---

LARGE = max(100_000, int(os.environ.get("BIGTIME_LARGE") or 0))
"""BIGTIME_LARGE=1000000 takes half an hour."""
MOST_GROWTH_KB = 30_000
"""SQLite's caches grow with the file, to a bound, and glibc keeps holes between their pages; a
list of the violations of 100,000 items would be 180,000."""
COMPARING_KB = 2 * 4 * CACHE_KIB
"""The comparison of a migration reads both stores by four more connections, each with a cache."""


def run_measured(arguments: list[str], *, kill_with: Path | None = None) -> tuple[int, list[int]]:
    """The exit code, and the memory in KB every 50 ms, of the program.

    It is killed 3 seconds after the file `kill_with` is there.
    """
    end, sizes = math.inf, [0]
    with subprocess.Popen(
        [*BIGTIME, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=WIDE,
        cwd=Path(__file__).parents[2],
    ) as child:
        while child.poll() is None:
            status = Path(f"/proc/{child.pid}/status").read_text()
            sizes += map(int, re.findall(r"RssAnon:\s+(\d+) kB", status))
            if kill_with is not None and kill_with.exists():
                end = min(end, time.monotonic() + 3)
            if time.monotonic() > end:
                child.kill()
            time.sleep(0.05)
        return child.returncode, sizes


REPAIR = [("repair", "UPGRADED", (), 0)]
CHANGE_KEYS = [
    ("verify", "INDEXED", (), 1),
    ("backfill", "INDEXED", ("--index", "GSI1"), 0),
    ("move", "MOVED", ("--entity", "Order"), 0),
    ("verify", "MOVED", (), 0),
]


@pytest.mark.proof
@pytest.mark.skipif("BIGTIME_LARGE" not in os.environ, reason="takes 10 minutes: BIGTIME_LARGE=1")
@pytest.mark.parametrize("jobs", [REPAIR, CHANGE_KEYS])
def test_memory_stays_flat_over_many_items(
    store: str, tmp_path: Path, jobs: list[tuple[str, str, tuple[str, ...], int]]
) -> None:
    """Each verb is killed once, and goes on; its last quarter needs no more memory."""
    faulthandler.cancel_dump_traceback_later()  # takes longer than any other test
    fill(store, LARGE)
    for verb, version, options, expected in jobs:
        state = tmp_path / "job.json"
        place = ["--store", store, "--state", str(state)]
        command = [verb, f"{MODULE}:{version}", *options, *place]
        code, _ = run_measured(command, kill_with=state)
        assert code == -signal.SIGKILL
        assert state.exists()
        assert run_flat(command) == expected
    assert len(items_of(store)) == LARGE


@pytest.mark.proof
@pytest.mark.skipif("BIGTIME_LARGE" not in os.environ, reason="takes 10 minutes: BIGTIME_LARGE=1")
def test_memory_stays_flat_while_items_are_copied(store: str, tmp_path: Path) -> None:
    """By a dump and a load, and by a migration with its comparison."""
    faulthandler.cancel_dump_traceback_later()  # takes longer than any other test
    fill(store, LARGE)
    loaded, moved = (f"file:{tmp_path / name}.db" for name in ("loaded", "moved"))
    fill(loaded, 0)
    folder = str(tmp_path / "dumped")
    assert run_flat(["data", "dump", folder, "--table", "Versions", "--store", store]) == 0
    assert run_flat(["data", "load", folder, "--store", loaded]) == 0
    state = str(tmp_path / "state.json")
    migrate = ["migrate", "--from", store, "--to", moved, "--state", state]
    assert run_flat(migrate, MOST_GROWTH_KB + COMPARING_KB) == 0
    assert len(items_of(loaded)) == len(items_of(moved)) == LARGE


def run_flat(command: list[str], most_growth: int = MOST_GROWTH_KB) -> int:
    """The exit code of a program that holds hardly more in the last quarter of its run."""
    began = time.monotonic()
    code, sizes = run_measured(command)
    seconds = time.monotonic() - began
    quarter = len(sizes) // 4
    before, after = median(sizes[quarter : 2 * quarter]), median(sizes[3 * quarter :])
    print(f"{' '.join(command[:2])}: {seconds:.0f} s, {before:,.0f} KB, {after:,.0f} KB at the end")
    assert after - before < most_growth
    return code
