"""Every proof with its lengths: `make proofs SHORT=1`, `make proofs` and `make proofs RELEASE=1`.

What each promises is stated in the module that implements it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Literal

from proofs import (
    aborted,
    aged_streams,
    caught,
    clock_steps,
    deleted_log,
    endure_caught,
    failing_chores,
    full_disk,
    histories,
    kills,
    leftovers,
    pace,
    requests,
    rot,
    stopped,
    syncs,
    torn,
    transactions,
)
from proofs.result import Result

Length = Literal["short", "full", "release"]


@dataclass(frozen=True, slots=True)
class Proof:
    """`bar` is what must hold; `run` takes the number of trials."""

    what: str
    bar: str
    run: Callable[[int], Result]
    short: int
    full: int
    release: int

    def result(self, length: Length) -> Result:
        """Runs the proof; at release length it ends after an hour, however far it has come."""
        pace.begin(pace.LONGEST_SECONDS if length == "release" else inf)
        found = self.run({"short": self.short, "full": self.full, "release": self.release}[length])
        if pace.was_cut():
            found["skipped"].append("the rest, for it was cut after an hour")
        return found


def compare(operations: int) -> Result:
    """A tenth of the operations also goes to the other engines."""
    from proofs import differential  # slow to import: it needs moto and Hypothesis

    return differential.run(operations, operations // 10)


def prove_restores(restores: int) -> Result:
    from proofs import restores as proof  # slow to import: it needs the systems

    return proof.run(restores)


def kill_backups(kills: int) -> Result:
    from proofs import backups

    return backups.run(kills)


def kill_regions(kills: int) -> Result:
    from proofs import regions

    return regions.run(kills)


def use_site(seconds: int) -> Result:
    from proofs import site_load  # slow to import: it needs the whole site

    return site_load.run(seconds)


def kill_site(kills: int) -> Result:
    from proofs import site_kills

    return site_kills.run(kills)


def attack_site(rounds: int) -> Result:
    from proofs import site_aborted

    return site_aborted.run(rounds)


def break_site(kills: int) -> Result:
    from proofs import site_caught

    return site_caught.run(kills)


PROOFS = {
    "kills": Proof(
        "P1: kill -9 amid writes",
        "0 acknowledged writes lost, 0 half transactions, index = base = stream",
        kills.run,
        short=60,
        full=300,
        release=10_000,
    ),
    "torn": Proof(
        "P2: power cuts, torn and damaged logs",
        "a prefix of the commits, with every commit synced before the damage",
        torn.run,
        short=1_000,
        full=5_000,
        release=100_000,
    ),
    "syncs": Proof(
        "P3: syncs, seen by a VFS and by strace",
        "0 acknowledgements before their sync, syncs <= commits",
        syncs.run,
        short=400,
        full=4_000,
        release=40_000,
    ),
    "full_disk": Proof(
        "P4: full and failing disks",
        "the writer is told to retry, reads go on, writes resume with room",
        full_disk.run,
        short=5,
        full=50,
        release=500,
    ),
    "histories": Proof(
        "P5: linearizability of an item",
        "0 histories that no order explains, every broken transport caught",
        lambda count: histories.run(count, mutated=max(20, count // 20)),
        short=500,
        full=2_000,
        release=50_000,
    ),
    "transactions": Proof(
        "P6: transactions under kill -9",
        "strictly serializable, no token applied twice, money constant",
        transactions.run,
        short=2_000,
        full=20_000,
        release=1_000_000,
    ),
    "differential": Proof(
        "P7: operations compared with a reference model",
        "0 unexplained differences",
        compare,
        short=2_000,
        full=20_000,
        release=1_000_000,
    ),
    "requests": Proof(
        "P8: odd and hostile requests over HTTP",
        "0 answers of 5xx, 0 over 1 s, memory in use grows by less than 50 MB",
        requests.run,
        short=5_000,
        full=50_000,
        release=1_000_000,
    ),
    "site_load": Proof(
        "P9: the site under load",
        "every answer as expected, consumers keep up, memory grows by under 8 MB + 1 MB a minute",
        use_site,
        short=4,
        full=60,
        release=1_800,
    ),
    "site_kills": Proof(
        "P10: kill -9 of the site amid checkouts",
        "0 acknowledged orders lost, one order for one checkout, every message once",
        kill_site,
        short=3,
        full=20,
        release=200,
    ),
    "stopped": Proof(
        "P11: processes stopped amid writes",
        "nobody hangs, a refused writer learns who holds the lock, 0 acknowledged writes lost",
        stopped.run,
        short=6,
        full=60,
        release=1_000,
    ),
    "clock_steps": Proof(
        "P12: clocks that are set and set right again",
        "nothing expires early, nothing stays for good, stamps never go back",
        clock_steps.run,
        short=100,
        full=1_000,
        release=20_000,
    ),
    "deleted_log": Proof(
        "P14: logs deleted under a running engine",
        "0 acknowledgements after it, 0 earlier ones lost where one file is left",
        deleted_log.run,
        short=15,
        full=150,
        release=2_000,
    ),
    "site_aborted": Proof(
        "P15: endless, aborted and slow requests at the site",
        "each is refused, visitors get every page, memory stays, the mutant caught",
        attack_site,
        short=1,
        full=10,
        release=200,
    ),
    "aged_streams": Proof(
        "P16: streams opened a day late",
        "at most twice the CPU of a fresh file, old records trimmed, new ones kept",
        aged_streams.run,
        short=100_000,
        full=500_000,
        release=2_000_000,
    ),
    "failing_chores": Proof(
        "P17: housekeeping with chores that fail",
        "all that can be done is done, the log stays short, the threads live",
        failing_chores.run,
        short=2,
        full=20,
        release=200,
    ),
    "restores": Proof(
        "P18: restores to random commits",
        "every restored table and index equals the model, every mutant caught",
        prove_restores,
        short=40,
        full=1_000,
        release=20_000,
    ),
    "backups": Proof(
        "P19: backups under load with kill -9",
        "0 half backups, tables at one commit, 0 acknowledged writes missing, the mutant caught",
        kill_backups,
        short=3,
        full=40,
        release=500,
    ),
    "regions": Proof(
        "P20: a region killed amid load",
        "RPO under 1 s, 0 writes lost in sync mode, RTO under 60 s, every mutant caught",
        kill_regions,
        short=2,
        full=40,
        release=500,
    ),
    "leftovers": Proof(
        "P21: what was deleted leaves the file",
        "0 secrets in the file after a checkpoint, nothing else lost, every mutant caught",
        leftovers.run,
        short=10,
        full=200,
        release=5_000,
    ),
    "rot": Proof(
        "P13: bit rot and torn pages",
        "0 wrong answers, every damage told as damage, the mutant caught",
        rot.run,
        short=200,
        full=3_000,
        release=100_000,
    ),
    "aborted": Proof(
        "P15: aborted, slow and grown requests at the endpoint",
        "memory back at once, one limit for all bodies, nobody stalled, every mutant caught",
        aborted.run,
        short=1,
        full=10,
        release=200,
    ),
    "caught": Proof(
        "Mutants: builds broken on purpose",
        "each caught by every proof that can see it",
        caught.run,
        short=3,
        full=10,
        release=20,
    ),
    "endure_caught": Proof(
        "Mutants: engines that do not endure",
        "each caught by its proof, of P11 to P17",
        endure_caught.run,
        short=2,
        full=4,
        release=8,
    ),
    "site_caught": Proof(
        "Mutants: sites broken on purpose",
        "each caught by P9 or P10",
        break_site,
        short=2,
        full=6,
        release=12,
    ),
}
