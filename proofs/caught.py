"""The mutation check: every build that is broken on purpose must be caught.

A proof may be blind to some mutants, and has to be: a kill -9 cannot tell whether a commit was
synced. So the expectation for each proof is written down, and a proof that no longer catches what
it used to is a violation too.
"""

from __future__ import annotations

from proofs import kills, syncs, torn
from proofs.mutants import MUTANTS
from proofs.result import Result, result

CATCHERS = {
    "no sync": {"torn", "syncs"},
    "index apart": {"kills", "torn"},
    "acknowledged early": {"kills", "torn", "syncs"},
}


def caught_by(mutant: str, effort: int) -> set[str]:
    """The proofs that catch a mutant."""
    found = {
        "kills": kills.run(10 * effort, mutant=mutant),
        "torn": torn.run(400 * effort, mutant=mutant),
        "syncs": syncs.run(40 * effort, mutant=mutant),
    }
    return {proof for proof, result in found.items() if result["violations"]}


def run(effort: int) -> Result:
    counts: dict[str, int] = {"mutants": len(MUTANTS)}
    violations: list[str] = []
    for mutant in MUTANTS:
        caught = caught_by(mutant, effort)
        counts[f"proofs caught {mutant!r}"] = len(caught)
        missing = CATCHERS[mutant] - caught
        if missing:
            violations.append(f"{mutant} was not caught by {', '.join(sorted(missing))}")
    return result(counts, violations)
