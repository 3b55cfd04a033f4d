"""Tables in a SQLite file: definitions, keys, rows, streams, and the group commit."""

from bigtime.engine.storage.backfill import advance_backfill, begin_backfill, pending_backfills
from bigtime.engine.storage.checksums import checksum_vfs
from bigtime.engine.storage.commit import Done, Work
from bigtime.engine.storage.compact import Compacted, compact
from bigtime.engine.storage.damage import (
    DamagedFileException, UnreadableItem, UnreadableRecord, explain,
)
from bigtime.engine.storage.database import Database, Settings
from bigtime.engine.storage.definition import (
    OLDEST_SECONDS, IndexDefinition, KeyAttribute, StreamDefinition, TableDefinition, Throughput,
    expiry_second,
)
from bigtime.engine.storage.describe import (
    WARM_ON_DEMAND, stream_arn, table_arn, table_description, table_name, warm,
)
from bigtime.engine.storage.discard import discard, discard_some, tables_to_discard
from bigtime.engine.storage.faults import Faults
from bigtime.engine.storage.file import (
    CLOSED, Transaction, all_rows, checkpoint,
)
from bigtime.engine.storage.format import APPLICATION_ID, FORMAT, FileFormatError
from bigtime.engine.storage.keys import (
    KeyCodec, SortRange, base_blobs, base_key, check_key_size, check_key_value, segment_range,
)
from bigtime.engine.storage.log_guard import LogLost
from bigtime.engine.storage.scrub import Fault, Findings, scrub, scrub_file
from bigtime.engine.storage.space import has_pages_to_return, return_pages
from bigtime.engine.storage.stream_log import (
    RETENTION_SECONDS, append_record, close_stream, first_after, has_late_stamps, last_sequence,
    mend_stamps, open_stream, rotate_shards, streams_to_trim, trim_stream,
)
from bigtime.engine.storage.token_buckets import Draft
from bigtime.engine.storage.table import QUICK_LENGTH, Index, Table, index_type_mismatch, quick_blob

__all__ = [
    "APPLICATION_ID", "CLOSED", "FORMAT", "OLDEST_SECONDS", "QUICK_LENGTH", "RETENTION_SECONDS",
    "WARM_ON_DEMAND", "Compacted", "DamagedFileException", "Database", "Done", "Draft", "Fault",
    "Faults", "FileFormatError", "Findings", "Index", "IndexDefinition", "KeyAttribute", "KeyCodec",
    "LogLost", "Settings", "SortRange", "StreamDefinition", "Table", "TableDefinition",
    "Throughput", "Transaction", "UnreadableItem", "UnreadableRecord", "Work", "advance_backfill",
    "all_rows", "append_record", "base_blobs", "base_key", "begin_backfill", "check_key_size",
    "check_key_value", "checkpoint", "checksum_vfs", "close_stream", "compact", "discard",
    "discard_some", "expiry_second", "explain", "first_after", "has_late_stamps",
    "has_pages_to_return", "index_type_mismatch", "last_sequence", "mend_stamps", "open_stream",
    "pending_backfills", "quick_blob", "return_pages", "rotate_shards", "scrub", "scrub_file",
    "segment_range", "stream_arn", "streams_to_trim", "table_arn", "table_description",
    "table_name", "tables_to_discard", "trim_stream", "warm",
]
