"""Files of items: the formats of exports to S3 and imports from S3; S3 buckets.

The engine's exports and imports use it, and so do the CLI's verbs that dump and load any store; so
it imports only `wire`.
"""

from bigtime.formats.bucket import BucketError, bucket_folder, objects, prefix_folder
from bigtime.formats.csv_items import cell_of, row_line
from bigtime.formats.dynamodb_json import CONDITION_MEMBERS, Change, change_line, item_line
from bigtime.formats.export_folder import (
    FOLDER, DataFile, Export, FileWriter, check_md5, export_id, find_exports,
    full_summary, iso_time, manifest_folder, read_export, start_export, write_manifests,
)
from bigtime.formats.json_lines import plain_line
from bigtime.formats.lines import BadFile, Compression, compression_of
from bigtime.formats.places import (
    Folder, file_lock, make_folder, place_named, sync, whole_file, write_whole,
)
from bigtime.formats.records import Format, Kind, Record, read_records
from bigtime.formats.s3_bucket import S3, Bucket, ObjectChanged, PlaceFault

__all__ = [
    "CONDITION_MEMBERS", "FOLDER", "S3", "BadFile", "Bucket", "BucketError", "Change",
    "Compression", "DataFile", "Export", "FileWriter", "Folder", "Format", "Kind", "ObjectChanged",
    "PlaceFault", "Record", "bucket_folder", "cell_of", "change_line", "check_md5",
    "compression_of", "export_id", "file_lock", "find_exports", "full_summary", "iso_time",
    "item_line", "make_folder", "manifest_folder", "objects", "place_named", "plain_line",
    "prefix_folder", "read_export", "read_records", "row_line", "start_export", "sync",
    "whole_file", "write_manifests", "write_whole",
]
