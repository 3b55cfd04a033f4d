"""The blocking store: runs steps on the caller's thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from time import perf_counter
from typing import Any, Self, TypeVar, Unpack

from bigtime import wire
from bigtime.store.driver import Driver, DriverOptions, Run, Runnable, at_once
from bigtime.wire import Request, Response, Steps

T = TypeVar("T")


class Abandoned(BaseException):
    """Ends steps whose group has failed; the group has the error."""


class Group:
    """Steps that run together: the first error ends them all."""

    def __init__(self, outer: Group | None) -> None:
        self.outer = outer
        self.errors: list[BaseException] = []

    @property
    def is_over(self) -> bool:
        return bool(self.errors) or (self.outer is not None and self.outer.is_over)


class Store(Driver):
    """Runs steps on an engine or an endpoint. Safe for threads.

    `closes` are called, last first, when the store is closed.
    """

    def __init__(
        self,
        transport: wire.Transport,
        *,
        sleep: Callable[[float], None] = time.sleep,
        closes: Sequence[Callable[[], None]] = (),
        **options: Unpack[DriverOptions],
    ) -> None:
        super().__init__(**options)
        self.transport = transport
        self.sleep = sleep
        self._closes = list(closes)
        self._threads: ThreadPoolExecutor | None = None
        if (others := at_once(transport) - 1) > 0:  # the caller's thread is one of them
            self._threads = ThreadPoolExecutor(others, "bigtime-together")
            self._closes.append(self._threads.shutdown)

    def run(self, steps: Runnable[T]) -> T:
        """Runs the steps; returns what they return, raises what they raise."""
        generator: Steps[T] = wire.steps_in(steps)
        if self.tenant is None:
            return self._run(generator, None)
        token = wire.TENANT.set(self.tenant)
        try:
            return self._run(generator, None)
        finally:
            wire.TENANT.reset(token)

    def _run(self, steps: Steps[T], group: Group | None) -> T:
        if self.tracing is not None:
            steps = self.tracing.follow(steps)
        run = Run(steps, self)
        try:
            wanted = run.advance(steps.send, None)
            while wanted is not None:
                if group is not None and group.is_over:
                    raise Abandoned
                if self._names_patterns:
                    wanted = self._with_meter(wanted, run)
                try:
                    if isinstance(wanted, Request):
                        answer: object = self.send(wanted)
                    else:
                        answer = self._perform(wanted, group)
                except Exception as error:
                    wanted = run.advance(steps.throw, error)
                else:
                    wanted = run.advance(steps.send, answer)
            return run.result
        finally:
            steps.close()

    def _perform(self, wanted: wire.Together | wire.Pause, group: Group | None) -> object:
        if isinstance(wanted, wire.Together):
            return self._together(wanted, group)
        self.sleep(wanted.seconds)
        return None

    def send(self, request: Request) -> Response:
        """Sends one request, with the store's retries."""
        attempt = 0
        while True:
            attempt += 1
            started = perf_counter()
            try:
                response = self.transport(request)
            except Exception as error:
                pause = self._note_failure(request, attempt, started, error)
                if pause is None:
                    raise
            else:
                self._note_success(request, attempt, started, response)
                return response
            self.sleep(pause)

    def _together(self, together: wire.Together, outer: Group | None) -> list[Any]:
        if self._threads is None or len(together.steps) < 2:
            return [self._run(steps, outer) for steps in together.steps]
        group = Group(outer)
        try:
            results = self._at_once(together.steps, group, self._threads)
        except BaseException as interrupt:
            group.errors.append(interrupt)
            raise
        if group.errors:
            raise group.errors[0]
        if group.is_over:
            raise Abandoned
        return results

    def _at_once(
        self, steps: Sequence[Steps[object]], group: Group, threads: ThreadPoolExecutor
    ) -> list[Any]:
        """The caller's thread runs the first steps, and then those that no other thread has begun.

        So nested steps never wait for a thread that is waiting for them.
        """
        others = [
            threads.submit(copy_context().run, self._member, step, group) for step in steps[1:]
        ]
        results = [self._member(steps[0], group)]
        for step, other in zip(steps[1:], others, strict=True):
            results.append(self._member(step, group) if other.cancel() else other.result())
        return results

    def _member(self, steps: Steps[object], group: Group) -> object:
        if not group.is_over:
            try:
                return self._run(steps, group)
            except Abandoned:
                pass
            except BaseException as error:
                group.errors.append(error)
        return None

    def close(self) -> None:
        while self._closes:
            self._closes.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
