"""The mutation check of P9 and P10: every site that is broken on purpose must be caught."""

from __future__ import annotations

from proofs import site_kills, site_load
from proofs.result import Result, result
from proofs.site_mutants import SITE_MUTANTS

BY_LOAD = {
    "leak",
    "fails sometimes",
    "never invalidates",
    "invalidates late",
    "idle worker",
    "uploads lost",
}
"""The mutants that show without a kill; the others are for P10 to catch."""
SECONDS = 4
PATIENCE = 6.0


def found_in(mutant: str, kills: int) -> Result:
    """The result of the proof that is meant to catch a mutant."""
    if mutant in BY_LOAD:
        return site_load.run(SECONDS, mutant=mutant, patience=PATIENCE)
    return site_kills.run(kills, mutant=mutant, patience=PATIENCE)


def run(kills: int) -> Result:
    found = {mutant: found_in(mutant, kills) for mutant in SITE_MUTANTS}
    missed = [mutant for mutant, each in found.items() if not each["violations"]]
    counts = {"mutants": len(found), "caught": len(found) - len(missed)}
    return result(counts, [f"{mutant} was not caught" for mutant in missed])
