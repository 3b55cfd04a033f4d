"""One body of scenarios for every place where steps can run, and for a second implementation.

A scenario is steps. It says itself what must come of them, and returns what it has seen. It is run
blocking and awaited, on an engine in process and over HTTP, and on moto, which was written by
others from the same pages of AWS; each time it must have seen what it sees on an engine.

Where moto is known to do otherwise than AWS says, `moto_differs` tells how, and the scenario is not
run there. So such a scenario is a small one: what moto does as AWS says is in another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from random import Random
from typing import Any, TypeAlias, cast

import pytest
from botocore.credentials import Credentials

from bigtime.engine import Engine
from bigtime.engine.http.connection import Done
from bigtime.model import DomainError, System, Table, setup
from bigtime.model.operations.op import Runnable, steps_of
from bigtime.store import Store
from bigtime.store.botocore_transport import BotocoreTransport
from bigtime.testing import serve_in_thread
from bigtime.wire import Request, Steps
from tests.store.places import IN_PROCESS, NETWORKED, Place, Time

Scenario: TypeAlias = Callable[[], Steps[Any]]

ON_ENGINES = (*IN_PROCESS, *NETWORKED)
MOTO = "moto"
REFERENCE = IN_PROCESS[0]
REGION = "us-east-1"
DYNAMODB = f"https://dynamodb.{REGION}.amazonaws.com/"
STREAMS = f"https://streams.dynamodb.{REGION}.amazonaws.com/"


class ThroughRequests:
    """Sends what a transport has signed with the library whose calls moto answers."""

    def send(self, prepared: Any) -> Any:
        import requests

        return requests.post(prepared.url, data=prepared.body, headers=dict(prepared.headers))

    def close(self) -> None:
        pass


class MotoPlace(Place):
    """A blocking store on moto: all that stands between steps and AWS, but for the socket."""

    def open_blocking(self, opened: ExitStack, url: Any, settings: dict[str, Any]) -> None:
        # moto has no locks, so nothing may be asked of it at once.
        transport = BotocoreTransport(
            REGION, url=DYNAMODB, credentials=Credentials("none", "none"), concurrency=1
        )
        transport.endpoint.streams_url = STREAMS
        transport._http = ThroughRequests()  # type: ignore[assignment]
        self.store = opened.enter_context(Store(transport, sleep=self.time.sleep, **settings))


class Front:
    """One endpoint for all scenarios, before the engine of the one that runs."""

    def __init__(self) -> None:
        self.engine: Engine | None = None

    def submit(self, request: Request, done: Done, region: str | None = None) -> None:
        assert self.engine is not None
        self.engine.submit(request, done, region)

    @contextmanager
    def serve(self) -> Iterator[Front]:
        with serve_in_thread(cast(Any, self)) as self.url:
            yield self


@contextmanager
def open_place(kind: str, front: Front, *designs: System | Table) -> Iterator[Place]:
    """A store of that kind, with these tables."""
    with ExitStack() as opened:
        place = on_moto(opened) if kind == MOTO else on_an_engine(kind, front, opened)
        place.store.randomness = Random(1).randbytes
        if designs:
            assert place.run(setup(*designs)).pending == []
        yield place


def on_moto(opened: ExitStack) -> Place:
    moto = pytest.importorskip("moto", reason="moto is not installed")
    opened.enter_context(moto.mock_aws())
    return MotoPlace("blocking moto", opened, Time(), "")


def on_an_engine(kind: str, front: Front, opened: ExitStack) -> Place:
    time = Time()
    front.engine = opened.enter_context(
        Engine.memory(clock=time.seconds, shard_seconds=3600.0, housekeeping=False)
    )
    return Place(kind, opened, time, front.engine if kind in IN_PROCESS else front.url)


def kinds(moto_differs: str | None) -> list[Any]:
    marks = [pytest.mark.skip(reason=f"moto differs: {moto_differs}")] if moto_differs else []
    return [*ON_ENGINES, pytest.param(MOTO, marks=marks)]


def everywhere(
    *designs: System | Table, moto_differs: str | None = None
) -> Callable[[Scenario], Callable[[str, Front], None]]:
    """Makes a test of a scenario, for each place."""

    def make(scenario: Scenario) -> Callable[[str, Front], None]:
        @cache
        def run_at(kind: str, front: Front) -> Any:
            with open_place(kind, front, *designs) as place:
                return place.run(scenario())

        @pytest.mark.parametrize("kind", kinds(moto_differs))
        def test(kind: str, front: Front) -> None:
            assert run_at(kind, front) == run_at(REFERENCE, front)

        test.__doc__ = scenario.__doc__
        return test

    return make


def refusal(runnable: Runnable[Any]) -> Steps[str]:
    """The code of the domain error that steps end with; that they do is what is tested."""
    try:
        came = yield from steps_of(runnable)
    except DomainError as error:
        return error.code
    raise AssertionError(f"nothing was refused: {came!r}")
