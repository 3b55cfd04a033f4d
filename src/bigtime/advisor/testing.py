"""For tests of patterns: what they cost.

    from bigtime.advisor import Cost

    def test_fetching_a_deal_is_half_a_unit(pattern_cost: Cost) -> None:
        assert pattern_cost(fetch_deal(deal_id)).read_units == 0.5

Where Bigtime is installed, pytest has the fixture `pattern_cost`; without pytest, call `cost_of`.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from bigtime.advisor.explanation import Explanation, explain
from bigtime.model import Runnable

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
