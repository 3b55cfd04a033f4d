"""An endpoint for a session of tests, whose engine can be replaced by an empty one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Self

from bigtime.engine import Engine, Principal, UserTransport, serve_in_thread
from bigtime.wire import Request

__all__ = ["Server", "serve_in_thread"]


class Server:
    """Serves an engine in memory on a free port: `with Server() as server: ... server.url`."""

    def __init__(self, **settings: Any) -> None:
        """The settings are those of `Engine.memory`."""
        self._settings = settings
        self.engine = Engine.memory(**settings)
        self._serving = ExitStack()
        self.url = ""

    def submit(self, request: Request, done: Any, region: str | None = None) -> None:
        """Passes a request on to the current engine."""
        self.engine.submit(request, done, region)

    def as_user(
        self, principal: Principal, about: Mapping[str, str], region: str | None
    ) -> UserTransport:
        return self.engine.as_user(principal, about, region)

    def reset(self) -> None:
        """Replaces the engine by an empty one, without its tables, streams and faults."""
        old, self.engine = self.engine, Engine.memory(**self._settings)
        old.close()

    def close(self) -> None:
        self._serving.close()
        self.engine.close()

    def __enter__(self) -> Self:
        self.url = self._serving.enter_context(serve_in_thread(self))
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
