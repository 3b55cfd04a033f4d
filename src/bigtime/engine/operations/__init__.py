"""The operations of the API, one file for each family."""

from bigtime.engine.operations.dispatch import READS, WRITES, Read
from bigtime.engine.operations.plan_cache import CacheKey, QueryPlan
from bigtime.engine.operations.transact import TOKEN_SECONDS
from bigtime.engine.operations.write import Write

__all__ = ["READS", "TOKEN_SECONDS", "WRITES", "CacheKey", "QueryPlan", "Read", "Write"]
