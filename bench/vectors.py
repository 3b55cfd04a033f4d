"""SearchVectors, once the index is in memory: CPU time of a search among many vectors."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from importlib.util import find_spec
from random import Random

import orjson

from bench.figure import Bar, Figure, NotHere
from bench.race import Contender, race
from bench.scale import Scale
from bigtime.engine import Engine
from bigtime.engine.storage import Transaction
from bigtime.wire import Request

TABLE, INDEX = "Vectors", "nearest"
VECTORS, DIMENSIONS = 100_000, 384
SEARCHES = 10
DISTINCT = 997


def measure(scale: Scale) -> Iterator[Figure]:
    if find_spec("numpy") is None:
        raise NotHere("numpy is missing: install the extra [vectors]")
    with Engine.memory(housekeeping=False) as engine:
        engine(create_table())
        fill(engine)
        asked = Request("SearchVectors", search_params())
        engine(asked)
        seen = race(
            {"warm": Contender(lambda: [engine(asked) for _ in range(SEARCHES)], SEARCHES)},
            scale.rounds,
        )
    yield Figure(
        f"SearchVectors among {VECTORS:,} of {DIMENSIONS} dimensions, warm",
        seen["warm"] / 1000,
        "ms",
        bar=Bar("at most", 30, "ms"),
    )


def create_table() -> Request:
    index = {
        "IndexName": INDEX,
        "VectorAttribute": {"AttributeName": "vector"},
        "Projection": {"ProjectionType": "KEYS_ONLY"},
        "Dimensions": DIMENSIONS,
        "DistanceFunction": "COSINE",
    }
    params = {
        "TableName": TABLE,
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        "VectorIndexes": [index],
    }
    return Request("CreateTable", params)


def fill(engine: Engine) -> None:
    """Writes the rows directly: to put 38 million numbers takes minutes, and is not measured."""
    table = engine._database.catalogue.tables[TABLE]
    (index,) = table.vectors
    random = Random(0)
    blobs = [
        struct.pack(f"<{DIMENSIONS}f", *(random.uniform(-1, 1) for _ in range(DIMENSIONS)))
        for _ in range(DISTINCT)
    ]

    def work(transaction: Transaction) -> None:
        for id in range(1, VECTORS + 1):
            item = {"id": {"N": str(id)}}
            key = table.item_blobs(item)
            transaction.execute(table.insert, (*key, len(str(id)) + 2, orjson.dumps(item)))
            # Shifted by a number of floats, each of the few blobs gives many.
            blob = blobs[id % DISTINCT]
            shift = 4 * (id // DISTINCT % DIMENSIONS)
            row = (id, 4 * DIMENSIONS, b"[]", blob[shift:] + blob[:shift])
            transaction.execute(index.insert, row)

    engine._database.committer.run(work)


def search_params() -> dict[str, object]:
    random = Random(1)
    return {
        "TableName": TABLE,
        "IndexName": INDEX,
        "SearchVector": [{"N": f"{random.uniform(-1, 1):.6f}"} for _ in range(DIMENSIONS)],
        "TopK": 10,
    }
