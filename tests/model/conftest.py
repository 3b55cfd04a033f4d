"""What the tests of the model kit run their steps on."""

from __future__ import annotations

import pytest

from bigtime.engine import Engine
from tests.model.world import World


@pytest.fixture
def world(engine: Engine, request: pytest.FixtureRequest) -> World:
    """An engine with the tables that the test's module names in `TABLES`."""
    return World(engine, *request.module.TABLES)
