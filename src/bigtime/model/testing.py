"""For tests of patterns: a fixture that tells their cost.

    def test_fetching_a_deal_is_half_a_unit(cost):
        assert cost(fetch_deal(deal_id)).read_units == 0.5

A conftest with `pytest_plugins = ["bigtime.model.testing"]` gives it to its tests.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import pytest

from bigtime.model.explanation import Explanation, explain
from bigtime.model.op import Runnable

T = TypeVar("T")


class Cost(Protocol):
    """Takes what `explain` takes."""

    def __call__(self, steps: Runnable[T], **assumed: Any) -> Explanation[T]: ...


def cost_of(steps: Runnable[T], **assumed: Any) -> Explanation[T]:
    """The explanation of steps that come to their end: of others the cost would say little."""
    explanation = explain(steps, **assumed)
    if explanation.ended is not None:
        raise explanation.ended
    return explanation


@pytest.fixture
def cost() -> Cost:
    """What a pattern would cost, without running it."""
    return cost_of
