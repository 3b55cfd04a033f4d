"""Access patterns: a name in the chart, and the generator that carries it out.

    @pattern("Fetch Deal", index="Main table")
    def fetch_deal(deal_id: DealId) -> Steps[Deal]:
        \"\"\"GetItem on the deal's id.\"\"\"
        return (yield from get(Deal.key(deal_id), missing=UnknownDeal))

The decorator does not change the function: it wraps it in a value that can be called, listed,
charted, explained and charged. A system finds its patterns in its modules; nothing registers
itself anywhere.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, ParamSpec, TypeVar

from bigtime.model.errors import DesignError
from bigtime.model.tracking import TRACKED, remember
from bigtime.wire import PatternName, Steps, name_steps

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Pattern(Generic[P, T]):
    """One row of an access-pattern chart, and how to run it."""

    title: str
    """Its row in the chart."""
    index: str
    """The indexes it uses, as named in the chart."""
    function: Callable[P, Steps[T]]
    """The generator function that was decorated."""
    sample: Mapping[str, Any]
    """Arguments for a dry run."""
    accepted: Mapping[str, str] = field(default_factory=dict)
    """Findings of `bigtime check` that are intended, and why."""
    takes: str | None = None
    """The parameters as the chart shows them, if given."""
    name: PatternName = field(init=False)
    """Its name in Python and on the command line; its steps carry it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", PatternName.of(self.function))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Steps[T]:
        steps = name_steps(self.function(*args, **kwargs), self.name)
        if TRACKED:
            remember(steps, sys._getframe(1))
        return steps

    @property
    def notes(self) -> str:
        """The first paragraph of its docstring."""
        first, _, _ = (inspect.getdoc(self.function) or "").partition("\n\n")
        return " ".join(first.split())

    @property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """The parameters of the function."""
        return tuple(inspect.signature(self.function, eval_str=True).parameters.values())


def pattern(
    title: str,
    *,
    index: str,
    sample: Mapping[str, Any] | None = None,
    accepted: Mapping[str, str] | None = None,
    takes: str | None = None,
) -> Callable[[Callable[P, Steps[T]]], Pattern[P, T]]:
    """Makes a generator function a pattern; `sample` holds arguments for a dry run.

    `index` is the chart's text: `Main table`, an index's name, or several with commas.
    `accepted` maps findings of `bigtime check` that are intended to the reason:
    `{"scan": "every user gets the message"}`. `takes` is the chart's text for the parameters,
    where their names are not enough.
    """

    def make(function: Callable[P, Steps[T]]) -> Pattern[P, T]:
        check_generator(function, "a pattern")
        return Pattern(title, index, function, dict(sample or {}), dict(accepted or {}), takes)

    return make


def check_generator(function: Callable[..., object], what: str) -> None:
    if not inspect.isgeneratorfunction(function):
        raise DesignError(
            f"{function.__name__} is not a generator: {what} yields its operations with"
            " `yield from`"
        )
