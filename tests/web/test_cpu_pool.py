"""Work beside the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from bigtime.engine import Engine
from bigtime.model import now, random_bytes, setup, together
from bigtime.store import AsyncStore
from bigtime.store.driver import Exchange
from bigtime.systems.accounts import SYSTEM
from bigtime.systems.accounts.account import sign_up, view_account
from bigtime.systems.accounts.design import Identity, UnknownLogin
from bigtime.web.pages.threads import CpuPool
from bigtime.wire import Steps

SECONDS = 60
TURNS = 20


def slow_sign_up(name: str, go: threading.Event) -> Steps[tuple[Identity, int]]:
    """Does what steps do, and takes its time: until the loop has gone on."""
    yield from now()
    assert go.wait(SECONDS)
    yield from random_bytes(4)
    made = yield from sign_up(name, "correct horse", name)
    again, _ = yield from together(view_account(name), view_account(name))
    assert again == made
    return made, threading.get_ident()


async def run_beside_the_loop(engine: Engine) -> tuple[list[tuple[Identity, int]], bool, set[int]]:
    asked_on: set[int] = set()

    def note(exchange: Exchange) -> None:
        asked_on.add(threading.get_ident())

    store = AsyncStore(engine, hooks=[note])
    await store.run(setup(SYSTEM))
    go = threading.Event()
    running = asyncio.gather(*(CpuPool(store).run(slow_sign_up(f"user-{n}", go)) for n in range(2)))
    for _ in range(TURNS):
        await asyncio.sleep(0.001)
    is_under_way = not running.done()
    go.set()
    return await running, is_under_way, asked_on


def test_the_loop_goes_on_while_steps_compute(engine: Engine) -> None:
    made, was_under_way, asked_on = asyncio.run(run_beside_the_loop(engine))
    assert [identity.username for identity, _ in made] == ["user-0", "user-1"]
    assert threading.get_ident() not in {thread for _, thread in made}
    assert asked_on == {threading.get_ident()}
    assert was_under_way


def test_what_steps_raise_is_raised(engine: Engine) -> None:
    async def ask() -> None:
        store = AsyncStore(engine)
        await store.run(setup(SYSTEM))
        await CpuPool(store).run(view_account("nobody"))

    with pytest.raises(UnknownLogin):
        asyncio.run(ask())
