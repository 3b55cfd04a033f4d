"""Warns of operations and steps that were made and never run, as Python does of coroutines.

`put(deal)` without `yield from` before it does nothing, and no type checker minds. In Python's
development mode (`-X dev`) and under pytest, what was made remembers the line that made it, and
warns there if it goes unused. Else nothing is remembered: it is decided when this is imported.
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
"""The methods of an operation by which it is run, explained, or made part of a transaction."""
WATCHED: Final[weakref.WeakKeyDictionary[Any, weakref.finalize[Any, Any]]] = (
    weakref.WeakKeyDictionary()
)
"""What warns of steps that never moved, by the steps."""


class Line(NamedTuple):
    """Where something was made."""

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
    """Has what a function makes warn when it is never run, where that is tracked."""
    if not TRACKED:
        return function

    @wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        remember(made, sys._getframe(1))
        return made

    return cast(C, make)


def remember(made: Any, frame: FrameType) -> None:
    """Remembers where the application made something; the kit runs what it makes itself."""
    module: str = frame.f_globals.get("__name__", "")
    if module.startswith("bigtime.model."):
        return
    line = Line(frame.f_code.co_filename, frame.f_lineno, module)
    if isinstance(made, GeneratorType):
        watch_steps(made, line)
    else:
        made.made_at = line


def watch_steps(steps: GeneratorType[Any, Any, Any], line: Line) -> None:
    """The frame of a generator outlives it, and tells whether it ever moved."""
    frame = steps.gi_frame
    if frame is None:  # it has run already
        return
    watcher = weakref.finalize(steps, warn_unmoved, frame, frame.f_lasti, steps.__name__, line)
    watcher.atexit = False
    WATCHED[steps] = watcher


def hand_over(steps: Any) -> None:
    """Steps that are given to `together` are in use, even if an error ends it before them."""
    watcher = WATCHED.pop(steps, None)
    if watcher is not None:
        watcher.detach()


def warn_unmoved(frame: FrameType, first: int, name: str, line: Line) -> None:
    if frame.f_lasti == first:
        line.warn(f"{name}(...)")


def mark_when_run(kind: type) -> None:
    """Has the methods that run an operation forget where it was made."""
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
    if line is not None and not sys.is_finalizing():  # a constant of a module ends with it
        line.warn(repr(operation))
