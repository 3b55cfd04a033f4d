"""One suite for every place where a store can stand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bigtime.engine import Engine
from tests.store import places
from tests.store.places import IN_PROCESS, NETWORKED, Place, Time


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def engine(time: Time) -> Iterator[Engine]:
    """An engine whose clock is the test's, whose shards last an hour, and which rests."""
    with Engine.memory(clock=time.seconds, shard_seconds=3600.0, housekeeping=False) as engine:
        yield engine


@pytest.fixture(params=IN_PROCESS + NETWORKED)
def place(request: pytest.FixtureRequest, engine: Engine, time: Time) -> Iterator[Place]:
    """A store on that engine: blocking and awaited, in process and over HTTP."""
    with places.place(request.param, engine, time) as place:
        yield place


@pytest.fixture
def things(place: Place) -> Place:
    """A store with a table `Things`."""
    place.run(places.create())
    place.exchanges.clear()
    return place


@pytest.fixture
def streamed_place(place: Place) -> Place:
    """A store with a table `Things` that has a stream."""
    place.run(places.create(StreamSpecification=places.STREAM))
    place.exchanges.clear()
    return place
