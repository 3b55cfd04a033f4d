"""Tables with vector indexes, and searches."""

from __future__ import annotations

from typing import Any

from bigtime.engine import Engine
from bigtime.wire import Response
from tests.engine.calls import call, make_table, n, s

DIMENSIONS = 3


def vector(*numbers: object) -> Any:
    return {"L": [n(number) for number in numbers]}


def vector_index(name: str = "near", **changes: Any) -> Any:
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": "v"},
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": DIMENSIONS,
        "DistanceFunction": "COSINE",
        **changes,
    }


def schema(hash_key: str | None = None, *filters: str) -> list[dict[str, str]]:
    roles = {**({hash_key: "HASH"} if hash_key else {}), **dict.fromkeys(filters, "INLINE_FILTER")}
    return [{"AttributeName": a, "SearchSchemaElementType": role} for a, role in roles.items()]


def make(engine: Any, *indexes: Any, attributes: dict[str, str] | None = None) -> str:
    keys = {"id": "S", **(attributes or {})}
    listed: Any = {"VectorIndexes": list(indexes)} if indexes else {}
    return make_table(engine, keys, keys=("id",), **listed)


def put(engine: Any, table: str, id: str, *numbers: object, **others: Any) -> None:
    item = {"id": s(id), **({"v": vector(*numbers)} if numbers else {}), **others}
    call(engine, "PutItem", TableName=table, Item=item)


def search(engine: Any, table: str, *numbers: object, **params: Any) -> list[Response]:
    given = {"IndexName": "near", "TopK": 100, **params}
    found = call(
        engine, "SearchVectors", TableName=table, SearchVector=vector(*numbers)["L"], **given
    )
    results: list[Response] = found["SearchResults"]
    return results


def ids(results: list[Response]) -> list[str]:
    return [result["Item"]["id"]["S"] for result in results]


# --- Backfill, restore --------------------------------------------------------------------------


def add(engine: Engine, table: str, new: Any, **params: Any) -> Any:
    updates = [{"Create": new}]
    return call(engine, "UpdateTable", TableName=table, VectorIndexUpdates=updates, **params)
