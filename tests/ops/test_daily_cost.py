"""What a day costs, and whether that is more than 150 % of the mean of the week before."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from prometheus_client import generate_latest

from bigtime.advisor import rate
from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.ops import TableUnitCounter, TableUnits, day_cost, days_to
from bigtime.site import SITE, store_units, view_daily_units, view_worker_report
from bigtime.store import Store
from bigtime.systems import portal
from bigtime.web.http import Meters, Settings
from bigtime.web.worker import Worker
from bigtime.wire import DynamoDBError, Request, Response

TODAY = date(2026, 11, 16)


def million_writes(count: float) -> list[TableUnits]:
    return [TableUnits(write=Decimal(str(count * 1_000_000)))]


def week(*counts: float) -> dict[date, list[TableUnits]]:
    """Millions of writes on the days before today, the last of them yesterday."""
    days = days_to(TODAY)[:-1][-len(counts) :]
    return {day: million_writes(count) for day, count in zip(days, counts, strict=True)}


@pytest.mark.parametrize(
    ("before", "today", "is_too_much"),
    [
        ((2, 2, 2, 2, 2, 2, 2), 3, False),  # exactly 150 %
        ((2, 2, 2, 2, 2, 2, 2), 3.001, True),
        ((0, 0, 0, 0, 0, 0, 14), 3.001, True),  # the mean of the days, and not the last one
        ((2, 2), 3.001, True),  # counted for two days only
        ((0,), 5, False),
    ],
)
def test_a_day_is_too_dear_over_150_percent_of_the_mean(
    before: tuple[float, ...], today: float, is_too_much: bool
) -> None:
    counted = {**week(*before), TODAY: million_writes(today)}
    assert day_cost(TODAY, counted, rate()).is_too_much is is_too_much


def test_the_first_day_has_nothing_to_be_compared_with() -> None:
    first = day_cost(TODAY, {TODAY: million_writes(4)}, rate())
    assert (first.dollars, first.mean, first.is_too_much) == (Decimal("2.5"), None, False)
    older = {TODAY - timedelta(days=8): million_writes(1)}
    assert day_cost(TODAY, older, rate()).mean is None


class Failing:
    """An engine that can be made to refuse writes to the site's table."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.fails = False

    def __call__(self, request: Request) -> Response:
        if self.fails and request.params.get("TableName") == "Site":
            raise DynamoDBError("It is away.")
        return self.engine(request)


def test_units_are_stored_by_table_and_day_and_none_is_lost() -> None:
    with Engine.memory() as engine:
        counter, transport = TableUnitCounter(), Failing(engine)
        clock = datetime(2026, 11, 16, 23, 59, tzinfo=UTC)
        store = Store(transport, hooks=[counter], meter=lambda *_: None, clock=lambda: clock)
        Store(engine).run(setup(portal.SYSTEM, SITE))
        store.run(portal.create_tenant("a@example.com", by="admin@example.com"))
        transport.fails = True
        with pytest.raises(DynamoDBError):
            store.run(store_units(counter))
        transport.fails = False
        store.run(store_units(counter))
        store.run(portal.create_tenant("b@example.com", by="admin@example.com"))
        store.run(store_units(counter))
        stored = Store(engine).run(view_daily_units([TODAY, TODAY + timedelta(days=1)]))
        units = {each.table: each.write_units for each in stored[TODAY]}
        assert units["tenants"] + units["audit"] == 18
        assert [*stored] == [TODAY]


def test_the_worker_reports_what_the_day_has_cost() -> None:
    with Engine.memory() as engine:
        counter = TableUnitCounter()
        store = Store(engine, hooks=[counter], meter=lambda *_: None)
        store.run(setup(portal.SYSTEM, SITE))
        worker = Worker(store, Settings(store="dynamodb:af-south-1"), table_units=counter)
        store.run(portal.create_tenant("a@example.com", by="admin@example.com"))
        store.run(worker.count_day())
        assert worker.day_cost is not None and worker.day_cost.mean is None
        assert worker.day_cost.dollars == rate("af-south-1").dollars(0, 9)
        store.run(worker.tell())
        report = store.run(view_worker_report())
        assert report.daily_cost == worker.day_cost.dollars
        shown = Meters()
        shown.note_worker(report)
        assert b"bigtime_daily_cost_dollars 7.569e-06" in generate_latest(shown.registry)
