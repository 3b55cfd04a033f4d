"""One suite for every place where a system can run."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from bigtime.engine import Engine
from bigtime.model import System, setup
from bigtime.store import Retries
from tests.store import places
from tests.store.places import IN_PROCESS, NETWORKED, Place, Time

FAULTY = "blocking engine, with faults"


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def engine(time: Time) -> Iterator[Engine]:
    """An engine whose clock is the test's, and which rests."""
    with Engine.memory(clock=time.seconds, shard_seconds=3600.0, housekeeping=False) as engine:
        yield engine


@pytest.fixture(params=(*IN_PROCESS, *NETWORKED, FAULTY))
def place(request: pytest.FixtureRequest, engine: Engine, time: Time) -> Iterator[Place]:
    """A store with the tables of the test's `SYSTEM`: blocking and awaited, in process and over
    HTTP, and on an engine that throttles, conflicts and leaves items unprocessed."""
    kind, _, faults = request.param.partition(", ")
    with places.place(kind, engine, time) as place:
        prepare(place, request.module.SYSTEM)
        if faults:
            disturb(engine)
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
