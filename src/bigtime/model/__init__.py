"""Tables, entities, keys and access patterns as Python declarations; no I/O.

What every program declares and runs with is imported at once; the types of a few attributes, and
what a person asks for (charts, costs, checks, tables to make), when it is first named. (A name that
is its module's too cannot wait: it would be the module, once somebody has imported that.)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bigtime.model.batch import Unfinished, delete_many, get_many, load_many, put_many
from bigtime.model.buckets import Buckets, Kept, buckets, newest_first, oldest_first
from bigtime.model.change import Add, Append, At, Discard, IfMissing, Remove, Set
from bigtime.model.collection import collection, partition
from bigtime.model.condition import Condition, attr
from bigtime.model.counted import counted
from bigtime.model.delete import check, delete, erase, restore
from bigtime.model.demo import UNTIL, Demo, Scale
from bigtime.model.entity import Entity, Key, Secret, SecretText
from bigtime.model.errors import (
    ConditionFailed,
    Conflict,
    DesignError,
    DomainError,
    ItemExists,
    ItemMismatch,
    ItemMissing,
    ValueRefused,
)
from bigtime.model.get import get
from bigtime.model.keys import Keys, when
from bigtime.model.ksuid import Ksuid, ksuid_or
from bigtime.model.naming import camel_case, pascal_case, snake_case
from bigtime.model.op import Op, Steps, now, pause, random_bytes, together
from bigtime.model.page import CursorError, Page, Position
from bigtime.model.pattern import Pattern, pattern
from bigtime.model.put import create, put, replace
from bigtime.model.query import all_of, count, query
from bigtime.model.reaction import Reaction, reaction
from bigtime.model.record import Change, decode
from bigtime.model.scan import each_page, scan, scan_all
from bigtime.model.sequence import sequence
from bigtime.model.shards import Shards, any_shard, gather, merge, sharded, shards
from bigtime.model.singleton import singleton
from bigtime.model.stored import EpochSeconds, Millis, Seconds
from bigtime.model.system import System
from bigtime.model.table import Table, binary, global_index, local_index, number
from bigtime.model.transact import get_together, transact
from bigtime.model.unique import unique
from bigtime.model.update import add, update
from bigtime.model.within import (
    Within,
    at_least,
    at_most,
    begins_with,
    between,
    less_than,
    more_than,
)
from bigtime.model.write import Write

if TYPE_CHECKING:
    from bigtime.model.addresses import EmailAddress, WebAddress
    from bigtime.model.amounts import Amount
    from bigtime.model.charts import chart
    from bigtime.model.create_table import NotReady, setup
    from bigtime.model.cursor import Cursors
    from bigtime.model.difference import diff
    from bigtime.model.explanation import Explanation, explain
    from bigtime.model.measurement import Measured, measure
    from bigtime.model.names import Name
    from bigtime.model.system_check import check_system, open_findings
    from bigtime.model.texts import is_readable, one_line
    from bigtime.model.verification import Violation, repair, verify
    from bigtime.model.view import View

__all__ = [
    "UNTIL",
    "Add",
    "Amount",
    "Append",
    "At",
    "Buckets",
    "Change",
    "Condition",
    "ConditionFailed",
    "Conflict",
    "CursorError",
    "Cursors",
    "Demo",
    "DesignError",
    "Discard",
    "DomainError",
    "EmailAddress",
    "Entity",
    "EpochSeconds",
    "Explanation",
    "IfMissing",
    "ItemExists",
    "ItemMismatch",
    "ItemMissing",
    "Kept",
    "Key",
    "Keys",
    "Ksuid",
    "Measured",
    "Millis",
    "Name",
    "NotReady",
    "Op",
    "Page",
    "Pattern",
    "Position",
    "Reaction",
    "Remove",
    "Scale",
    "Seconds",
    "Secret",
    "SecretText",
    "Set",
    "Shards",
    "Steps",
    "System",
    "Table",
    "Unfinished",
    "ValueRefused",
    "View",
    "Violation",
    "WebAddress",
    "Within",
    "Write",
    "add",
    "all_of",
    "any_shard",
    "at_least",
    "at_most",
    "attr",
    "begins_with",
    "between",
    "binary",
    "buckets",
    "camel_case",
    "chart",
    "check",
    "check_system",
    "collection",
    "count",
    "counted",
    "create",
    "decode",
    "delete",
    "delete_many",
    "diff",
    "each_page",
    "erase",
    "explain",
    "gather",
    "get",
    "get_many",
    "get_together",
    "global_index",
    "is_readable",
    "ksuid_or",
    "less_than",
    "load_many",
    "local_index",
    "measure",
    "merge",
    "more_than",
    "newest_first",
    "now",
    "number",
    "oldest_first",
    "one_line",
    "open_findings",
    "partition",
    "pascal_case",
    "pattern",
    "pause",
    "put",
    "put_many",
    "query",
    "random_bytes",
    "reaction",
    "repair",
    "replace",
    "restore",
    "scan",
    "scan_all",
    "sequence",
    "setup",
    "sharded",
    "shards",
    "singleton",
    "snake_case",
    "together",
    "transact",
    "unique",
    "update",
    "verify",
    "when",
]

LATER = {
    "EmailAddress": "addresses",
    "WebAddress": "addresses",
    "Amount": "amounts",
    "chart": "charts",
    "NotReady": "create_table",
    "setup": "create_table",
    "Cursors": "cursor",
    "diff": "difference",
    "Explanation": "explanation",
    "explain": "explanation",
    "Measured": "measurement",
    "measure": "measurement",
    "Name": "names",
    "check_system": "system_check",
    "open_findings": "system_check",
    "is_readable": "texts",
    "one_line": "texts",
    "Violation": "verification",
    "repair": "verification",
    "verify": "verification",
    "View": "view",
}


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{LATER[name]}"), name)
    globals()[name] = value
    return value
