"""The capacity units that tables consume each day, added up over all processes of the site."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Final

from pydantic import Field

from bigtime import model as bt
from bigtime.ops import TableUnitCounter, TableUnits
from bigtime.site.design import SITE_TABLE, Expiry
from bigtime.wire import Steps

STORED_FOR: Final = timedelta(days=60)


class DayUnits(bt.Entity, table=SITE_TABLE):
    """The units that a table consumed on a day, in all processes together."""

    keys = bt.Keys(main=("UNITS#{day}", "{table}"))
    day: date
    table: str = Field(max_length=255)
    read_units: Decimal = Decimal(0)
    write_units: Decimal = Decimal(0)
    expires_at: Expiry


@bt.pattern("Add Daily Units", index="Main table", sample={"units": {"tenants": TableUnits()}})
def add_daily_units(day: date, units: Mapping[str, TableUnits]) -> Steps[None]:
    """Adds to the units of a day, table by table."""
    expires_at = datetime.combine(day, time(), UTC) + STORED_FOR
    yield from bt.together(
        *(
            bt.update(
                DayUnits.key(day, table),
                read_units=bt.Add(more.read),
                write_units=bt.Add(more.write),
                expires_at=expires_at,
                upsert=True,
            )
            for table, more in units.items()
        )
    )


@bt.pattern("View Daily Units", index="Main table", sample={"days": [date(2026, 1, 1)]})
def view_daily_units(days: list[date]) -> Steps[dict[date, list[DayUnits]]]:
    """The units of days, by table; a day without any is left out."""
    found = yield from bt.together(*(bt.all_of(DayUnits.within("main", day=day)) for day in days))
    return {day: units for day, units in zip(days, found, strict=True) if units}


def store_units(counter: TableUnitCounter) -> Steps[None]:
    """Adds the counts to the day; counts that cannot be stored are kept for the next time."""
    units = counter.take()
    try:
        today = (yield from bt.now()).date()
        for table in list(units):
            yield from add_daily_units(today, {table: units[table]})
            del units[table]
    finally:
        counter.give_back(units)
