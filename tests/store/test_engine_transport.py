"""The engine on an event loop."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from bigtime.engine import Engine
from bigtime.store import AsyncStore, engine_transport
from bigtime.store.async_store import Done
from bigtime.wire import Request, Response, Steps
from tests.engine.raw_http import StandIn
from tests.store.places import asking, create, get, put

WRITE = Request("PutItem", {})
READ = Request("GetItem", {})


def test_writes_that_sync_to_disk_are_awaited_and_share_their_syncs(tmp_path: Path) -> None:
    async def write(engine: Engine) -> None:
        store = AsyncStore(engine)
        await store.run(create())
        await asyncio.gather(*(store.run(put(f"{n}")) for n in range(50)))
        found = await store.run(asking("Scan", TableName="Things"))
        assert found["Count"] == 50

    with Engine.open(tmp_path / "things.db") as engine:
        asyncio.run(write(engine))
        commits, writes = engine.groups
    assert writes >= 51
    assert commits < writes / 2


def test_the_loop_turns_while_a_write_is_committed() -> None:
    engine = StandIn()
    engine.may_commit.clear()

    async def main() -> Response:
        write = asyncio.create_task(await_response(engine_transport(engine)(WRITE)))
        await asyncio.sleep(0)
        assert await asyncio.to_thread(engine.committing.wait, 5)
        assert not write.done()
        engine.may_commit.set()
        return await write

    assert asyncio.run(main()) == {"Asked": {}}


async def await_response(request: object) -> Response:
    response: Response = await request  # type: ignore[misc]
    return response


def test_nobody_hears_of_a_write_that_ends_after_its_loop() -> None:
    engine = StandIn()
    engine.may_commit.clear()

    async def abandon() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(await_response(engine_transport(engine)(WRITE)), 0.05)

    asyncio.run(abandon())
    engine.may_commit.set()
    engine.thread.join(60)
    assert not engine.thread.is_alive()


def test_a_write_that_was_given_up_may_end_while_the_loop_goes_on() -> None:
    engine = StandIn()
    engine.may_commit.clear()

    async def main() -> Response:
        ask = engine_transport(engine)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(await_response(ask(WRITE)), 0.05)
        engine.may_commit.set()
        await asyncio.to_thread(engine.thread.join, 5)
        return await ask(READ)

    assert asyncio.run(main()) == {"Asked": {}}


class Slow:
    """An engine that takes a millisecond to read."""

    def submit(self, request: Request, done: Done) -> None:
        threading.Event().wait(0.001)
        done({}, None)


def test_many_reads_in_a_row_let_others_in() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def read_much() -> Steps[None]:
        for _ in range(100):
            yield READ

    async def main() -> None:
        others = asyncio.create_task(count())
        await AsyncStore(Slow()).run(read_much())
        others.cancel()

    asyncio.run(main())
    assert turns >= 5


def test_a_closed_engine_says_so(engine: Engine) -> None:
    engine.close()
    with pytest.raises(RuntimeError) as caught:
        asyncio.run(AsyncStore(engine).run(get("a")))
    assert "closed" in str(caught.value)
