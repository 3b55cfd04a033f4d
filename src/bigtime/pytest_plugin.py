"""The pytest plugin: tests take the fixture `pattern_cost` without a conftest.

Every test run loads this module where Bigtime is installed, whether or not it is about Bigtime. So
nothing of Bigtime is imported until a test asks for the fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bigtime.advisor import Cost


@pytest.fixture
def pattern_cost() -> Cost:
    """What a pattern would cost, without running it."""
    from bigtime.advisor import cost_of

    return cost_of
