"""The operations that patterns are made of: get, put, query, transact and the rest.

Those that nearly every program needs are imported immediately, the others on first access.
"""

from typing import TYPE_CHECKING

from bigtime.model.operations.change import (
    Add, Append, At, Discard, FieldChange, IfMissing, Remove, Set,
)
from bigtime.model.operations.collection import collection, partition
from bigtime.model.operations.delete import Check, Delete, check, delete, erase, restore
from bigtime.model.operations.get import get
from bigtime.model.operations.op import Op, Runnable, now, pause, random_bytes, steps_of, together
from bigtime.model.operations.page import CursorError, Page, Position
from bigtime.model.operations.put import create, put, replace
from bigtime.model.operations.query import all_of, count, query
from bigtime.model.operations.scan import each_page, scan, scan_all
from bigtime.model.operations.transact import Transact, get_together, transact
from bigtime.model.operations.update import (
    Update, add, build_update, role_changes, unknown_fields, update,
)
from bigtime.model.operations.write import ErrorLike, Fields, Guard, Transition, Write, same
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.model.operations.batch import (
        Unfinished, delete_many, get_many, items_of, load_many, put_many, read_items,
        write_chunk,
    )
    from bigtime.model.operations.bucket_list import (
        BucketEntry, BucketList, bucket_lists_of, list_buckets, put_entries, reads_bucket_list,
    )
    from bigtime.model.operations.bucket_query import (
        Buckets, buckets, newest_first, oldest_first, unlist_empty_buckets,
    )
    from bigtime.model.operations.create_table import (
        NotReady, Progress, create_table_request, describe, key_attributes, key_schema,
        recovery_days, setup,
    )
    from bigtime.model.operations.cursor import Cursors
    from bigtime.model.operations.shard_query import Shards, any_shard, gather, merge, shards

if not TYPE_CHECKING:  # otherwise any misspelt name would pass the type checker
    __getattr__ = lazy_names(
        __name__,
        batch="Unfinished delete_many get_many items_of load_many put_many read_items write_chunk",
        bucket_list=(
            "BucketEntry BucketList bucket_lists_of list_buckets put_entries reads_bucket_list"
        ),
        bucket_query="Buckets buckets newest_first oldest_first unlist_empty_buckets",
        create_table=(
            "NotReady Progress create_table_request describe key_attributes key_schema "
            "recovery_days setup"
        ),
        cursor="Cursors",
        shard_query="Shards any_shard gather merge shards",
    )

__all__ = [
    "Add", "Append", "At", "BucketEntry", "BucketList", "Buckets", "Check", "CursorError",
    "Cursors", "Delete", "Discard", "ErrorLike", "FieldChange", "Fields", "Guard", "IfMissing",
    "NotReady", "Op", "Page", "Position", "Progress", "Remove", "Runnable", "Set", "Shards",
    "Transact", "Transition", "Unfinished", "Update", "Write", "add", "all_of", "any_shard",
    "bucket_lists_of", "buckets", "build_update", "check", "collection", "count", "create",
    "create_table_request", "delete", "delete_many", "describe", "each_page", "erase", "gather",
    "get", "get_many", "get_together", "items_of", "key_attributes", "key_schema", "list_buckets",
    "load_many", "merge", "newest_first", "now", "oldest_first", "partition", "pause", "put",
    "put_entries", "put_many", "query", "random_bytes", "read_items", "reads_bucket_list",
    "recovery_days", "replace", "restore", "role_changes", "same", "scan", "scan_all", "setup",
    "shards", "steps_of", "together", "transact", "unknown_fields", "unlist_empty_buckets",
    "update", "write_chunk",
]
