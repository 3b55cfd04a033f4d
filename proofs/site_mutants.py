"""Sites that are broken on purpose, for P9 and P10 to catch.

Each is made in the process that serves, by patching the site in memory before it starts.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from bigtime import model
from bigtime.model import Ksuid
from bigtime.site import Pictured, checkout, draw_upload_id
from bigtime.store import AsyncStore
from bigtime.web import app as application
from bigtime.web import server as serve
from bigtime.web import worker_process
from bigtime.web.bounded_protocol import Bounds
from bigtime.web.pages.hot_pages import HotPages
from bigtime.web.pages.page_cache import TaggedCache
from bigtime.web.pages.threads import PictureFiles
from bigtime.web.shop import checkout as checkout_page
from bigtime.wire import Steps

LEAKED = 48 << 10
FAILS_EVERY = 400
LATE_SECONDS = 0.3
IDLE = "import time; time.sleep(3600)"


def leak() -> None:
    """Keeps something of every request for ever."""
    call, kept = HotPages.__call__, list[bytes]()

    async def leaking(app: HotPages, scope: Any, receive: Any, send: Any) -> None:
        kept.append(os.urandom(LEAKED))
        await call(app, scope, receive, send)

    HotPages.__call__ = leaking  # type: ignore[assignment, method-assign]


def fail_sometimes() -> None:
    """Answers one request in a few hundred with a 500."""
    call, asked = HotPages.__call__, count(1)

    async def failing(app: HotPages, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and next(asked) % FAILS_EVERY == 0:
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await call(app, scope, receive, send)

    HotPages.__call__ = failing  # type: ignore[assignment, method-assign]


def leave_worker_dead() -> None:
    """Does not restart a worker that has died."""
    worker_process.FIRST_PAUSE = 3_600.0


def let_worker_idle() -> None:
    """Starts a worker that does nothing."""
    start = subprocess.Popen

    def start_idle(command: list[str], **options: Any) -> Any:
        python, _, *rest = command
        return start([python, "-c", IDLE, *rest], **options)

    worker_process.subprocess.Popen = start_idle  # type: ignore[attr-defined]


def forget_keys() -> None:
    """Ignores the key of a checkout: each time it is sent it is a new one."""
    new_checkout = checkout_page.new_checkout

    def with_another_key(*arguments: Any) -> checkout.Checkout:
        key = Ksuid.make(datetime.now(UTC), os.urandom(16))
        return replace(new_checkout(*arguments), key=key)

    checkout_page.new_checkout = with_another_key  # type: ignore[assignment]


def answer_early() -> None:
    """Acknowledges an order first, and writes it a little later."""
    run = AsyncStore.run
    late: set[asyncio.Task[Any]] = set()

    async def write_later(store: AsyncStore, steps: Any) -> None:
        await asyncio.sleep(LATE_SECONDS)
        await run(store, steps)

    async def answering(store: AsyncStore, steps: Any) -> Any:
        if getattr(steps, "__name__", "") != checkout.check_out.name:
            return await run(store, steps)
        order_id = steps.gi_frame.f_locals["checkout"].order_id
        late.add(asyncio.create_task(write_later(store, steps)))
        return order_id

    AsyncStore.run = answering  # type: ignore[assignment, method-assign]


def order_in_two() -> None:
    """Writes an order and its purchase in two transactions, with a pause in between."""

    class InTwo:
        """The kit, except for its transactions."""

        def __getattr__(self, name: str) -> Any:
            return getattr(model, name)

        def transact(self, *writes: Any, token: str) -> Steps[None]:
            half = len(writes) // 2
            yield from model.transact(*writes[:half])
            time.sleep(LATE_SECONDS)
            yield from model.transact(*writes[half:])

    checkout.bt = InTwo()  # type: ignore[assignment, attr-defined]


def never_invalidate() -> None:
    """Keeps cached pages, whatever happens to the data that they show."""
    TaggedCache.invalidate = lambda self, tags: None  # type: ignore[method-assign]


def invalidate_late() -> None:
    """Invalidates this process's own writes only when the stream reports them, too late."""
    application.invalidate_writes = lambda cache, exchange: None  # type: ignore[attr-defined]


def lose_uploads() -> None:
    """Accepts a picture, and does not save its file."""

    async def keep_nothing(files: PictureFiles, of: Pictured, content: bytes) -> str:
        return draw_upload_id(of)

    PictureFiles.keep_upload = keep_nothing  # type: ignore[assignment, method-assign]


SITE_MUTANTS: dict[str, Callable[[], None]] = {
    "leak": leak,
    "fails sometimes": fail_sometimes,
    "never invalidates": never_invalidate,
    "invalidates late": invalidate_late,
    "uploads lost": lose_uploads,
    "idle worker": let_worker_idle,
    "worker left dead": leave_worker_dead,
    "keys forgotten": forget_keys,
    "answered early": answer_early,
    "order in two": order_in_two,
}


def lift_bounds() -> None:
    """Allows heads, bodies and connections without end: only P15 sees it."""
    serve.bounds_here = lambda **_: Bounds(  # type: ignore[attr-defined]
        head_bytes=1 << 60, body_bytes=1 << 60, connections=9_999, connections_per_address=9_999
    )


def mutate(name: str) -> None:
    {**SITE_MUTANTS, "no bounds": lift_bounds}[name]()
