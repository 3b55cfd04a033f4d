"""Running a Bigtime application: environments, infrastructure, alarms."""

from bigtime.ops.account import check_store
from bigtime.ops.daily_cost import (
    DayCost, TableUnitCounter, TableUnits, day_cost, days_to, dollars_of,
)
from bigtime.ops.settings import settle

__all__ = [
    "DayCost", "TableUnitCounter", "TableUnits", "check_store", "day_cost", "days_to", "dollars_of",
    "settle",
]
