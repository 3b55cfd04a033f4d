"""A writer that is killed at any moment leaves a lake that has each change once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.projections.lake import FolderPlace, LakeWriter, run_query
from bigtime.store import Store
from bigtime.systems import cart

KILLS = 12
LAKES = cart.SYSTEM.lakes

WRITER = """
import sys
from pathlib import Path
from bigtime.projections.lake import FolderPlace, LakeWriter, compact, refresh_current
from bigtime.store import open_store
from bigtime.systems import cart

with open_store(sys.argv[1]) as store:
    place = FolderPlace(Path(sys.argv[2]))
    with LakeWriter(store, cart.SYSTEM.lakes, place, commit_seconds=0.02) as writer:
        print("begun", flush=True)
        while True:
            writer.take_turn()
            for table in writer.tables:
                compact(table, store.clock())
                refresh_current(table, force=True)
"""


def change_carts(store: Store, random: Random, number: int) -> None:
    account, sku = f"user{number % 7}", f"SKU{random.randrange(40)}"
    store.run(cart.put_in_cart(account, sku, Decimal("1.25"), 1))
    if random.random() < 0.3:
        lines = store.run(cart.view_products(account, cart.Status.ACTIVE, limit=20)).items
        store.run(cart.remove_line(account, random.choice(lines).sk))


def scan(engine: Engine) -> Counter[tuple[str, ...]]:
    items: list[dict[str, Any]] = []
    for page in engine.boto3_client().get_paginator("scan").paginate(TableName="CartTable"):
        items += page["Items"]
    lines = [item for item in items if "Price" in item]
    return Counter(
        (line["AccountID"]["S"], line["ItemSKU"]["S"], line["Count"]["N"]) for line in lines
    )


@pytest.mark.proof
def test_the_numbers_equal_a_scan_after_kills_in_the_middle(tmp_path: Path) -> None:
    random = Random(5)
    place = FolderPlace(tmp_path / "lake")
    file = tmp_path / "carts.db"
    changes = 0
    with Engine.open(file, durability="relaxed") as engine:
        store = Store(engine)
        store.run(setup(cart.SYSTEM))
        for kill in range(KILLS):
            command = [sys.executable, "-c", WRITER, f"file:{file}", str(place.folder)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None and process.stdout.readline() == "begun\n"
                until = time.monotonic() + random.uniform(0.05, 1.0)
                while time.monotonic() < until:
                    change_carts(store, random, changes)
                    changes += 1
                process.send_signal(signal.SIGKILL)
            if kill % 5 == 0:
                events = "SELECT count(*), count(DISTINCT event_id) FROM cart_lines_changes"
                ((rows, distinct),) = run_query(place, LAKES, events).rows
                assert rows == distinct
        with LakeWriter(store, LAKES, place) as writer:
            writer.drain()
            writer.maintain()
        kept = run_query(
            place, LAKES, "SELECT account_id, item_sku, count::VARCHAR FROM cart_lines"
        )
        assert Counter(tuple(row) for row in kept.rows) == scan(engine)
        history = run_query(
            place,
            LAKES,
            "SELECT count(*), count(DISTINCT event_id), max(position), count(DISTINCT position)"
            " FROM cart_lines_changes",
        )
        ((rows, events_, last, positions),) = history.rows
        assert rows == events_ == last == positions >= changes
    named = {file.name for file in writer.tables[0].manifest.files}
    assert set(place.sizes("CartTable/changes")) >= named
