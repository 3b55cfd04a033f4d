"""A consumer that is killed in the middle, again and again, loses nothing."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path

from bigtime.store import Store, open_store
from tests.store.consuming import consumer_of
from tests.store.places import STREAM, asking, create, put

ROOT = Path(__file__).parents[2]
KEYS = 5


def test_killed_consumers_handle_everything_in_order(tmp_path: Path) -> None:
    file = tmp_path / "things.db"
    with open_store(f"file:{file}") as store:
        store.run(create(StreamSpecification=STREAM))
        store.run(create("Seen"))
        for round, lines in enumerate((3, 11, 17)):
            write(store, round * 40, round * 40 + 40)
            run_and_kill(file, after_lines=lines)
        consumer_of(store).run_once()
        seen = logs(store)
    assert {key: list(dict.fromkeys(log)) for key, log in seen.items()} == {
        f"k{key}": list(range(key, 120, KEYS)) for key in range(KEYS)
    }


def write(store: Store, first: int, last: int) -> None:
    for number in range(first, last):
        store.run(put(f"k{number % KEYS}", n={"N": f"{number}"}))


def run_and_kill(file: Path, after_lines: int) -> None:
    command = [sys.executable, "-m", "tests.store.consuming", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        heard = list(islice(child.stdout, after_lines))
        child.kill()
    assert len(heard) == after_lines


def logs(store: Store) -> dict[str, list[int]]:
    items = store.run(asking("Scan", TableName="Seen"))["Items"]
    return {
        item["pk"]["S"]: [int(number["N"]) for number in item["numbers"]["L"]] for item in items
    }
