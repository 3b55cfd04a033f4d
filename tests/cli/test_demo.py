"""`bigtime demo load`: the same data each time, and never over somebody's own."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest

from bigtime.cli import demo
from bigtime.cli.systems import all_systems
from bigtime.model import Entity, Scale
from bigtime.store import open_store
from bigtime.wire import Request, Response, Steps
from tests.cli.orders import Order
from tests.cli.program import WIDE, invoke

ROOT = Path(__file__).parents[2]
ORDERS = "tests.cli.orders:SYSTEM"
UNFINISHED = "tests.cli.unfinished:SYSTEM"
SECONDS = 60
INTERRUPTIBLE = """
import signal
from bigtime.cli.app import main

signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
"""Whoever starts the tests in the background of a shell has them ignore Ctrl-C, and all they start.
"""


def load(store: str, *arguments: object, system: str = ORDERS) -> Any:
    return invoke("demo", "load", "--system", system, *arguments, store=store)


def contents(store: str, table: str = "Orders") -> list[str]:
    """Every item of a table, in one order."""
    with open_store(store) as database:
        items = database.run(scan_items(table))
    return sorted(map(repr, items))


def scan_items(table: str) -> Steps[list[Any]]:
    params: dict[str, Any] = {"TableName": table}
    items: list[Any] = []
    while True:
        page: Response = yield Request("Scan", params)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


@pytest.fixture
def fresh(tmp_path: Path) -> str:
    return f"file:{tmp_path / 'fresh.db'}"


def test_tables_are_made_and_filled(fresh: str) -> None:
    done = load(fresh)
    assert done.exit_code == 0, done.output
    assert re.fullmatch(r"created table Orders\nloaded 30 items of orders in \d+ s\n", done.stdout)
    assert len(contents(fresh)) == 30


@pytest.mark.parametrize("seed", ["1", "7"])
def test_whoever_loads_accounts_is_told_how_to_sign_in(fresh: str, seed: str) -> None:
    done = load(fresh, "--seed", seed, system="accounts")
    told = re.findall(r"^(\S+@example.com) signs in with (\S+)$", done.stdout, re.MULTILINE)
    assert [login for login, _ in told] == [
        "shopper@example.com",
        "editor@example.com",
        "admin@example.com",
    ]
    for login, password in told:
        shown = ["--login", login, "--password", password]
        assert invoke("run", "accounts.verify_password", *shown, store=fresh).exit_code == 0


def test_the_same_seed_makes_the_same_data_and_another_one_other_data(tmp_path: Path) -> None:
    stores = [f"file:{tmp_path / name}.db" for name in ("a", "b", "c")]
    for store, seed in zip(stores, ("1", "1", "2"), strict=True):
        assert load(store, "--seed", seed).exit_code == 0
    first, second, third = map(contents, stores)
    assert first == second != third


def test_a_table_that_has_items_is_left_alone_unless_told(fresh: str) -> None:
    load(fresh)
    order = '{"customer": "alex", "number": 99999}'
    invoke("run", f"{ORDERS}.place_order", "--order", order, store=fresh)
    before = contents(fresh)
    done = load(fresh, "--seed", "2")
    assert done.exit_code == 1
    assert "There are items already in Orders: nothing was loaded." in done.stderr
    assert "--again" in done.stderr
    assert contents(fresh) == before
    done = load(fresh, "--again")
    assert (done.exit_code, done.stdout[:29]) == (0, "loaded 30 items of orders in ")
    assert contents(fresh) == before


def test_nothing_is_loaded_when_one_of_several_has_items(fresh: str) -> None:
    load(fresh)
    done = invoke("demo", "load", "--system", "sessions", "--system", ORDERS, store=fresh)
    assert done.exit_code == 1
    assert contents(fresh, "SessionStore") == []


def test_more_is_loaded_at_a_larger_scale(fresh: str) -> None:
    done = load(fresh, "--scale", "medium")
    assert "loaded 3,000 items of orders" in done.stdout
    assert len(contents(fresh)) == 3_000


