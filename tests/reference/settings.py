"""Runs on the settings of three tables that come and go: every operation that sets or tells them.

Each step asks one thing, right or wrong, with the model's foretelling beside it; what is set of one
table must neither show at another nor outlive its table.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import Transport
from tests.reference import (
    backup_lists,
    constant_calls,
    destinations,
    insights,
    stream_reads,
    table_states,
)
from tests.reference.settings_run import SECONDS_BETWEEN, TABLES, Clock, SettingsRun

LEAST_STEPS, MOST_STEPS = 20, 60
STEPS: dict[str, Callable[[SettingsRun, Random], None]] = {
    "create": SettingsRun.create,
    "drop": SettingsRun.drop,
    "list tables": SettingsRun.list_tables,
    "wait": SettingsRun.wait,
    **insights.STEPS,
    **destinations.STEPS,
    **table_states.STEPS,
    **backup_lists.STEPS,
    **stream_reads.STEPS,
    **constant_calls.STEPS,
}
SettingsPlan = list[tuple[str, int]]
settings_plans = st.lists(
    st.tuples(st.sampled_from([*STEPS]), st.integers(0, 2**32)),
    min_size=LEAST_STEPS,
    max_size=MOST_STEPS,
)


def change_settings(
    plan: SettingsPlan, wrap: Callable[[Transport], Transport] = lambda engine: engine
) -> SettingsRun:
    clock = Clock()
    with (
        Engine.memory(housekeeping=False, clock=clock, stream_shards=2) as engine,
    ):
        run = SettingsRun(wrap(engine), clock)
        for number, name in enumerate(TABLES):
            run.make(name, Random(number))
        for step, number in plan:
            clock.now += SECONDS_BETWEEN
            STEPS[step](run, Random(number))
            engine.tidy()
        return run
