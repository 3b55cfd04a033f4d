"""How long the path of a like is, in calls: from the form to the page that shows it.

The engine is in memory: there a write is committed on the thread that asks for it, so that one
tracer sees everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from bench.call_counter import CallCounter
from bench.figure import Bar, Figure
from bench.site_making import Maker
from bench.site_scene import first
from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.site.registration import join
from bigtime.site.systems import SYSTEMS
from bigtime.store import Store
from bigtime.systems.deals.brands import create_brand, create_categories
from bigtime.systems.deals.deals import create_deal
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import create_session

PAGE: Final = "/brands/APPLE"
LOGIN: Final = "alex@example.com"
TOKEN: Final = "token-of-alex"
COOKIE: Final = f"session={TOKEN}"
FORM_TOKEN: Final = rb'name="form_token" value="([^"]+)"'
DEALS: Final = 30
WARM_UP: Final = 4
"""Rounds for what is done once: parsed expressions, compiled templates, known keys."""


def like_calls(folder: Path) -> Iterator[Figure]:
    """For a signed-in user who likes a brand with a full page of deals."""
    with Engine.memory() as engine:
        furnish(Store(engine))
        post, get = asyncio.run(count_calls(Maker(engine, folder)))
    calls, files = Bar("under", 400, "calls"), Bar("under", 45, "files")
    yield Figure("POST of a like", post.calls, "calls", bar=calls)
    yield Figure("POST of a like, in how many files", len(post.files), "files", bar=files)
    yield Figure("GET of the page after it", get.calls, "calls", bar=Bar("under", 700, "calls"))


def furnish(store: Store) -> None:
    store.run(setup(*SYSTEMS))
    store.run(create_categories())
    store.run(create_brand("Apple"))
    for number in range(DEALS):
        link = f"https://shop.example/{number}"
        store.run(create_deal(f"Lamp {number}", link, Decimal(number + 1), "Apple", "Home"))
    store.run(join(LOGIN, "correct horse", "alex"))
    store.run(create_session(hash_token(TOKEN), LOGIN))


async def count_calls(maker: Maker) -> tuple[CallCounter, CallCounter]:
    """The calls of a like and of the page after it, once both are warm."""
    for verb in ("like", "unlike") * WARM_UP:
        await change(maker, verb)
    return await change(maker, "like")


async def change(maker: Maker, verb: str) -> tuple[CallCounter, CallCounter]:
    _, shown = await maker.ask("GET", PAGE, COOKIE)
    form = urlencode({"form_token": first(FORM_TOKEN, shown), "back": PAGE}).encode()
    post, get = CallCounter(), CallCounter()
    status, _ = await post.watch(maker.ask("POST", f"{PAGE}/{verb}", COOKIE, form))
    assert status == 303, f"a like is answered with {status}"
    _, shown = await get.watch(maker.ask("GET", PAGE, COOKIE))
    other = "like" if verb == "unlike" else "unlike"
    assert f'"{PAGE}/{other}"'.encode() in shown, "the page does not show the like"
    return post, get
