"""P7: the engine does what a model of DynamoDB predicts, and what dynalite and moto do.

The model is written from AWS's documentation and shares nothing with the engine (see
`tests/reference`); it also predicts tables that are restored, imported, put in bulk and
replicated, PartiQL statements, the nearest vectors, what a user's policies allow, table settings
(insights, tags, backups, streams and so on), and how exports, imports and bulk puts run and end.
Every difference between the engine and the model is a violation; one between the engine and a
second opinion is too, unless `tests/reference/differences.py` explains it.
"""

from __future__ import annotations

from collections.abc import Callable

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
    with_settings,
    with_transfers,
    with_vectors,
)
from tests.reference.targets import why_no_dynalite

MOTO_SHARE = 4
"""moto is slow and shares less with AWS than dynalite: it gets a fourth of the operations."""

COPIES_SHARE = 20
"""Runs with copies of whole tables take some twenty times as long."""

WITH = ("copies", "replicas", "policies", "vectors", "settings", "transfers")
SEEDS_APART = 1_000_000
Campaign = Callable[[int, int, Callable[[], bool]], Tally]


def run(operations: int, second_opinion: int, *, seed: int = 1) -> Result:
    counts: dict[str, int] = {}
    violations: list[str] = []
    reason = why_no_dynalite()
    compared: list[tuple[str, int, Campaign]] = [
        ("copies", operations // COPIES_SHARE, with_copies),
        ("replicas", operations // COPIES_SHARE, with_replicas),
        ("policies", operations // MOTO_SHARE, with_policies),
        ("vectors", operations // MOTO_SHARE, with_vectors),
        ("settings", operations // MOTO_SHARE, with_settings),
        ("transfers", operations // MOTO_SHARE, with_transfers),
        ("moto", second_opinion // MOTO_SHARE, against_moto),
    ]
    if reason is None:
        compared.append(("dynalite", second_opinion, against_dynalite))
    compared.append(("the model", operations, against_model))  # gets all the time that is left
    for number, (name, wanted, campaign) in enumerate(compared):
        is_over = pace.begin_part(len(compared) - number)
        try:
            tally = campaign(wanted, seed * SEEDS_APART, is_over)
        except Exception as found:  # a difference, or an exception that an engine must never raise
            violations.append(f"against {name}: {type(found).__name__}: {found}")
        else:
            word = "with" if name in WITH else "against"
            counts[f"operations {word} {name}"] = tally.operations
            if name in ("moto", "dynalite"):
                counts[f"explained differences from {name}"] = tally.excused.total()
    return result(counts, violations, [reason] if reason else None)
