"""Running a Bigtime application: environments, infrastructure, alarms."""

from bigtime.ops.account import check_store
from bigtime.ops.settings import settle

__all__ = ["check_store", "settle"]
