"""Child processes that start quickly: forked from a server that has already imported the engine.

The server itself never opens a file, so no state of SQLite's is carried over a fork.
"""

from __future__ import annotations

import multiprocessing
import os
import select
import time
from collections.abc import Callable
from functools import cache
from multiprocessing.context import ForkServerContext
from typing import Any

PRELOADED = [
    *("proofs.backups", "proofs.child", "proofs.clients", "proofs.regions", "proofs.transfers"),
]


class ChildDied(Exception):
    """A child ended without a result; the message says which, and how."""


@cache
def children() -> ForkServerContext:
    """The context to start processes in; the first call takes as long as the imports."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    first = context.Process(target=do_nothing)
    first.start()
    first.join()
    return context


def do_nothing() -> None:
    pass


def in_child(target: Callable[..., None], *arguments: object) -> Any:
    """Runs a child; returns what it sends into the pipe that is its last argument."""
    context = children()
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=target, args=(*arguments, theirs))
    child.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        child.join()
        raise ChildDied(f"{target.__name__} ended with code {child.exitcode}") from None
    finally:
        child.join()
        ours.close()


def in_child_within(seconds: float, target: Callable[..., None], *arguments: object) -> Any:
    """What a child sends in time into the pipe that is its last argument; None if it hangs."""
    context = children()
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=target, args=(*arguments, theirs))
    child.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(seconds) else None
    except EOFError:
        child.join()
        raise ChildDied(f"{target.__name__} ended with code {child.exitcode}") from None
    finally:
        child.kill()
        child.join()
        ours.close()


def killed_after(seconds: float, target: Callable[..., None], *arguments: object) -> bytes:
    """What a child wrote into the pipe that is its last argument, before it was killed."""
    context = children()
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=target, args=(*arguments, theirs))
    child.start()
    theirs.close()
    said = read_until(time.monotonic() + seconds, ours.fileno())
    child.kill()
    said += read_until(None, ours.fileno())
    child.join()
    ours.close()
    return said


def read_until(deadline: float | None, pipe: int) -> bytes:
    """The bytes that arrive before the deadline, or until the last writer is gone."""
    chunks: list[bytes] = []
    while True:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([pipe], [], [], left)
        chunk = os.read(pipe, 1 << 16) if ready else b""
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
