"""Work beside the event loop."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from bigtime.engine import Engine
from bigtime.model import now, random_bytes, setup, together
from bigtime.store import AsyncStore
from bigtime.store.driver import Exchange
from bigtime.systems.accounts import SYSTEM
from bigtime.systems.accounts.account import sign_up, view_account
from bigtime.systems.accounts.design import Identity
from bigtime.systems.accounts.errors import UnknownLogin
from bigtime.web.pages.cpu_pool import CpuPool
from bigtime.wire import Steps


def slow_sign_up(name: str) -> Steps[tuple[Identity, int]]:
    """Does what steps do, and takes its time."""
    yield from now()
    time.sleep(0.1)
    yield from random_bytes(4)
    made = yield from sign_up(name, "correct horse", name)
    again, _ = yield from together(view_account(name), view_account(name))
    assert again == made
    return made, threading.get_ident()


async def run_beside_the_loop(engine: Engine) -> tuple[list[tuple[Identity, int]], int, set[int]]:
    asked_on: set[int] = set()

    def note(exchange: Exchange) -> None:
        asked_on.add(threading.get_ident())

    store = AsyncStore(engine, hooks=[note])
    await store.run(setup(SYSTEM))
    running = asyncio.gather(*(CpuPool(store).run(slow_sign_up(f"user-{n}")) for n in range(2)))
    turns = 0
    while not running.done():
        await asyncio.sleep(0.001)
        turns += 1
    return await running, turns, asked_on


def test_the_loop_goes_on_while_steps_compute(engine: Engine) -> None:
    made, turns, asked_on = asyncio.run(run_beside_the_loop(engine))
    assert [identity.username for identity, _ in made] == ["user-0", "user-1"]
    assert threading.get_ident() not in {thread for _, thread in made}
    assert asked_on == {threading.get_ident()}
    assert turns > 20


def test_what_steps_raise_is_raised(engine: Engine) -> None:
    async def ask() -> None:
        store = AsyncStore(engine)
        await store.run(setup(SYSTEM))
        await CpuPool(store).run(view_account("nobody"))

    with pytest.raises(UnknownLogin):
        asyncio.run(ask())