def test_the_scales_are_those_of_the_kit() -> None:
    assert get_args(demo.Size) == tuple(Scale)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--scale", "huge"], 2, "huge"),
        (["--system", "nothing"], 2, "There is no system 'nothing'"),
        (["--system", "tests.model.deals:SYSTEM"], 2, "deals has no demo data"),
        (["--seed", "x"], 2, "--seed"),
    ],
    ids=str,
)
def test_a_mistake_is_told(fresh: str, arguments: list[str], code: int, words: str) -> None:
    done = invoke("demo", "load", *arguments, store=fresh)
    assert done.exit_code == code
    assert words in done.stderr


def test_a_store_has_to_be_chosen() -> None:
    done = load("")
    assert done.exit_code == 2
    assert "BIGTIME_STORE" in done.stderr


class Slow:
    """A store that takes its time, and counts what it has written."""

    def __init__(self) -> None:
        self.written = 0

    def run(self, steps: Steps[None]) -> None:
        time.sleep(0.002)
        request = next(steps)
        self.written += demo.CHUNK
        steps.close()
        assert request is not None


def test_entities_are_made_only_as_fast_as_they_are_written() -> None:
    store = Slow()
    ahead = 0

    def orders() -> Iterator[Entity]:
        nonlocal ahead
        for number in range(10_000):
            ahead = max(ahead, number - store.written)
            yield Order(customer="alex", number=number)

    assert sum(demo.load_chunks(store, orders())) == 10_000  # type: ignore[arg-type]
    assert ahead <= (demo.WRITERS + 1) * demo.CHUNK


def test_what_goes_wrong_ends_the_loading() -> None:
    class Failing:
        def run(self, steps: Steps[None]) -> None:
            raise OSError("full")

    made = 0

    def orders() -> Iterator[Entity]:
        nonlocal made
        for made in range(10_000):
            yield Order(customer="alex", number=made)

    with pytest.raises(OSError, match="full"):
        list(demo.load_chunks(Failing(), orders()))  # type: ignore[arg-type]
    assert made < 10 * demo.CHUNK


def test_a_bar_shows_how_far_it_is_and_ctrl_c_ends_it_with_a_sentence(tmp_path: Path) -> None:
    """On a terminal of its own."""
    store = f"file:{tmp_path / 'stopped.db'}"
    master, terminal = pty.openpty()
    arguments = ["demo", "load", "--system", UNFINISHED, "--scale", "large", "--store", store]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *arguments],
        cwd=ROOT,
        env={**WIDE, "TERM": "xterm"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    screen = ""
    try:
        while not re.search(r"orders .*\d+/30000.*/s", screen):
            screen += os.read(master, 4096).decode()
        process.send_signal(signal.SIGINT)
        screen += the_rest(master)
        assert process.wait(SECONDS) == 1
    finally:
        process.kill()
        os.close(master)
    assert re.search(r"Stopped: [\d,]+ of 30,000 items of orders are loaded. Say --again", screen)


def the_rest(terminal: int) -> str:
    text = ""
    while select.select([terminal], [], [], SECONDS)[0]:
        try:
            read = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            return text
        if not read:
            return text
        text += read.decode(errors="replace")
    raise AssertionError(f"it does not end: {text}")


def test_every_system_tells_how_much_it_loads_and_makes_no_key_twice() -> None:
    """Chunks are written at the same time: of two items with one key, either might stay."""
    for system in all_systems():
        if system.name == "site":  # its demo data is made of that of the others, by `serve`
            continue
        assert system.demo is not None, system.name
        made = list(system.demo.entities(Scale.SMALL, Random(1)))
        assert len(made) == system.demo.count(Scale.SMALL), system.name
        assert len({each.own_key().identity for each in made}) == len(made), system.name


def test_everything_is_loaded_when_no_system_is_named(fresh: str) -> None:
    done = invoke("demo", "load", store=fresh)
    assert done.exit_code == 0, done.output
    for system in (system for system in all_systems() if system.demo is not None):
        assert f" items of {system.name} in " in done.stdout
