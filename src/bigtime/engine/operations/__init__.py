"""The API's operations, one file per family, and the function that implements each."""

from collections.abc import Callable

from bigtime.engine.operations import (
    backups, batch, bulk, continuous_backups, exports, global_tables, imports, insights, items,
    kinesis, policies, query, quotas, streams, tables, tags, transact, vectors,
)
from bigtime.engine.operations.backups import (
    TableChange, adopt_backup, check_backup, copy_backups, create_backups, file_of_backup,
    read_changes,
)
from bigtime.engine.operations.capacity import add_capacity, capacity_by_table, mode_of
from bigtime.engine.operations.exports import ExportFilter, read_export_filter
from bigtime.engine.operations.items import carry_out, get_item, quick_get
from bigtime.engine.operations.key_rules import check_key_paths, check_update, values_given_by
from bigtime.engine.operations.limits import Read, read_with_faults, reason
from bigtime.engine.operations.page import Walk, position, read_page, read_selection, read_start_key
from bigtime.engine.operations.plan_cache import CacheKey, QueryPlan
from bigtime.engine.operations.query import (
    bounded_start, check_start, check_terms, find_index, read_walk,
)
from bigtime.engine.operations.policy_document import stored_policy
from bigtime.engine.operations.replicas import (
    ACTIVE, CREATING, LOCAL_REGION, merged_table, new_replica, other_members, own_member,
    with_member,
)
from bigtime.engine.operations.streams import read_iterator
from bigtime.engine.operations.tables import (
    fill_new, install_definition, remove_table, start_stream,
)
from bigtime.engine.operations.transact import TOKEN_SECONDS, Get, cancellation, get_all, write_all
from bigtime.engine.operations.write import PUT_TOO_LARGE, Room, Write
from bigtime.engine.storage import Database, Work
from bigtime.wire import Params, Response

READS: dict[str, Read] = {
    "GetItem": items.get_item,
    "Query": query.query,
    "Scan": query.scan,
    "SearchVectors": vectors.search_vectors,
    "BatchGetItem": batch.batch_get_item,
    "TransactGetItems": transact.transact_get_items,
    "DescribeTable": tables.describe_table,
    "ListTables": tables.list_tables,
    "DescribeTimeToLive": tables.describe_time_to_live,
    "ListTagsOfResource": tags.list_tags_of_resource,
    "DescribeLimits": quotas.describe_limits,
    "DescribeEndpoints": tables.describe_endpoints,
    "DescribeContributorInsights": insights.describe_contributor_insights,
    "ListContributorInsights": insights.list_contributor_insights,
    "DescribeKinesisStreamingDestination": kinesis.describe_kinesis_streaming_destination,
    "DescribeTableReplicaAutoScaling": global_tables.describe_replica_auto_scaling,
    "UpdateTableReplicaAutoScaling": global_tables.update_replica_auto_scaling,
    "CreateGlobalTable": global_tables.create_global_table,
    "ListGlobalTables": global_tables.list_global_tables,
    "DescribeGlobalTable": global_tables.describe_global_table,
    "UpdateGlobalTable": global_tables.update_global_table,
    "DescribeGlobalTableSettings": global_tables.refuse_settings,
    "UpdateGlobalTableSettings": global_tables.refuse_settings,
    "DescribeExport": exports.describe_export,
    "ListExports": exports.list_exports,
    "DescribeBulkOperation": bulk.describe_bulk_operation,
    "ListBulkOperations": bulk.list_bulk_operations,
    "DescribeImport": imports.describe_import,
    "ListImports": imports.list_imports,
    "GetResourcePolicy": policies.get_resource_policy,
    "DescribeContinuousBackups": continuous_backups.describe_continuous_backups,
    "DescribeBackup": backups.describe_backup,
    "ListBackups": backups.list_backups,
    "ListStreams": streams.list_streams,
    "DescribeStream": streams.describe_stream,
    "GetShardIterator": streams.get_shard_iterator,
    "GetRecords": streams.get_records,
}

WRITES: dict[str, Callable[[Database, Params], Work[Response]]] = {
    "PutItem": items.put_item,
    "UpdateItem": items.update_item,
    "DeleteItem": items.delete_item,
    "BatchWriteItem": batch.batch_write_item,
    "TransactWriteItems": transact.transact_write_items,
    "CreateTable": tables.create_table,
    "UpdateTable": tables.update_table,
    "DeleteTable": tables.delete_table,
    "UpdateTimeToLive": tables.update_time_to_live,
    "TagResource": tags.tag_resource,
    "UntagResource": tags.untag_resource,
    "UpdateContributorInsights": insights.update_contributor_insights,
    "EnableKinesisStreamingDestination": kinesis.enable_kinesis_streaming_destination,
    "DisableKinesisStreamingDestination": kinesis.disable_kinesis_streaming_destination,
    "UpdateKinesisStreamingDestination": kinesis.update_kinesis_streaming_destination,
    "ExportTableToPointInTime": exports.export_table_to_point_in_time,
    "ImportTable": imports.import_table,
    "StartBulkPutItems": bulk.start_bulk_put_items,
    "CancelBulkOperation": bulk.cancel_bulk_operation,
    "PutResourcePolicy": policies.put_resource_policy,
    "DeleteResourcePolicy": policies.delete_resource_policy,
    "UpdateContinuousBackups": continuous_backups.update_continuous_backups,
    "RestoreTableToPointInTime": continuous_backups.restore_table_to_point_in_time,
    "CreateBackup": backups.create_backup,
    "DeleteBackup": backups.delete_backup,
    "RestoreTableFromBackup": backups.restore_table_from_backup,
}

__all__ = [
    "ACTIVE", "CREATING", "LOCAL_REGION", "PUT_TOO_LARGE", "READS", "TOKEN_SECONDS", "WRITES",
    "CacheKey", "ExportFilter", "Get", "QueryPlan", "Read", "Room", "TableChange", "Walk", "Write",
    "add_capacity", "adopt_backup", "bounded_start", "cancellation", "capacity_by_table",
    "carry_out", "check_backup", "check_key_paths", "check_start", "check_terms", "check_update",
    "copy_backups", "create_backups", "file_of_backup", "fill_new", "find_index", "get_all",
    "get_item", "install_definition", "merged_table", "mode_of", "new_replica", "other_members",
    "own_member", "position", "quick_get", "read_changes", "read_export_filter", "read_iterator",
    "read_page", "read_selection", "read_start_key", "read_walk", "read_with_faults", "reason",
    "remove_table", "start_stream", "stored_policy", "values_given_by", "with_member", "write_all",
]
