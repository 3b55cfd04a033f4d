"""Runs on tables with a replica: each operation in one of two regions, all against one model.

Replication is finished before the region changes, so that both regions are one table, and the
model needs to know nothing of regions. Tokens hold in one region only
(developerguide/V2globaltables_HowItWorks.html), so that no transaction is replayed here.
"""

from __future__ import annotations

from collections.abc import Callable

from bigtime.engine import Engine as Store
from bigtime.wire import Request, Transport
from tests.reference.machine import Run
from tests.reference.strategies import KINDS, Plan
from tests.reference.targets import Engine

AWAY = "eu-west-1"
WITHOUT_TOKENS = tuple(
    kind for kind in KINDS if kind not in ("replay", "transact_write", "transact_statement")
)


def replicate(plan: Plan, wrap: Callable[[Transport], Transport] = lambda region: region) -> Run:
    with Store.memory(housekeeping=False, regions=[AWAY]) as store:
        home, away = Engine(store), Engine(wrap(store.in_region(AWAY)))
        run = Run(plan.designs, [home])
        created = {"Create": {"RegionName": AWAY}}
        for design in plan.designs:
            store(Request("UpdateTable", {"TableName": design.name, "ReplicaUpdates": [created]}))
        store.tidy()
        for seed, step in zip(plan.seeds, plan.operations(), strict=True):
            region = (home, away)[seed.number % 2]
            if run.targets != [region]:
                store.tidy()
                run.targets = [region]
            run.perform(step)
        store.tidy()
        run.targets = [home, away]
        run.finish()
        return run
