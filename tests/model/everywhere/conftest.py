"""What all scenarios share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.model.everywhere.scenario import Front


@pytest.fixture(scope="session")
def front() -> Iterator[Front]:
    with Front().serve() as front:
        yield front
