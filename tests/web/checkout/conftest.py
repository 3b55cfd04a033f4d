"""What the tests of the checkout can ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.cart.scene import Scene
from tests.web.cart.scene import scene as opened


@pytest.fixture
def scene() -> Iterator[Scene]:
    with opened() as scene:
        yield scene
