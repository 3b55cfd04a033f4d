"""One suite for every place where a system can run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import System, setup
from bigtime.store import Retries
from tests.store import places
from tests.store.places import IN_PROCESS, NETWORKED, Place, Time

FAULTY = "blocking engine, with faults"
LAGGING = "blocking engine, with indexes that lag"


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def engine(time: Time) -> Iterator[Engine]:
    """An engine whose clock is the test's, and which rests."""
    with Engine.memory(clock=time.seconds, shard_seconds=3600.0, housekeeping=False) as engine:
        yield engine


@pytest.fixture(params=(*IN_PROCESS, *NETWORKED, FAULTY, LAGGING))
def place(request: pytest.FixtureRequest, engine: Engine, time: Time) -> Iterator[Place]:
    """A store with the tables of the test's `SYSTEM`: blocking and awaited, in process and over
    HTTP, on an engine that throttles, conflicts and leaves items unprocessed, and on one whose
    indexes do not follow while a pattern runs."""
    kind, _, _ = request.param.partition(", ")
    with places.place(kind, engine, time) as place:
        prepare(place, request.module.SYSTEM)
        if request.param == FAULTY:
            disturb(engine)
        if request.param == LAGGING:
            let_indexes_lag(place, engine)
        yield place


@pytest.fixture
def alone(request: pytest.FixtureRequest, engine: Engine, time: Time) -> Iterator[Place]:
    """One place only, in process, for what does not depend on where."""
    with places.place(IN_PROCESS[0], engine, time) as place:
        prepare(place, request.module.SYSTEM)
        yield place


def prepare(place: Place, system: System) -> None:
    place.store.randomness = Random(1).randbytes
    place.store.retries = Retries(attempts=20, draw=lambda: 1.0)
    place.run(setup(system))


def disturb(engine: Engine) -> None:
    engine.faults.seed(1)
    engine.faults.throttle(rate=0.2)
    engine.faults.conflict(rate=0.2)
    engine.faults.leave_unprocessed(rate=0.3)


def let_indexes_lag(place: Place, engine: Engine) -> None:
    """What runs sees the indexes as they were when it began, whatever it writes."""

    def lagging(run: Callable[..., Any]) -> Callable[..., Any]:
        def run_behind(*arguments: Any) -> Any:
            engine.faults.lag_indexes(seconds=float("inf"))
            return run(*arguments)

        return run_behind

    consumer = place.consumer
    place.run = lagging(place.run)  # type: ignore[method-assign]
    place.consumer = lambda *told, **more: lagging(consumer(*told, **more))  # type: ignore[method-assign]
