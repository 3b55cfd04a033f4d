"""The pytest plugin: tests take these fixtures without a conftest.

Every test run loads this module where Bigtime is installed, whether or not it is about Bigtime. So
nothing of Bigtime is imported until a test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from bigtime.advisor import Cost
    from bigtime.model import System, Table
    from bigtime.store import AsyncStore, Store
    from bigtime.testing import Clock, Engine, Faults, Server


class StoreOpener(Protocol):
    """`bigtime_store(SYSTEM)`, or some tables; the options are those of `Store`."""

    def __call__(self, *designs: System | Table, **options: Any) -> Store: ...


class AsyncStoreOpener(Protocol):
    """`bigtime_async_store(SYSTEM)`; the options are those of `AsyncStore`."""

    def __call__(self, *designs: System | Table, **options: Any) -> AsyncStore: ...


@pytest.fixture
def pattern_cost() -> Cost:
    """What a pattern would cost, without running it."""
    from bigtime.advisor import cost_of

    return cost_of


@pytest.fixture
def bigtime_clock() -> Clock:
    """The clock of `bigtime_engine` and of the stores on it; `advance(days=91)` moves it."""
    from bigtime.testing import Clock

    return Clock()


@pytest.fixture
def bigtime_engine(bigtime_clock: Clock) -> Iterator[Engine]:
    """An empty engine in memory, of this test's own."""
    from bigtime.testing import Engine

    with Engine.memory(clock=bigtime_clock.seconds) as engine:
        yield engine


@pytest.fixture
def bigtime_intercept(bigtime_engine: Engine) -> Iterator[Engine]:
    """Every boto3 client of the process is answered by `bigtime_engine`, which this returns."""
    from bigtime.testing import intercept

    with intercept(engine=bigtime_engine):
        yield bigtime_engine


@pytest.fixture
def bigtime_faults(bigtime_engine: Engine) -> Faults:
    """The switches that make requests to `bigtime_engine` fail."""
    return bigtime_engine.faults


@pytest.fixture
def bigtime_store(bigtime_engine: Engine, bigtime_clock: Clock) -> Iterator[StoreOpener]:
    """`bigtime_store(SYSTEM)` makes the tables on `bigtime_engine` and returns a store."""
    from bigtime.model import setup
    from bigtime.store import Store

    opened: list[Store] = []

    def open_store(*designs: System | Table, **options: Any) -> Store:
        store = Store(bigtime_engine, **{"clock": bigtime_clock, **options})
        opened.append(store)
        store.run(setup(*designs))
        return store

    yield open_store
    for store in opened:
        store.close()


@pytest.fixture
def bigtime_async_store(bigtime_engine: Engine, bigtime_clock: Clock) -> AsyncStoreOpener:
    """As `bigtime_store`, for the event loop that runs the test."""
    from bigtime.model import setup
    from bigtime.store import AsyncStore, Store

    def open_store(*designs: System | Table, **options: Any) -> AsyncStore:
        Store(bigtime_engine).run(setup(*designs))
        return AsyncStore(bigtime_engine, **{"clock": bigtime_clock, **options})

    return open_store


@pytest.fixture(scope="session")
def bigtime_server() -> Iterator[Server]:
    """The server behind `bigtime_endpoint`: its `url`, its current `engine`, `reset()`."""
    from bigtime.testing import Server

    with Server() as server:
        yield server


@pytest.fixture(scope="session")
def bigtime_endpoint(bigtime_server: Server) -> str:
    """The URL of an endpoint of DynamoDB on a free port, for all tests of the session."""
    return bigtime_server.url


@pytest.fixture
def bigtime_reset(bigtime_server: Server) -> Callable[[], None]:
    """Empties `bigtime_endpoint` before the test, and again when it is called."""
    bigtime_server.reset()
    return bigtime_server.reset
