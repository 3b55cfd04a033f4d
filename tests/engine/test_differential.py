"""P7 in short form: the engine does what a small model of DynamoDB foretells, 5,000 times and more.

The model, and how a failure reads, is in `tests/reference`. `make test` runs a fifth of
this, `make proofs` the long form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bigtime.engine import partiql
from bigtime.engine.operations import READS, WRITES
from bigtime.wire import Request, Response, Transport
from tests.reference import mutants
from tests.reference.access import judge
from tests.reference.campaign import (
    Tally,
    against_model,
    campaign,
    with_copies,
    with_policies,
    with_replicas,
    with_settings,
    with_transfers,
    with_vectors,
)
from tests.reference.designs import DESIGNS
from tests.reference.machine import Run, execute
from tests.reference.mutants import MUTANTS, Mutant
from tests.reference.operations import Call
from tests.reference.recovery import recover
from tests.reference.regions import replicate
from tests.reference.settings import change_settings, settings_plans
from tests.reference.strategies import KINDS, Plan, Seed, plans
from tests.reference.targets import Engine, engine_in_memory
from tests.reference.transfers import transfer, transfer_plans
from tests.reference.vectors import search_vectors, vector_plans

PARTS = 5
OPERATIONS_PER_PART = 1_100
OPERATIONS_FOR_A_MUTANT = 5_000
OPERATIONS_WITH_COPIES = 100
OPERATIONS_ON_SETTINGS = 1_000
SEEDS_PER_PART = 1_000
SELDOM = {"loses an item of a long page"}
"""Mutants that only a long run meets."""


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.proof) for part in range(1, PARTS))]
)
def test_the_engine_does_what_the_model_foretells(part: int) -> None:
    tally = against_model(OPERATIONS_PER_PART, first_seed=part * SEEDS_PER_PART)
    assert tally.operations >= OPERATIONS_PER_PART
    assert not tally.excused


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(name, marks=pytest.mark.proof if name in SELDOM else ()) for name in MUTANTS],
)
def test_an_engine_that_is_slightly_wrong_is_caught(mutant: str) -> None:
    def one(plan: Plan) -> Run:
        with engine_in_memory() as engine:
            return execute(plan, [Engine(MUTANTS[mutant](engine.transport))])

    with pytest.raises(AssertionError, match="engine: "):
        campaign(OPERATIONS_FOR_A_MUTANT, plans(), one, first_seed=0, shrinks=False)


@pytest.mark.parametrize("compare", [with_copies, with_replicas, with_policies, with_vectors])
def test_copies_replicas_policies_and_vectors_do_what_the_model_foretells(
    compare: Callable[[int, int], Tally],
) -> None:
    assert compare(OPERATIONS_WITH_COPIES, 0).operations >= OPERATIONS_WITH_COPIES


@pytest.mark.parametrize(
    ("run", "mutant"),
    [
        *((recover, mutant) for mutant in mutants.COPIES.values()),
        *((replicate, mutant) for mutant in mutants.REPLICAS.values()),
        *((judge, mutant) for mutant in mutants.USERS.values()),
    ],
    ids=[*mutants.COPIES, *mutants.REPLICAS, *mutants.USERS],
)
def test_wrong_copies_replicas_and_policies_are_caught(
    run: Callable[[Plan, Mutant], Run], mutant: Mutant
) -> None:
    with pytest.raises(AssertionError):
        campaign(
            OPERATIONS_FOR_A_MUTANT,
            plans(kinds=tuple(set(KINDS) - {"replay"}), longest=40),
            lambda plan: run(plan, mutant),
            first_seed=0,
            shrinks=False,
        )


@pytest.mark.parametrize("compare", [with_settings, with_transfers])
def test_settings_of_tables_and_transfers_are_what_the_model_foretells(
    compare: Callable[[int], Tally],
) -> None:
    assert compare(OPERATIONS_ON_SETTINGS).operations >= OPERATIONS_ON_SETTINGS


def test_every_operation_of_the_engine_is_compared_with_the_model() -> None:
    asked: set[str] = set()

    def note(engine: Transport) -> Transport:
        def answer(request: Request) -> Response:
            asked.add(request.operation)
            return engine(request)

        return answer

    def perform(plan: Plan) -> Run:
        with engine_in_memory() as engine:
            return execute(plan, [Engine(note(engine.transport))])

    parts: list[tuple[Any, Callable[[Any], Any], int]] = [
        (plans(), perform, 50),
        (plans(longest=3), lambda plan: recover(plan, note), 1),
        (vector_plans, lambda plan: search_vectors(plan, note), 5),
        (settings_plans, lambda plan: change_settings(plan, note), 25),
        (transfer_plans, lambda plan: transfer(plan, note), 10),
    ]
    for chosen, run, runs in parts:
        campaign(1, chosen, run, first_seed=0, shrinks=False, runs=runs)
    assert asked == READS.keys() | WRITES.keys() | partiql.WRITES.keys()


@pytest.mark.parametrize(
    ("plans", "compare", "mutant"),
    [
        *((vector_plans, search_vectors, mutant) for mutant in mutants.SEARCHES.values()),
        *((settings_plans, change_settings, mutant) for mutant in mutants.SETTINGS.values()),
        *((transfer_plans, transfer, mutant) for mutant in mutants.TRANSFERS.values()),
    ],
    ids=[*mutants.SEARCHES, *mutants.SETTINGS, *mutants.TRANSFERS],
)
def test_wrong_searches_settings_and_transfers_are_caught(
    plans: Any, compare: Callable[[Any, Mutant], Run], mutant: Mutant
) -> None:
    with pytest.raises(AssertionError, match="engine: "):
        campaign(
            OPERATIONS_FOR_A_MUTANT,
            plans,
            lambda plan: compare(plan, mutant),
            first_seed=0,
            shrinks=False,
        )


def test_one_seed_always_makes_the_same_requests() -> None:
    seeds = [Seed(kind, 3, number) for kind in set(KINDS) - {"replay"} for number in range(5)]
    for seed in seeds:
        first, again = seed.operation(DESIGNS), seed.operation(DESIGNS)
        assert isinstance(first, Call)
        assert isinstance(again, Call)
        assert first.request() == again.request()
