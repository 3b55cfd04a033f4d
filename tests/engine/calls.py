"""Short words for calling an engine: values, tables, indexes, requests, and threads that do."""

from __future__ import annotations

import gc
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any, TypeVar

import pytest

from bigtime.engine import Engine
from bigtime.wire import (
    AttributeValue,
    DynamoDBError,
    Request,
    Response,
    Transport,
    ValidationException,
)

T = TypeVar("T")

NUMBERED = count()

PATIENCE_SECONDS = 60.0
"""How long a test waits before it says that something hangs, however busy the machine."""


def s(text: str) -> AttributeValue:
    return {"S": text}


def n(number: object) -> AttributeValue:
    return {"N": str(number)}


def b(raw: bytes) -> AttributeValue:
    return {"B": b64encode(raw).decode()}


def call(engine: Transport, operation: str, **params: Any) -> Response:
    return engine(Request(operation, params))


def refusal_of(engine: Engine, operation: str = "Query", **params: Any) -> str:
    with pytest.raises(DynamoDBError) as caught:
        call(engine, operation, **params)
    assert isinstance(caught.value, ValidationException)
    return caught.value.message


def key_schema(hash_key: str, *range_keys: str) -> list[dict[str, str]]:
    roles = ["HASH", *["RANGE"] * len(range_keys)]
    names = (hash_key, *range_keys)
    return [{"AttributeName": a, "KeyType": k} for a, k in zip(names, roles, strict=True)]


def index(name: str, keys: list[dict[str, str]], projection: str | list[str] = "ALL") -> Any:
    shown: dict[str, Any] = {"ProjectionType": projection}
    if isinstance(projection, list):
        shown = {"ProjectionType": "INCLUDE", "NonKeyAttributes": projection}
    return {"IndexName": name, "KeySchema": keys, "Projection": shown}


def make_table(
    engine: Transport,
    attributes: dict[str, str],
    *,
    name: str | None = None,
    keys: tuple[str, ...] = ("p", "s"),
    local: tuple[Any, ...] = (),
    globally: tuple[Any, ...] = (),
    **settings: Any,
) -> str:
    """Makes a table, called `table-<n>` unless the test gives it a name."""
    name = name or f"table-{next(NUMBERED)}"
    call(
        engine,
        "CreateTable",
        TableName=name,
        AttributeDefinitions=[
            {"AttributeName": a, "AttributeType": t} for a, t in attributes.items()
        ],
        KeySchema=key_schema(*keys),
        **({"LocalSecondaryIndexes": list(local)} if local else {}),
        **({"GlobalSecondaryIndexes": list(globally)} if globally else {}),
        **{"BillingMode": "PAY_PER_REQUEST", **settings},
    )
    return name


def describe_table(engine: Engine, table: str) -> Any:
    return call(engine, "DescribeTable", TableName=table)["Table"]


def global_index(engine: Engine, table: str, name: str) -> Any:
    indexes = describe_table(engine, table).get("GlobalSecondaryIndexes", [])
    return next((index for index in indexes if index["IndexName"] == name), None)


def add_index(engine: Engine, table: str, new: Any, **attributes: str) -> Any:
    definitions = [{"AttributeName": a, "AttributeType": t} for a, t in attributes.items()]
    return call(
        engine,
        "UpdateTable",
        TableName=table,
        AttributeDefinitions=definitions,
        GlobalSecondaryIndexUpdates=[{"Create": new}],
    )["TableDescription"]


def drop_index(engine: Engine, table: str, name: str) -> None:
    call(
        engine,
        "UpdateTable",
        TableName=table,
        GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": name}}],
    )


def fill(engine: Engine, table: str, items: int, **attributes: Any) -> None:
    for start in range(0, items, 25):
        puts = [
            {"PutRequest": {"Item": {"p": s(f"{number}"), **attributes}}}
            for number in range(start, min(start + 25, items))
        ]
        call(engine, "BatchWriteItem", RequestItems={table: puts})


def physical_tables(engine: Engine) -> set[str]:
    with engine._database.reading() as reader:
        rows = reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        return {name for (name,) in rows}


class Clock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def begin(act: Callable[[], T]) -> Future[T]:
    """Does it in a thread of its own, which dies with the tests should it hang."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(act())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


def come(future: Future[T]) -> T:
    return future.result(PATIENCE_SECONDS)


def failure(future: Future[Any]) -> BaseException | None:
    return future.exception(PATIENCE_SECONDS)


def until(happened: Callable[[], object]) -> bool:
    """Whether it happened in good time; what takes long is asked for less and less often."""
    started = monotonic()
    while not happened():
        waited = monotonic() - started
        if waited > PATIENCE_SECONDS:
            return False
        sleep(min(0.001 + waited / 10, 0.1))
    return True


def open_files(folder: Path) -> list[str]:
    """What this process has open below a folder, once what was forgotten is gone."""
    gc.collect()
    opened: list[str] = []
    for handle in Path("/dev/fd").iterdir():
        with suppress(OSError):  # other threads close theirs meanwhile
            opened.append(str(handle.readlink()))
    return [path for path in opened if path.startswith(f"{folder}/")]
