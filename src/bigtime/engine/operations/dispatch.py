"""Which function answers which operation of the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from bigtime.engine.operations.batch import batch_get_item, batch_write_item
from bigtime.engine.operations.items import delete_item, get_item, put_item, update_item
from bigtime.engine.operations.query import query
from bigtime.engine.operations.scan import scan
from bigtime.engine.operations.streams import (
    describe_stream,
    get_records,
    get_shard_iterator,
    list_streams,
)
from bigtime.engine.operations.tables import (
    create_table,
    delete_table,
    describe_endpoints,
    describe_limits,
    describe_table,
    describe_time_to_live,
    list_tables,
    list_tags_of_resource,
    tag_resource,
    untag_resource,
    update_table,
    update_time_to_live,
)
from bigtime.engine.operations.transact import transact_get_items, transact_write_items
from bigtime.engine.storage import Database, Work
from bigtime.wire import Params, Response

Read: TypeAlias = Callable[[Database, Params], Response]
Write: TypeAlias = Callable[[Database, Params], Work[Response]]

READS: dict[str, Read] = {
    "GetItem": get_item,
    "Query": query,
    "Scan": scan,
    "BatchGetItem": batch_get_item,
    "TransactGetItems": transact_get_items,
    "DescribeTable": describe_table,
    "ListTables": list_tables,
    "DescribeTimeToLive": describe_time_to_live,
    "ListTagsOfResource": list_tags_of_resource,
    "DescribeLimits": describe_limits,
    "DescribeEndpoints": describe_endpoints,
    "ListStreams": list_streams,
    "DescribeStream": describe_stream,
    "GetShardIterator": get_shard_iterator,
    "GetRecords": get_records,
}

WRITES: dict[str, Write] = {
    "PutItem": put_item,
    "UpdateItem": update_item,
    "DeleteItem": delete_item,
    "BatchWriteItem": batch_write_item,
    "TransactWriteItems": transact_write_items,
    "CreateTable": create_table,
    "UpdateTable": update_table,
    "DeleteTable": delete_table,
    "UpdateTimeToLive": update_time_to_live,
    "TagResource": tag_resource,
    "UntagResource": untag_resource,
}
