"""Tables, entities, keys and access patterns as Python declarations; no I/O.

Entities, conditions and the operations that nearly every program needs are imported immediately.
The rest (invariants, streams, systems, bucketed lists, table creation) loads on first access.
"""

from typing import TYPE_CHECKING

from bigtime.model.errors import (
    Clash, ConditionFailed, Conflict, DesignError, DomainError, Forbidden, ItemExists, ItemMismatch,
    ItemMissing, ItemTooLarge, Malformed, NotFound, NotSignedIn, NotUpgraded, RuleBroken, TooMany,
    Unavailable, ValueRefused,
)
from bigtime.model.operations import (
    Add, Append, At, CursorError, Discard, IfMissing, Op, Page, Position, Remove, Runnable, Set,
    Write, add, all_of, check, collection, count, create, delete, each_page, erase, get,
    get_together, now, partition, pause, put, query, random_bytes, replace, restore, scan, scan_all,
    steps_of, together, transact, update,
)
from bigtime.model.pattern import Pattern, pattern
from bigtime.model.schema import (
    DELIMITER, MAIN, MANAGED_KEY, PAYLOAD_BYTES, Attribute, Condition, Entity, EntityKey,
    EpochSeconds, Field, Index, Key, KeyPart, KeyRange, Keys, Ksuid, Layout, Millis, Seconds,
    Secret, SecretText, Sharding, SortBounds, Table, Template, Throughput, WrongTenant, at_least,
    at_most, attr, begins_with, between, binary, camel_case, field_annotation, fields_in_key,
    global_index, hidden_in, hide, ksuid_or, layout_in, leading_texts, less_than, local_index,
    more_than, number, pascal_case, shard_field, snake_case, tenant, unchanged, unwrap, when,
)
from bigtime.wire import Steps, lazy_names

if TYPE_CHECKING:
    from bigtime.model.alarm import ALARMS, Alarm
    from bigtime.model.environment import Environment
    from bigtime.model.invariants import (
        BucketUnlisted, CannotMend, Violation, copies, reference_count, sequence, singleton, unique,
    )
    from bigtime.model.lakes import Lake, lake
    from bigtime.model.operations import (
        BucketEntry, Buckets, Cursors, NotReady, Progress, Shards, Unfinished, any_shard, buckets,
        create_table_request, delete_many, describe, gather, get_many, key_attributes, key_schema,
        list_buckets, load_many, merge, newest_first, oldest_first, put_many, read_items,
        reads_bucket_list, recovery_days, setup, shards, unlist_empty_buckets, write_chunk,
    )
    from bigtime.model.personal_data import Find, Person, PersonalData, personal, personal_ids
    from bigtime.model.schema import View
    from bigtime.model.search_index import SearchIndex, search
    from bigtime.model.stream import Change, Reaction, decode, key_of_item, reaction
    from bigtime.model.system import UNTIL, Branch, Demo, Retention, Scale, System, check_kind
    from bigtime.model.values import Amount, EmailAddress, Name, WebAddress, is_readable, one_line
    from bigtime.model.verification import (
        Misplaced, Outdated, StaleKeys, Unreadable, Verification, relocate, repair, verify,
        verify_pages,
    )

if not TYPE_CHECKING:  # otherwise any misspelt name would pass the type checker
    __getattr__ = lazy_names(
        __name__,
        alarm="ALARMS Alarm",
        environment="Environment",
        invariants=(
            "BucketUnlisted CannotMend Violation copies reference_count sequence singleton unique"
        ),
        lakes="Lake lake",
        operations=(
            "BucketEntry Buckets Cursors NotReady Progress Shards Unfinished any_shard buckets "
            "create_table_request delete_many describe gather get_many key_attributes key_schema "
            "list_buckets load_many merge newest_first oldest_first put_many read_items "
            "reads_bucket_list recovery_days setup shards unlist_empty_buckets write_chunk"
        ),
        personal_data="Find Person PersonalData personal personal_ids",
        schema="View",
        search_index="SearchIndex search",
        stream="Change Reaction decode key_of_item reaction",
        system="UNTIL Branch Demo Retention Scale System check_kind",
        values="Amount EmailAddress Name WebAddress is_readable one_line",
        verification=(
            "Misplaced Outdated StaleKeys Unreadable Verification relocate repair verify "
            "verify_pages"
        ),
    )

__all__ = [
    "ALARMS", "DELIMITER", "MAIN", "MANAGED_KEY", "PAYLOAD_BYTES", "UNTIL", "Add", "Alarm",
    "Amount", "Append", "At", "Attribute", "Branch", "BucketEntry", "BucketUnlisted", "Buckets",
    "CannotMend", "Change", "Clash", "Condition", "ConditionFailed", "Conflict", "CursorError",
    "Cursors", "Demo", "DesignError", "Discard", "DomainError", "EmailAddress", "Entity",
    "EntityKey", "Environment", "EpochSeconds", "Field", "Find", "Forbidden", "IfMissing", "Index",
    "ItemExists", "ItemMismatch", "ItemMissing", "ItemTooLarge", "Key", "KeyPart", "KeyRange",
    "Keys", "Ksuid", "Lake", "Layout", "Malformed", "Millis", "Misplaced", "Name", "NotFound",
    "NotReady", "NotSignedIn", "NotUpgraded", "Op", "Outdated", "Page", "Pattern", "Person",
    "PersonalData", "Position", "Progress", "Reaction", "Remove", "Retention", "RuleBroken",
    "Runnable", "Scale", "SearchIndex", "Seconds", "Secret", "SecretText", "Set", "Sharding",
    "Shards", "SortBounds", "StaleKeys", "Steps", "System", "Table", "Template", "Throughput",
    "TooMany", "Unavailable", "Unfinished", "Unreadable", "ValueRefused", "Verification", "View",
    "Violation", "WebAddress", "Write", "WrongTenant", "add", "all_of", "any_shard", "at_least",
    "at_most", "attr", "begins_with", "between", "binary", "buckets", "camel_case", "check",
    "check_kind", "collection", "copies", "count", "create", "create_table_request", "decode",
    "delete", "delete_many", "describe", "each_page", "erase", "field_annotation", "fields_in_key",
    "gather", "get", "get_many", "get_together", "global_index", "hidden_in", "hide", "is_readable",
    "key_attributes", "key_of_item", "key_schema", "ksuid_or", "lake", "layout_in", "leading_texts",
    "less_than", "list_buckets", "load_many", "local_index", "merge", "more_than", "newest_first",
    "now", "number", "oldest_first", "one_line", "partition", "pascal_case", "pattern", "pause",
    "personal", "personal_ids", "put", "put_many", "query", "random_bytes", "reaction",
    "read_items", "reads_bucket_list", "recovery_days", "reference_count", "relocate", "repair",
    "replace", "restore", "scan", "scan_all", "search", "sequence", "setup", "shard_field",
    "shards", "singleton", "snake_case", "steps_of", "tenant", "together", "transact", "unchanged",
    "unique", "unlist_empty_buckets", "unwrap", "update", "verify", "verify_pages", "when",
    "write_chunk",
]
