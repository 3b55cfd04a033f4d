"""Warns about operations and steps that were created but never run, as Python does for coroutines.

`put(deal)` without `yield from` before it does nothing, and no type checker objects. In Python's
development mode (`-X dev`) and under pytest, each operation remembers the line that created it,
and warns there if it goes unused. Otherwise nothing is recorded; this is decided at import.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable
from functools import wraps
from types import FrameType, GeneratorType
from typing import Any, Final, NamedTuple, TypeVar, cast

C = TypeVar("C", bound=Callable[..., Any])

TRACKED: Final = bool(sys.flags.dev_mode or "pytest" in sys.modules)
RUNNING: Final = ("__iter__", "action", "decode", "failure", "request", "with_invariants")
"""The methods by which an operation is run, explained, or made part of a transaction."""
WATCHED: Final[weakref.WeakKeyDictionary[Any, weakref.finalize[Any, Any]]] = (
    weakref.WeakKeyDictionary()
)
"""For each generator of steps, the finalizer that warns if it never started."""


class Line(NamedTuple):
    """The source line that created an operation or steps."""

    file: str
    number: int
    module: str

    def warn(self, made: str) -> None:
        warnings.warn_explicit(
            f"{made} was never run; write `yield from` before it, or give it to a store's run()",
            RuntimeWarning,
            self.file,
            self.number,
            self.module,
        )


def track(function: C) -> C:
    """Makes a function's results warn if they are never run, where tracking is on."""
    if not TRACKED:
        return function

    @wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        remember(made, sys._getframe(1))
        return made

    return cast(C, make)


def remember(made: Any, frame: FrameType) -> None:
    """Records where the application created an operation; the kit runs those it creates itself."""
    module: str = frame.f_globals.get("__name__", "")
    if module.startswith("bigtime.model."):
        return
    line = Line(frame.f_code.co_filename, frame.f_lineno, module)
    if isinstance(made, GeneratorType):
        watch_steps(made, line)
    else:
        made.made_at = line


def watch_steps(steps: GeneratorType[Any, Any, Any], line: Line) -> None:
    """Warns if the generator never started: its frame outlives it, and `f_lasti` tells."""
    frame = steps.gi_frame
    if frame is None:  # it has already finished
        return
    watcher = weakref.finalize(steps, warn_unmoved, frame, frame.f_lasti, steps.__name__, line)
    watcher.atexit = False
    WATCHED[steps] = watcher


def hand_over(steps: Any) -> None:
    """Stops tracking steps given to `together`: an error may end it before they start."""
    watcher = WATCHED.pop(steps, None)
    if watcher is not None:
        watcher.detach()


def warn_unmoved(frame: FrameType, first: int, name: str, line: Line) -> None:
    if frame.f_lasti == first:
        line.warn(f"{name}(...)")


def mark_when_run(kind: type) -> None:
    """Wraps the methods that run an operation so that it no longer warns."""
    for name in RUNNING:
        method = vars(kind).get(name)
        if callable(method):
            setattr(kind, name, forget_when_called(method))


def forget_when_called(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.made_at = None
        return method(self, *args, **kwargs)

    return run


def warn_unrun(operation: Any) -> None:
    line: Line | None = getattr(operation, "made_at", None)
    if line is not None and not sys.is_finalizing():  # module constants are collected at exit
        line.warn(repr(operation))
