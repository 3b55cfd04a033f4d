"""One region writes at a time: what a store does while another one is the writer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from bigtime.engine import Engine
from bigtime.store import (
    WRITERS,
    AsyncFencedTransport,
    AsyncStore,
    Fence,
    FencedTransport,
    NotTheWriter,
    Store,
    TableNames,
    Writer,
    consume,
    open_store,
    read_writer,
    write_epoch,
)
from bigtime.store import fence as module
from bigtime.wire import Request, Response, Steps

HOME, AWAY = "us-east-1", "eu-west-1"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
PUT = Request("PutItem", {"TableName": "Notes", "Item": {"PK": {"S": "a"}, "SK": {"S": "b"}}})
GET = Request("GetItem", {"TableName": "Notes", "Key": {"PK": {"S": "a"}, "SK": {"S": "b"}}})
INSERT = "INSERT INTO Notes VALUE {'PK': 'c', 'SK': 'd'}"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine.memory(housekeeping=False) as engine:
        engine(Request("CreateTable", {**WRITERS.definition(), "TableName": "Notes"}))
        yield engine


def begin(engine: Engine, epoch: int, region: str, system: str = "shop") -> Writer:
    store = Store(engine)
    store.run(WRITERS.ready())
    return store.run(write_epoch(system, Writer(epoch, region, NOW)))


def fenced_store(engine: Engine, region: str = HOME) -> Store:
    return Store(FencedTransport(engine, Fence("shop", region)))


def look_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY_SECONDS", 0.0)


def test_without_a_fence_every_region_writes(engine: Engine) -> None:
    fenced_store(engine).send(PUT)
    begin(engine, 1, AWAY, system="another")
    fenced_store(engine).send(PUT)


def test_only_the_writer_writes_and_all_read(engine: Engine) -> None:
    begin(engine, 1, HOME)
    fenced_store(engine).send(PUT)
    with pytest.raises(
        NotTheWriter,
        match=r"eu-west-1 does not write shop: the writer is us-east-1"
        r" \(epoch 1, since 2026-01-02 00:00:00 UTC\).*go to us-east-1",
    ) as refused:
        fenced_store(engine, AWAY).send(PUT)
    assert (refused.value.region, refused.value.uncertain) == (HOME, False)
    assert fenced_store(engine, AWAY).send(GET)["Item"]


@pytest.mark.parametrize(
    "request_",
    [
        Request("UpdateItem", GET.params),
        Request("DeleteItem", GET.params),
        Request("BatchWriteItem", {"RequestItems": {}}),
        Request("TransactWriteItems", {"TransactItems": []}),
        Request("ExecuteStatement", {"Statement": INSERT}),
        Request("BatchExecuteStatement", {"Statements": [{"Statement": INSERT}]}),
        Request("ExecuteTransaction", {"TransactStatements": [{"Statement": INSERT}]}),
        Request("StartBulkPutItems", {"TableName": "Notes"}),
    ],
)
def test_every_way_to_write_is_fenced(engine: Engine, request_: Request) -> None:
    begin(engine, 1, AWAY)
    with pytest.raises(NotTheWriter):
        fenced_store(engine).send(request_)


def test_a_statement_that_reads_is_not_fenced(engine: Engine) -> None:
    begin(engine, 1, AWAY)
    select = {"Statement": " select * from Notes"}
    assert fenced_store(engine).send(Request("ExecuteStatement", select))["Items"] == []


def test_a_running_store_sees_a_newer_epoch(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(engine, 1, HOME)
    store = fenced_store(engine)
    store.send(PUT)
    begin(engine, 2, AWAY)
    store.send(PUT)  # it has looked within the last second
    look_at_once(monkeypatch)
    store = fenced_store(engine)
    with pytest.raises(NotTheWriter, match="epoch 2"):
        store.send(PUT)
    begin(engine, 3, HOME)
    store.send(PUT)


def test_it_is_not_repeated_in_place(engine: Engine) -> None:
    begin(engine, 1, AWAY)
    pauses: list[float] = []
    store = Store(FencedTransport(engine, Fence("shop", HOME)), sleep=pauses.append)
    with pytest.raises(NotTheWriter):
        store.send(PUT)
    assert pauses == []


def test_between_two_regions_nobody_writes(engine: Engine) -> None:
    begin(engine, 1, module.NOBODY)
    with pytest.raises(NotTheWriter, match="try again soon"):
        fenced_store(engine).send(PUT)


def test_an_epoch_begins_once(engine: Engine) -> None:
    assert begin(engine, 1, HOME) == begin(engine, 1, AWAY) == Writer(1, HOME, NOW)
    begin(engine, 10, AWAY)
    begin(engine, 9, HOME)
    assert Store(engine).run(read_writer("shop")) == Writer(10, AWAY, NOW)
    assert Store(engine).run(read_writer("other")) is None


def test_a_fence_that_cannot_be_read_lets_nothing_pass(engine: Engine) -> None:
    begin(engine, 1, HOME)

    def failing(request: Request) -> object:
        raise OSError("no network")

    with pytest.raises(OSError, match="no network"):
        FencedTransport(failing, Fence("shop", HOME))(PUT)  # type: ignore[arg-type]


def test_the_table_of_the_fence_may_have_another_name(engine: Engine) -> None:
    begin(engine, 1, HOME)
    other = {**WRITERS.definition(), "TableName": "staging-Writers"}
    engine(Request("CreateTable", other))
    names = TableNames({"*": "staging-*"})
    FencedTransport(engine, Fence("shop", AWAY, names))(PUT)


def test_an_event_loop_is_fenced_too(engine: Engine) -> None:
    begin(engine, 1, AWAY)

    async def run() -> None:
        store = AsyncStore(AsyncFencedTransport(engine, Fence("shop", HOME)))
        assert "Item" not in await store.send(GET)
        with pytest.raises(NotTheWriter):
            await store.send(PUT)

    asyncio.run(run())


@pytest.mark.parametrize("is_async", [False, True])
def test_a_consumer_waits_until_its_region_is_the_writer(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    look_at_once(monkeypatch)
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    engine(Request("UpdateTable", {"TableName": "Notes", "StreamSpecification": stream}))
    engine(PUT)
    begin(engine, 1, AWAY)
    handled: list[Response] = []

    def handle(record: Response) -> Steps[None]:
        handled.append(record)
        return
        yield

    def run() -> int:
        fence = Fence("shop", HOME)
        if not is_async:
            store = Store(FencedTransport(engine, fence))
            return consume(store, "Notes", handle, name="mail").run_once()
        waiting = AsyncStore(AsyncFencedTransport(engine, fence))
        return asyncio.run(consume(waiting, "Notes", handle, name="mail").run_once())

    assert run() == 0 and handled == []
    begin(engine, 2, HOME)
    assert run() == len(handled) == 1


def test_a_setting_fences_a_store(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(f"file:{tmp_path}/shop.eu-west-1.db", fence="") as store:
        store.send(Request("CreateTable", {**WRITERS.definition(), "TableName": "Notes"}))
        store.run(WRITERS.ready())
        store.run(write_epoch("shop", Writer(1, AWAY, NOW)))
    monkeypatch.setenv("BIGTIME_FENCE", "shop")
    with open_store(f"file:{tmp_path}/shop.eu-west-1.db") as store:
        store.send(PUT)  # its name tells the region
        store.run(write_epoch("shop", Writer(2, HOME, NOW)))
    with (
        open_store(f"file:{tmp_path}/shop.eu-west-1.db") as store,
        pytest.raises(NotTheWriter, match="eu-west-1 does not write shop"),
    ):
        store.send(PUT)
