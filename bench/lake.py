"""The lake: CPU time per change in its writer, and of reports over many changes of cart lines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from typing import Any, Final

from bench.figure import Bar, Figure, NotHere
from bench.scale import Scale
from bigtime.engine import Engine
from bigtime.model import load_many, setup
from bigtime.projections.lake import FolderPlace, LakeWriter, columns_of, create_views
from bigtime.projections.lake.manifest import ChangeFile, CurrentFile, Manifest
from bigtime.projections.lake.parquet import CHANGE_ORDER
from bigtime.projections.lake.sandbox import connect
from bigtime.site import LAKES, REPORTS
from bigtime.store import Store
from bigtime.systems import cart

WRITTEN: Final = 20_000
DAYS: Final = 90
FIRST: Final = date(2026, 1, 1)
KEYS_EACH: Final = 20
"""Changes of one item."""

CHANGES: Final = """
SELECT item_key, change, changed_at, position, event_id, sequence, account_id, status, entered_at,
  item_sku, price, count, create_timestamp, order_id
FROM (
  SELECT '["u' || account || '","' || line || '"]' AS item_key,
    CASE WHEN i % 20 < 12 THEN 'INSERT' WHEN i % 20 < 16 THEN 'MODIFY' ELSE 'REMOVE' END AS change,
    moment AS changed_at, i AS position, md5(i::VARCHAR) AS event_id,
    (100000000000000000000::HUGEINT + i)::VARCHAR AS sequence, 'u' || account AS account_id,
    ['ACTIVE', 'ACTIVE', 'SAVED', 'PURCHASED'][1 + (i % 4)::INT] AS status, moment AS entered_at,
    'SKU' || (line % 5000) AS item_sku, (1 + line % 100)::DECIMAL(18,4) AS price,
    1 + i % 3 AS count, moment - INTERVAL (line % 5000) MINUTE AS create_timestamp,
    CASE WHEN i % 4 = 3 THEN 'order' || (i // 8) END AS order_id
  FROM (
    SELECT i, (i * 7919) % 200000 AS account, (i * 104729) % {keys} AS line,
      TIMESTAMP '{day} 00:00:00' + INTERVAL ((i * 86400) // {last} % 86400) SECOND AS moment
    FROM range({first}, {last}) t(i)
  )
)
ORDER BY {order}"""
"""A day as compaction leaves it: one file, in compaction's order."""


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    if find_spec("duckdb") is None:
        raise NotHere("duckdb is missing: install the extra [analytics]")
    yield Figure(
        "a change of a cart line, from its stream to Parquet",
        min(written_change(folder / f"written-{number}") for number in range(3)),
        "us",
        bar=Bar("at most", 60, "us"),
    )
    changes = 10_000_000 if scale.name == "full" else 500_000
    place = FolderPlace(folder / "many")
    fill(place, changes)
    seconds = report_seconds(place)
    worst = {is_history: max(found, key=found.__getitem__) for is_history, found in seconds.items()}
    for is_history, bar in ((True, 1.0), (False, 5.0)):
        name = worst[is_history]
        kind = "history" if is_history else "current state"
        yield Figure(
            f"the slowest report over {kind} ({name}), {changes:,} changes",
            seconds[is_history][name],
            "s",
            bar=Bar("at most", bar, "s"),
        )


def written_change(folder: Path) -> float:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    lines = [
        cart.CartLine(
            account_id=f"user{number % 500}",
            status=cart.Status.ACTIVE,
            entered_at=moment + timedelta(seconds=number),
            item_sku=f"SKU{number}",
            price=Decimal("12.50"),
            count=2,
            create_timestamp=moment,
        )
        for number in range(WRITTEN)
    ]
    with Engine.memory(housekeeping=False) as engine:
        store = Store(engine)
        store.run(setup(cart.SYSTEM))
        store.run(load_many(lines))
        with LakeWriter(store, cart.SYSTEM.lakes, FolderPlace(folder)) as writer:
            began = time.process_time()
            changes = writer.drain()
            return (time.process_time() - began) / changes * 1e6


# --- Reports --------------------------------------------------------------------------------


def fill(place: FolderPlace, changes: int) -> None:
    """Writes a lake of so many changes of cart lines over some days, and the state after them."""
    import duckdb

    connection = duckdb.connect(":memory:")
    table = "CartTable"
    manifest = Manifest(table, since=str(FIRST), position=changes)
    keys = changes // KEYS_EACH
    for number in range(DAYS):
        day = FIRST + timedelta(days=number)
        first, last = changes * number // DAYS, changes * (number + 1) // DAYS
        part = f"year={day:%Y}/month={day:%m}/day={day:%d}"
        name = f"{table}/changes/cart_lines/{part}/{first}-{last - 1}.parquet"
        query = CHANGES.format(keys=keys, day=day, first=first, last=last, order=CHANGE_ORDER)
        size = place.add(name, lambda path, query=query: copy(connection, query, path))  # type: ignore[misc]
        manifest.files.append(
            ChangeFile(name, "cart_lines", part, first, last - 1, last - first, size)
        )
    paths = [str(place.folder / file.name) for file in manifest.files]
    state = (
        f"SELECT * EXCLUDE (year, month, day) FROM read_parquet({paths}) WHERE position IN"
        f" (SELECT max(position) FROM read_parquet({paths}) GROUP BY item_key)"
        " AND change <> 'REMOVE'"
    )
    name = f"{table}/current/cart_lines/{changes}.parquet"
    size = place.add(name, lambda path: copy(connection, state, path))
    manifest.current["cart_lines"] = CurrentFile(name, changes, keys, size)
    place.write(manifest.name, manifest.to_json())
    assert len(columns_of(cart.SYSTEM.lakes[0])) == 14


def copy(connection: Any, query: str, path: Path) -> None:
    connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def report_seconds(place: FolderPlace) -> dict[bool, dict[str, float]]:
    """CPU seconds of each report on cart lines, the best of three runs."""
    connection = connect(place.folder, create_views(place, LAKES), "1024MB")
    found: dict[bool, dict[str, float]] = {True: {}, False: {}}
    until = FIRST + timedelta(days=DAYS)
    for report in REPORTS.values():
        if "cart_lines" not in report.sql:
            continue
        runs = []
        for _ in range(3):
            began = time.process_time()
            connection.execute(report.sql, report.params(FIRST, until) or None).fetchall()
            runs.append(time.process_time() - began)
        found[report.is_history][report.name] = min(runs)
    connection.close()
    rmtree(place.folder)
    return found
