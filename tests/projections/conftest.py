"""A cart whose changes are kept, and what a scan of its table says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import Lake, setup
from bigtime.projections.lake import FolderPlace, LakeWriter, Place, run_query
from bigtime.store import Store
from bigtime.systems import cart
from bigtime.testing import Clock

LAKES: tuple[Lake, ...] = cart.SYSTEM.lakes


class Scene:
    """A table of carts on an engine whose clock can be moved, and its lake."""

    def __init__(self, path: Path, engine: Engine, clock: Clock, place: Place) -> None:
        self.path = path
        self.engine = engine
        self.clock = clock
        self.place = place
        self.store = Store(engine, clock=clock)
        self.store.run(setup(cart.SYSTEM))

    def writer(self, **options: Any) -> LakeWriter:
        return LakeWriter(self.store, LAKES, self.place, **options)

    def shop(self, account: str, *skus: str, count: int = 1) -> None:
        for sku in skus:
            self.store.run(cart.put_in_cart(account, sku, Decimal("2.50"), count))

    def lines(self) -> Counter[tuple[str, ...]]:
        """What a scan of the table says of its lines."""
        items: list[dict[str, Any]] = self.engine.boto3_client().scan(TableName="CartTable")[
            "Items"
        ]
        found = [item for item in items if "Status" in item or "Price" in item]
        return Counter(
            (item["AccountID"]["S"], item["ItemSKU"]["S"], item["Count"]["N"]) for item in found
        )

    def current_lines(self) -> Counter[tuple[str, ...]]:
        """What the lake says of them."""
        rows = self.ask("SELECT account_id, item_sku, count::VARCHAR FROM cart_lines")
        return Counter(tuple(row) for row in rows)

    def ask(self, sql: str) -> list[list[Any]]:
        return run_query(self.place, LAKES, sql).rows


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def scene(tmp_path: Path, clock: Clock) -> Iterator[Scene]:
    with Engine.open(tmp_path / "carts.db", durability="relaxed", clock=clock.seconds) as engine:
        yield Scene(tmp_path, engine, clock, FolderPlace(tmp_path / "lake"))
