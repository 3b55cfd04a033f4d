"""Tables in a SQLite file: definitions, keys, rows, streams, and the group commit."""

from bigtime.engine.storage.backfill import advance_backfill, begin_backfill, pending_backfills
from bigtime.engine.storage.commit import Done, Work
from bigtime.engine.storage.database import Database, Settings
from bigtime.engine.storage.definition import (
    OLDEST_SECONDS, IndexDefinition, KeyAttribute, StreamDefinition, TableDefinition, Throughput,
    expiry_second,
)
from bigtime.engine.storage.describe import (
    WARM_ON_DEMAND, stream_arn, table_description, table_name, warm,
)
from bigtime.engine.storage.discard import discard, discard_some, tables_to_discard
from bigtime.engine.storage.faults import Faults
from bigtime.engine.storage.file import (
    APPLICATION_ID, CLOSED, FORMAT, FileFormatError, Transaction, all_rows, checkpoint,
)
from bigtime.engine.storage.keys import (
    KeyCodec, SortRange, base_key, check_key_size, check_key_value, segment_range,
)
from bigtime.engine.storage.stream_log import (
    RETENTION_SECONDS, append_record, close_stream, last_sequence, open_stream, rotate_shards,
    trim_horizon, trim_streams,
)
from bigtime.engine.storage.table import QUICK_LENGTH, Index, Table, index_type_mismatch, quick_blob

__all__ = [
    "APPLICATION_ID", "CLOSED", "FORMAT", "OLDEST_SECONDS", "QUICK_LENGTH", "RETENTION_SECONDS",
    "WARM_ON_DEMAND", "Database", "Done", "Faults", "FileFormatError", "Index", "IndexDefinition",
    "KeyAttribute", "KeyCodec", "Settings", "SortRange", "StreamDefinition", "Table",
    "TableDefinition", "Throughput", "Transaction", "Work", "advance_backfill", "all_rows",
    "append_record", "base_key", "begin_backfill", "check_key_size", "check_key_value",
    "checkpoint", "close_stream", "discard", "discard_some", "expiry_second", "index_type_mismatch",
    "last_sequence", "open_stream", "pending_backfills", "quick_blob", "rotate_shards",
    "segment_range", "stream_arn", "table_description", "table_name", "tables_to_discard",
    "trim_horizon", "trim_streams", "warm",
]
