"""What the model kit adds to a program: to a get from the engine, and to its start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.deals import BRAND, DEALS, Deal, deal
from bench.figure import Bar, Figure
from bench.imports import import_milliseconds
from bench.in_process import ask_all
from bench.race import Contender, race
from bench.scale import Scale
from bigtime.engine import Engine
from bigtime.model import get, put
from bigtime.model.operations.create_table import create_table_request
from bigtime.store import Store


def measure(scale: Scale, folder: Path) -> Iterator[Figure]:
    yield to_a_get(scale)
    yield to_an_import(scale, folder)


def to_a_get(scale: Scale) -> Figure:
    """The same items from the same engine, as entities and as bare responses."""
    deals = [deal(number) for number in range(scale.operations)]
    ids = [each.deal_id for each in deals]
    requests = [get(each.own_key()).request() for each in deals]
    with Engine.memory(housekeeping=False) as engine:
        store = Store(engine)
        engine(create_table_request(DEALS))
        for each in deals:
            store.run(put(each))
        seen = race(
            {
                "kit": Contender(lambda: read_all(store, ids), len(ids)),
                "engine": Contender(lambda: ask_all(engine, requests), len(requests)),
            },
            scale.rounds,
        )
    added = seen["kit"] - seen["engine"]
    what = "Typed get from the engine in process, what the kit adds"
    return Figure(what, added, "us", seen["engine"], "for the engine", bar=Bar("at most", 60, "us"))


def read_all(store: Store, ids: list[str]) -> None:
    for deal_id in ids:
        store.run(get(Deal.key(BRAND, deal_id), missing=LookupError))


def to_an_import(scale: Scale, folder: Path) -> Figure:
    seen = import_milliseconds(folder / "bytecode", scale.imports)
    added = seen["kit"] - seen["pydantic"]
    what = "Import of bigtime.model, what it adds to pydantic's"
    return Figure(what, added, "ms", seen["pydantic"], "for pydantic", bar=Bar("at most", 40, "ms"))
