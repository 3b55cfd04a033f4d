"""What each access pattern costs: its capacity is counted under the pattern's own name.

Steps are generators, one within another, and each knows the code that it runs. So when they stop
at a request, the chain from the outermost to the innermost tells which pattern wants it: the
innermost one that is a pattern of a system. What the site asks for by itself goes by `site`.

Steps that run together are chains of their own, so they are told whose they are. And every request
that can tell its capacity is asked to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final, TypeAlias, TypedDict, TypeVar

from bigtime.site import SYSTEMS
from bigtime.store import Begins, Exchange, Hook, Run, Wanted
from bigtime.wire import Request, Steps, Together

T = TypeVar("T")

TELLING: Final = frozenset(
    {
        "GetItem",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "Query",
        "Scan",
        "BatchGetItem",
        "BatchWriteItem",
        "TransactGetItems",
        "TransactWriteItems",
    }
)
"""The operations that can be asked what they consumed."""
ASKED: Final = "ReturnConsumedCapacity"
SITE: Final = "site"

NAMES: Final[Mapping[CodeType, str]] = {
    function.__code__: f"{system.name}.{function.__name__}"
    for system in SYSTEMS
    for function in (
        *(one.function for one in system.patterns.values()),
        *(one.function for one in system.reactions.values()),
    )
}
"""`deals.fetch_deal`, by the code of every pattern, and of what the systems do about changes."""

Spent: TypeAlias = Callable[[str, float], None]
"""Told the name of a pattern, and the units that one of its requests consumed."""


class Metering(TypedDict):
    """The options of a store that is metered."""

    begins: Begins
    hooks: list[Hook]


def metering(spent: Spent, *hooks: Hook) -> Metering:
    """Makes a store tell what each request consumed: `Store(engine, **metering(spent))`."""

    def told(exchange: Exchange) -> None:
        if isinstance(exchange.request, NamedRequest) and exchange.error is None:
            units = sum(one.get("CapacityUnits", 0.0) for one in exchange.consumed)
            spent(exchange.request.name, units)

    return {"begins": NamingRun, "hooks": [told, *hooks]}


@dataclass(frozen=True, slots=True)
class NamedRequest(Request):
    """A request that says which pattern wants it, and asks what it costs."""

    name: str


class NamingRun(Run[T]):
    """Steps under way, whose requests are named."""

    __slots__ = ()

    def _move(self, move: Callable[[Any], Any], value: object) -> Wanted | None:
        wanted = super()._move(move, value)
        if isinstance(wanted, Request):
            if wanted.operation in TELLING and ASKED not in wanted.params:
                params = {**wanted.params, ASKED: "TOTAL"}
                return NamedRequest(wanted.operation, params, name_of(self.steps))
        elif isinstance(wanted, Together):
            name = name_of(self.steps)
            return Together(tuple(within(name, one) for one in wanted.steps))
        return wanted


def within(name: str, steps: Steps[T]) -> Steps[T]:
    """Steps that belong to a pattern, though their chain does not begin with it."""
    return (yield from steps)


def name_of(steps: Any) -> str:
    """The innermost pattern in a chain of steps that has stopped."""
    name = SITE
    while (code := getattr(steps, "gi_code", None)) is not None:
        if code is within.__code__:
            name = steps.gi_frame.f_locals["name"]
        else:
            name = NAMES.get(code, name)
        steps = steps.gi_yieldfrom
    return name
