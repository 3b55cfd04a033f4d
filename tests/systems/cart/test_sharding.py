"""A SKU spread over several partitions of the index, where somebody says so.

It is said before the design is imported, so these tests run in a program of their own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import bigtime.systems

SHARDS = 4
NAME = "bigtime.systems.cart.design"


def test_lines_of_a_sharded_sku_are_found_in_order_and_page_by_page() -> None:
    command = [sys.executable, "-m", "tests.systems.cart.test_sharding"]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "partitions of the index: 4",
        "carts, newest first: 30",
        "carts of the day: 11",
        "open findings: 0",
        "violations: 0",
    ]


def say_so() -> None:
    """Imports the design with its one constant changed, as who runs the cart changes it."""
    path = Path(bigtime.systems.__path__[0], "cart", "design.py")
    source = path.read_text()
    assert source.count("SKU_SHARDS: int = 1\n") == 1
    design = sys.modules[NAME] = ModuleType(NAME)
    sharded = source.replace("SKU_SHARDS: int = 1\n", f"SKU_SHARDS: int = {SHARDS}\n")
    exec(compile(sharded, path, "exec"), design.__dict__)


def show() -> None:
    from datetime import UTC, datetime, timedelta

    from bigtime.advisor import open_findings
    from bigtime.model import setup, verify
    from bigtime.store import open_store
    from bigtime.systems.cart import SYSTEM
    from bigtime.systems.cart.line import put_in_cart, view_carts, view_carts_of_day
    from bigtime.wire import Request
    from tests.systems.cart.carts import ACTIVE, PRICE

    moment = datetime(2026, 11, 15, 22, tzinfo=UTC)
    with open_store("memory:", clock=lambda: moment) as store:
        store.run(setup(SYSTEM))
        for number in range(30):
            moment += timedelta(minutes=6)
            store.run(put_in_cart(f"account {number}", "72f49", PRICE))
        scanned = store.send(Request("Scan", {"TableName": "CartTable", "IndexName": "GSI-SKU"}))
        print("partitions of the index:", len({item["SKUShard"]["S"] for item in scanned["Items"]}))
        page = store.run(view_carts("72f49", ACTIVE, limit=7))
        found = [*page]
        while page.position is not None:
            page = store.run(view_carts("72f49", ACTIVE, limit=7, after=page.position))
            found += page
        assert [line.account_id for line in found] == [f"account {n}" for n in range(29, -1, -1)]
        print("carts, newest first:", len(found))
        day = store.run(view_carts_of_day("72f49", ACTIVE, moment.date(), limit=50))
        assert all(line.entered_at.date() == moment.date() for line in day)
        print("carts of the day:", len(day))
        print("open findings:", len(open_findings(SYSTEM)))
        print("violations:", len(store.run(verify(SYSTEM))))


if __name__ == "__main__":
    say_so()
    show()
