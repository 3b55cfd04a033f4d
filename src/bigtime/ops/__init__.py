"""Running a Bigtime application: environments, infrastructure, alarms."""

from bigtime.ops.daily_cost import (
    DayCost, TableUnitCounter, TableUnits, day_cost, days_to, dollars_of,
)

__all__ = ["DayCost", "TableUnitCounter", "TableUnits", "day_cost", "days_to", "dollars_of"]
