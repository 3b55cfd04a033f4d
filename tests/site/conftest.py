"""What the tests of the site can ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bigtime.engine import Engine
from tests.store.test_transports import certificate, tls
from tests.web.catalog.conftest import scene
from tests.web.conftest import passwords_hashed_quickly, templates_compiled_once

__all__ = ["certificate", "passwords_hashed_quickly", "scene", "templates_compiled_once", "tls"]


@pytest.fixture
def engine() -> Iterator[Engine]:
    """One that rests: stores have clocks of their own here, and by the engine's clock what they
    write may have expired long ago."""
    with Engine.memory(housekeeping=False) as engine:
        yield engine
