"""Run after run until enough operations were compared; Hypothesis makes and shrinks them.

Hypothesis remembers what it has tried, so a campaign goes in rounds of some runs each. A round has
its own seed: what failed once fails again with the same seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from tests.reference.access import judge
from tests.reference.designs import CLASSIC_DESIGNS
from tests.reference.differences import DYNALITE, MOTO, Difference
from tests.reference.machine import Run, execute
from tests.reference.recovery import recover
from tests.reference.regions import WITHOUT_TOKENS, replicate
from tests.reference.settings import change_settings, settings_plans
from tests.reference.strategies import KINDS, STATEMENTS, Plan, plans
from tests.reference.targets import (
    Dynalite,
    Target,
    dynalite_server,
    engine_in_memory,
    moto_in_process,
)
from tests.reference.transfers import transfer, transfer_plans
from tests.reference.vectors import search_vectors, vector_plans

RUNS_PER_ROUND = 50
FEW_RUNS, FEW_STEPS = 6, 30
"""For runs that copy whole tables, or ask for many things."""
WITHOUT_PARTIQL = tuple(kind for kind in KINDS if kind not in STATEMENTS)
WITHOUT_TRANSACTIONS = tuple(
    kind for kind in WITHOUT_PARTIQL if not kind.startswith("transact") and kind != "replay"
)
WITHOUT_BINARY_KEYS = tuple(design for design in CLASSIC_DESIGNS if design.partition != "pb")


AnyPlan = TypeVar("AnyPlan")


class Compared(Protocol):
    """A run that is over: how many operations were compared, and how many excused."""

    performed: int
    excused: Counter[str]


@dataclass
class Tally:
    operations: int = 0
    runs: int = 0
    excused: Counter[str] = field(default_factory=Counter)

    def add(self, run: Compared) -> None:
        self.operations += run.performed
        self.runs += 1
        self.excused += run.excused


def against_model(
    operations: int, first_seed: int = 0, is_over: Callable[[], bool] = lambda: False
) -> Tally:
    """The engine against the model: no difference is explained."""

    def one(plan: Plan) -> Run:
        with engine_in_memory() as engine:
            return execute(plan, [engine])

    return campaign(operations, plans(), one, first_seed, is_over=is_over)


def with_copies(
    operations: int, first_seed: int = 0, is_over: Callable[[], bool] = lambda: False
) -> Tally:
    """Restored, backed up, exported and imported tables against the model of their moment."""
    chosen = plans(longest=FEW_STEPS)
    return campaign(operations, chosen, recover, first_seed, runs=FEW_RUNS, is_over=is_over)


def with_replicas(
    operations: int, first_seed: int = 0, is_over: Callable[[], bool] = lambda: False
) -> Tally:
    """Two regions against one model."""
    chosen = plans(kinds=WITHOUT_TOKENS, longest=FEW_STEPS)
    return campaign(operations, chosen, replicate, first_seed, runs=FEW_RUNS, is_over=is_over)


def with_policies(
    operations: int, first_seed: int = 0, is_over: Callable[[], bool] = lambda: False
) -> Tally:
    """A user's requests against the model, and against a small evaluator of policies."""
    return campaign(operations, plans(longest=FEW_STEPS), judge, first_seed, is_over=is_over)


def with_vectors(
    operations: int, first_seed: int = 0, is_over: Callable[[], bool] = lambda: False
) -> Tally:
    """Searches of vectors against distances worked out one by one."""
    return campaign(operations, vector_plans, search_vectors, first_seed, is_over=is_over)


def with_settings(
    operations: int, first_seed: int = 0, is_over: Callable[[], bool] = lambda: False
) -> Tally:
    """What is set of tables, against a model of their states."""
    return campaign(
        operations, settings_plans, change_settings, first_seed, runs=FEW_RUNS, is_over=is_over
    )


def with_transfers(
    operations: int, first_seed: int = 0, is_over: Callable[[], bool] = lambda: False
) -> Tally:
    """Exports, imports and bulk puts, against a model of how each runs and ends."""
    return campaign(
        operations, transfer_plans, transfer, first_seed, runs=FEW_RUNS, is_over=is_over
    )


def against_dynalite(
    operations: int, first_seed: int = 0, is_over: Callable[[], bool] = lambda: False
) -> Tally:
    with dynalite_server() as port:
        chosen = plans(CLASSIC_DESIGNS, WITHOUT_TRANSACTIONS)
        one = second_opinion(Dynalite(port), DYNALITE)
        return campaign(operations, chosen, one, first_seed, is_over=is_over)


def against_moto(
    operations: int, first_seed: int = 0, is_over: Callable[[], bool] = lambda: False
) -> Tally:
    with moto_in_process() as moto:
        one = second_opinion(moto, MOTO)
        chosen = plans(WITHOUT_BINARY_KEYS, WITHOUT_PARTIQL)
        return campaign(operations, chosen, one, first_seed, is_over=is_over)


def second_opinion(other: Target, rules: tuple[Difference, ...]) -> Callable[[Plan], Run]:
    def one(plan: Plan) -> Run:
        with engine_in_memory() as engine:
            return execute(plan, [engine, other], rules)

    return one


def campaign(
    operations: int,
    chosen: SearchStrategy[AnyPlan],
    one: Callable[[AnyPlan], Compared],
    first_seed: int,
    *,
    shrinks: bool = True,
    runs: int = RUNS_PER_ROUND,
    is_over: Callable[[], bool] = lambda: False,
) -> Tally:
    tally = Tally()
    phases = (Phase.generate, Phase.shrink) if shrinks else (Phase.generate,)
    options = settings(
        max_examples=runs,
        database=None,
        deadline=None,
        derandomize=False,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )

    def many(plan: AnyPlan) -> None:
        tally.add(one(plan))

    number = first_seed
    while tally.operations < operations and not is_over():
        seed(number)(options(given(chosen)(many)))()
        number += 1
    return tally
