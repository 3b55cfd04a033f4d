"""One suite for every place where a system can run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import System, setup
from bigtime.store import Retries, Store
from tests.furnished import Furnish, furnished_engine
from tests.store import places
from tests.store.places import IN_PROCESS, NETWORKED, Place, Time

FAULTY = "blocking engine, with faults"
LAGGING = "blocking engine, with indexes that lag"


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def engine(request: pytest.FixtureRequest, time: Time) -> Iterator[Engine]:
    """An engine whose clock is the test's, and which rests; it has the tables of the test's
    `SYSTEM` where a place stands on it."""
    settings: dict[str, Any] = {"clock": time.seconds, "shard_seconds": 3600.0}
    if {"place", "alone"} & set(request.fixturenames):
        furnish = create_tables_of(request.module.SYSTEM)
        engine = furnished_engine(furnish, housekeeping=False, **settings)
    else:
        engine = Engine.memory(housekeeping=False, **settings)
    with engine:
        yield engine


@cache
def create_tables_of(system: System) -> Furnish:
    return lambda engine: Store(engine).run(setup(system))


@pytest.fixture(params=(*IN_PROCESS, *NETWORKED, FAULTY, LAGGING))
def place(request: pytest.FixtureRequest, engine: Engine, time: Time) -> Iterator[Place]:
    """A store with the tables of the test's `SYSTEM`: blocking and awaited, in process and over
    HTTP, on an engine that throttles, conflicts and leaves items unprocessed, and on one whose
    indexes do not follow while a pattern runs."""
    kind, _, _ = request.param.partition(", ")
    with places.place(kind, engine, time) as place:
        prepare(place)
        if request.param == FAULTY:
            disturb(engine)
        if request.param == LAGGING:
            let_indexes_lag(place, engine)
        yield place


@pytest.fixture
def alone(request: pytest.FixtureRequest, engine: Engine, time: Time) -> Iterator[Place]:
    """One place only, in process, for what does not depend on where."""
    with places.place(IN_PROCESS[0], engine, time) as place:
        prepare(place)
        yield place


def prepare(place: Place) -> None:
    place.store.randomness = Random(1).randbytes
    place.store.retries = Retries(attempts=20, draw=lambda: 1.0)


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
