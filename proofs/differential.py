"""P7: the engine does what a model of DynamoDB foretells, and what dynalite and moto say.

The model is written from AWS's documentation and shares nothing with the engine (see
`tests/reference`); it also foretells restored, imported and replicated tables, statements of
PartiQL, and what a user's policies allow. Every difference between the engine and the model is a
violation; one between the engine and a second opinion is, unless `tests/reference/differences.py`
explains it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from proofs import pace
from proofs.result import Result, result
from tests.reference.campaign import (
    Tally,
    against_dynalite,
    against_model,
    against_moto,
    with_copies,
    with_policies,
    with_replicas,
)
from tests.reference.targets import why_no_dynalite

MOTO_SHARE = 4
"""moto is slow and shares less with AWS than dynalite: it gets a fourth of the operations."""

COPIES_SHARE = 20
"""Runs with copies of whole tables take some twenty times as long."""

WITH = ("copies", "replicas", "policies")
SEEDS_APART = 1_000_000


def run(operations: int, second_opinion: int, *, seed: int = 1) -> Result:
    counts: dict[str, int] = {}
    violations: list[str] = []
    reason = why_no_dynalite()
    compared: list[tuple[str, int, Callable[[int, int], Tally]]] = [
        ("the model", operations, partial(against_model, is_over=pace.is_over)),
        ("copies", operations // COPIES_SHARE, partial(with_copies, is_over=pace.is_over)),
        ("replicas", operations // COPIES_SHARE, partial(with_replicas, is_over=pace.is_over)),
        ("policies", operations // MOTO_SHARE, partial(with_policies, is_over=pace.is_over)),
        ("moto", second_opinion // MOTO_SHARE, against_moto),
    ]
    if reason is None:
        compared.append(("dynalite", second_opinion, against_dynalite))
    for name, wanted, campaign in compared:
        try:
            tally = campaign(wanted, seed * SEEDS_APART)
        except Exception as found:  # a difference, or what should never leave an engine
            violations.append(f"against {name}: {type(found).__name__}: {found}")
        else:
            word = "with" if name in WITH else "against"
            counts[f"operations {word} {name}"] = tally.operations
            if name in ("moto", "dynalite"):
                counts[f"explained differences from {name}"] = tally.excused.total()
    return result(counts, violations, [reason] if reason else None)
