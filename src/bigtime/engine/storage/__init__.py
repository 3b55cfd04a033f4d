"""Tables in a SQLite file: definitions, keys, rows, streams, and the group commit."""

from bigtime.engine.storage.backfill import advance_backfill, begin_backfill, pending_backfills
from bigtime.engine.storage.backup_file import (
    BackupFileError, backup_digest, backup_path, copier_lock, copy_backup, count_backup_items,
    has_copier, read_backup, read_backup_items,
)
from bigtime.engine.storage.change_log import (
    Change, last_sequence_of, pin, read_changes, sequence_at, unpin,
)
from bigtime.engine.storage.checksums import checksum_vfs
from bigtime.engine.storage.commit import Done, Work
from bigtime.engine.storage.clock import is_note_due, note_time, noted_time
from bigtime.engine.storage.compact import compact
from bigtime.engine.storage.damage import (
    DamagedFileException, UnreadableItem, UnreadableRecord, explain,
)
from bigtime.engine.storage.database import Database, Settings
from bigtime.engine.storage.definition import (
    GLOBAL_TABLE, OLDEST_SECONDS, IndexDefinition, KeyAttribute, StreamDefinition, TableDefinition,
    Throughput, VectorIndexDefinition, expiry_second,
)
from bigtime.engine.storage.describe import (
    WARM_ON_DEMAND, decreases_today, stream_arn, table_arn, table_description, table_name, warm,
)
from bigtime.engine.storage.discard import (
    discard, discard_some, has_pages_to_return, return_pages, tables_to_discard,
)
from bigtime.engine.storage.faults import Draft, Faults
from bigtime.engine.storage.file import CLOSED, LOG_KEPT_BYTES, Durability, Transaction, all_rows
from bigtime.engine.storage.format import APPLICATION_ID, FORMAT, FileFormatError
from bigtime.engine.storage.keys import (
    HASH_SPACE, KeyCodec, SortRange, base_blobs, base_key, check_key_size, check_key_value,
    segment_range,
)
from bigtime.engine.storage.log_file import LogLength, log_bytes
from bigtime.engine.storage.point_in_time import (
    ChangedItem, ItemRow, Moment, changed_items, rows_at,
)
from bigtime.engine.storage.recovery import (
    DAY_SECONDS, KEPT_SECONDS, Window, ensure_log, forget_table,
    keep_table, kept_tables, logs_to_trim, recovery_window, tables_to_forget, with_window,
    without_needless_log,
)
from bigtime.engine.storage.regions import Regions, check_region, is_region
from bigtime.engine.storage.restore import (
    SUMMARY, Backup, Restore, add_backup, backup_fault, backup_files, begin_restore, fill_restored,
    find_backup, find_restore, list_backups, release_pin, remove_backup, restores, restoring_table,
    unfinished_backups, write_backup,
)
from bigtime.engine.storage.scrub import Fault, Findings, scrub, scrub_file
from bigtime.engine.storage.stamps import has_late_stamps, mend_stamps
from bigtime.engine.storage.stream_log import (
    RETENTION_SECONDS, close_stream, first_after, last_sequence, open_stream,
    rotate_shards, streams_to_trim, trim_stream,
)
from bigtime.engine.storage.table import (
    QUICK_LENGTH, Index, Table, collection_bytes, index_size, index_type_mismatch, quick_blob,
)
from bigtime.engine.storage.transfers import (
    LISTED_SECONDS, Status, Transfer, TransferKind, add_transfer, find_by_token, find_transfer,
    finish_export, finish_import, give_up_import, imported_definition, list_transfers,
    save_transfer, transfers_in_progress,
)
from bigtime.engine.storage.vector_index import VectorIndex, pack_numbers, search_key
from bigtime.engine.storage.vector_search import NearestRows, check_numpy
from bigtime.engine.storage.versions import (
    MICROSECONDS, OLDEST, UNWRITTEN, Version, has_tombstones, item_version, set_version,
    stamp_write, trim_tombstones,
)
from bigtime.engine.storage.writer_lock import LogLost

__all__ = [
    "APPLICATION_ID", "CLOSED", "DAY_SECONDS", "FORMAT", "GLOBAL_TABLE", "HASH_SPACE",
    "KEPT_SECONDS", "LISTED_SECONDS", "LOG_KEPT_BYTES", "MICROSECONDS", "OLDEST", "OLDEST_SECONDS",
    "QUICK_LENGTH", "RETENTION_SECONDS", "SUMMARY", "UNWRITTEN", "WARM_ON_DEMAND", "Backup",
    "BackupFileError", "Change", "ChangedItem", "DamagedFileException", "Database", "Done", "Draft",
    "Durability", "Fault", "Faults", "FileFormatError", "Findings", "Index", "IndexDefinition",
    "ItemRow", "KeyAttribute", "KeyCodec", "LogLength", "LogLost", "Moment", "NearestRows",
    "Regions", "Restore", "Settings", "SortRange", "Status", "StreamDefinition", "Table",
    "TableDefinition", "Throughput", "Transaction", "Transfer", "TransferKind", "UnreadableItem",
    "UnreadableRecord", "VectorIndex", "VectorIndexDefinition", "Version", "Window", "Work",
    "add_backup", "add_transfer", "advance_backfill", "all_rows", "backup_digest", "backup_fault",
    "backup_files", "backup_path", "base_blobs", "base_key", "begin_backfill", "begin_restore",
    "changed_items", "check_key_size", "check_key_value", "check_numpy", "check_region",
    "checksum_vfs", "close_stream", "collection_bytes", "compact", "copier_lock", "copy_backup",
    "count_backup_items", "decreases_today", "discard", "discard_some", "ensure_log",
    "expiry_second", "explain", "fill_restored", "find_backup", "find_by_token", "find_restore",
    "find_transfer", "finish_export", "finish_import", "first_after", "forget_table",
    "give_up_import", "has_copier", "has_late_stamps", "has_pages_to_return", "has_tombstones",
    "imported_definition", "index_size", "index_type_mismatch", "is_note_due", "is_region",
    "item_version", "keep_table", "kept_tables", "last_sequence", "last_sequence_of",
    "list_backups", "list_transfers", "log_bytes", "logs_to_trim", "mend_stamps", "note_time",
    "noted_time", "open_stream", "pack_numbers", "pending_backfills", "pin", "quick_blob",
    "read_backup", "read_backup_items", "read_changes", "recovery_window", "release_pin",
    "remove_backup", "restores", "restoring_table", "return_pages", "rotate_shards", "rows_at",
    "save_transfer", "scrub", "scrub_file", "search_key", "segment_range", "sequence_at",
    "set_version", "stamp_write", "stream_arn", "streams_to_trim", "table_arn", "table_description",
    "table_name", "tables_to_discard", "tables_to_forget", "transfers_in_progress", "trim_stream",
    "trim_tombstones", "unfinished_backups", "unpin", "warm", "with_window", "without_needless_log",
    "write_backup",
]
