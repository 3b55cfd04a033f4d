"""Steps that ask for nothing but the store's own: time, randomness, patience."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bigtime.advisor import explain, measure
from bigtime.advisor.sample import MOMENT
from bigtime.engine import Engine
from bigtime.model import get, now, pause, together
from bigtime.store import Store
from bigtime.wire import Pause, Steps
from tests.model.deals import BIG_TIME_DEALS, Brand
from tests.model.world import World

TABLES = (BIG_TIME_DEALS,)


def look_twice() -> Steps[Brand | None]:
    """Waits a minute if there is no such brand at first."""
    found = yield from get(Brand.key("APPLE"))
    if found is None:
        yield from pause(60)
        found = yield from get(Brand.key("APPLE"))
    return found


def test_a_pause_is_the_store_s(world: World) -> None:
    slept: list[float] = []
    store = Store(world.engine, sleep=slept.append)
    assert store.run(look_twice()) is None
    assert slept == [60]


def test_a_pause_is_measured_as_nothing(world: World) -> None:
    slept: list[float] = []
    measured = Store(world.engine, sleep=slept.append).run(measure(look_twice()))
    assert (measured.requests, measured.read_units) == (2, 1.0)
    assert slept == [60]


def test_a_dry_run_waits_for_nothing() -> None:
    def patient() -> Steps[None]:
        yield from together(pause(3600), look_twice())
        yield from pause(3600)

    assert len(explain(patient(), holding=[]).requests) == 2


def test_in_a_dry_run_time_stands_still() -> None:
    def late() -> Steps[timedelta]:
        before = yield from now()
        yield from pause(3600)
        return (yield from now()) - before

    assert explain(late()).result == timedelta(0)
    assert explain(now()).result == MOMENT


def test_a_pause_of_less_than_nothing_is_refused(engine: Engine) -> None:
    with pytest.raises(ValueError, match="a pause lasts some seconds, or none: -1 is neither"):
        Store(engine).run(pause(-1))
    assert next(pause(0)) == Pause(0)
