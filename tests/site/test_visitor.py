"""Who is behind a request."""

from __future__ import annotations

import asyncio
from typing import Any

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.site.visitor import Visitors
from bigtime.store import AsyncStore
from bigtime.systems import accounts, sessions
from bigtime.systems.accounts.account import sign_up
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import create_session, delete_session


async def open_store(engine: Engine) -> AsyncStore:
    store = AsyncStore(engine)
    await store.run(setup(accounts.SYSTEM, sessions.SYSTEM))
    await store.run(sign_up("alex@example.com", "correct horse", "alex"))
    await store.run(create_session(hash_token("token"), "alex@example.com"))
    return store


def test_a_session_that_ends_while_it_is_read_has_ended(engine: Engine) -> None:
    async def race() -> list[Any]:
        store = await open_store(engine)
        visitors = Visitors(store)
        send, asked, waiting = store.send, asyncio.Event(), asyncio.Event()

        async def slow(request: Any) -> Any:
            answer = await send(request)
            asked.set()
            await waiting.wait()
            return answer

        store.send = slow  # type: ignore[method-assign]
        reading = asyncio.create_task(visitors.of("token"))
        await asked.wait()
        store.send = send  # type: ignore[method-assign]
        await store.run(delete_session(hash_token("token")))
        visitors.forget("token")
        waiting.set()
        return [await reading, await visitors.of("token")]

    assert asyncio.run(race()) == [None, None]


def test_a_visitor_is_read_once_in_a_second(engine: Engine) -> None:
    async def look() -> list[Any]:
        clock = [0.0]
        store = await open_store(engine)
        visitors = Visitors(store, clock=lambda: clock[0])
        first = await visitors.of("token")
        await store.run(delete_session(hash_token("token")))
        still = await visitors.of("token")
        clock[0] = 1.1
        return [first is still, first and first.username, await visitors.of("token")]

    assert asyncio.run(look()) == [True, "alex", None]


def test_a_token_that_is_far_too_long_is_nobodys_and_asks_for_nothing(engine: Engine) -> None:
    async def look() -> Any:
        store = await open_store(engine)
        visitors = Visitors(store)
        store.send = None  # type: ignore[assignment]
        return await visitors.of("x" * 201)

    assert asyncio.run(look()) is None
