"""Runs on exports, imports and bulk puts, of three tables that are made, written and dropped.

Each step asks one thing, right or wrong, or starts one of the three and asks of it while it runs;
its whole description is foretold, then, at its end and ever after.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import Transport
from tests.reference import bulk_puts, exports, imports, table_states, transfer_run
from tests.reference.outcomes import Refusal
from tests.reference.settings_run import SECONDS_BETWEEN, TABLES, Clock, SettingsRun
from tests.reference.sources import BUCKET
from tests.reference.transfer_run import TransferRun

LEAST_STEPS, MOST_STEPS = 20, 60
NO_TOKEN = "00" * 56
WRONG_PAGES = (
    ("ListExports", {"MaxResults": 26}),
    ("ListExports", {"MaxResults": 0}),
    ("ListExports", {"NextToken": NO_TOKEN}),
    ("ListImports", {"PageSize": 26}),
    ("ListImports", {"NextToken": NO_TOKEN}),
    ("ListBulkOperations", {"MaxResults": 26}),
    ("ListBulkOperations", {"NextToken": NO_TOKEN}),
)


def list_wrongly(run: TransferRun, dice: Random) -> None:
    operation, params = dice.choice(WRONG_PAGES)
    run.expect(Refusal("ValidationException"), operation, **params)


STEPS: dict[str, Callable[[TransferRun, Random], None]] = {
    "create": SettingsRun.create,
    "drop": SettingsRun.drop,
    "list tables": SettingsRun.list_tables,
    "write": transfer_run.write,
    "wait": transfer_run.wait,
    "update recovery": table_states.update_recovery,
    "list wrongly": list_wrongly,
    **exports.STEPS,
    **imports.STEPS,
    **bulk_puts.STEPS,
}
OFTEN = (
    *("write", "write", "export", "export", "export", "list exports", "list exports"),
    *("import", "import", "put in bulk"),
)
TransferPlan = list[tuple[str, int]]
transfer_plans = st.lists(
    st.tuples(st.sampled_from([*STEPS, *OFTEN]), st.integers(0, 2**32)),
    min_size=LEAST_STEPS,
    max_size=MOST_STEPS,
)


def transfer(
    plan: TransferPlan, wrap: Callable[[Transport], Transport] = lambda engine: engine
) -> TransferRun:
    clock = Clock()
    with (
        tempfile.TemporaryDirectory(prefix="bigtime-") as folder,
        Engine.memory(housekeeping=False, clock=clock, s3_folder=folder) as engine,
    ):
        (Path(folder) / BUCKET).mkdir()
        run = TransferRun(wrap(engine), clock, folder=Path(folder), tidy=engine.tidy)
        for number, name in enumerate(TABLES[:2]):
            run.make(name, Random(number))
            run.protect(name)
        for step, number in plan:
            clock.now += SECONDS_BETWEEN
            STEPS[step](run, Random(number))
            engine.tidy()
        return run
