"""The mutation check of P11 to P17: each engine that does not endure must be caught."""

from __future__ import annotations

from collections.abc import Callable

from proofs import aged_streams, clock_steps, deleted_log, failing_chores, stopped
from proofs.endure_mutants import ENDURE_MUTANTS
from proofs.result import Result, result

CATCHERS: dict[str, Callable[[str, int], Result]] = {
    "no deadline": lambda mutant, effort: stopped.run(2 * effort, mutant=mutant),
    "any clock": lambda mutant, effort: clock_steps.run(10 * effort, mutant=mutant),
    "log not guarded": lambda mutant, effort: deleted_log.run(2 * effort, mutant=mutant),
    "walked horizon": lambda mutant, effort: aged_streams.run(20_000 * effort, mutant=mutant),
    "mortal keeper": lambda mutant, effort: failing_chores.run(effort, mutant=mutant),
}


def run(effort: int) -> Result:
    caught = [mutant for mutant in ENDURE_MUTANTS if CATCHERS[mutant](mutant, effort)["violations"]]
    missed = [f"{mutant} was not caught" for mutant in ENDURE_MUTANTS if mutant not in caught]
    return result({"mutants": len(ENDURE_MUTANTS), "mutants caught": len(caught)}, missed)
