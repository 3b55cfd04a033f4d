"""What several files of the engine's tests ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bigtime.engine import Engine
from tests.engine.calls import Clock
from tests.engine.streams import Streaming


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[Engine]:
    """One engine for the examples of a law; each makes a table of its own."""
    with Engine.memory(housekeeping=False) as engine:
        yield engine


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    """The bucket of exports and imports beside `films.db`."""
    folder = tmp_path / "films.db-s3" / "films-bucket"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def notes() -> Iterator[Streaming]:
    streaming = Streaming()
    yield streaming
    streaming.engine.close()


@pytest.fixture
def single() -> Iterator[Streaming]:
    """One shard, so that a test knows where its records are."""
    streaming = Streaming(shards=1)
    yield streaming
    streaming.engine.close()
