"""The lake: changes and current state of entities as Parquet files, and SQL over them.

A writer, in the worker, follows the streams of the tables whose entities are declared with `lake`.
Readers read the files that the manifests name: they never see part of a batch or a change twice.
"""

from typing import TYPE_CHECKING

from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.projections.lake.columns import Column, columns_of
    from bigtime.projections.lake.compaction import compact
    from bigtime.projections.lake.current import rebuild_current, refresh_current
    from bigtime.projections.lake.damage import FilesLost, mark_damaged
    from bigtime.projections.lake.ddl import athena_ddl
    from bigtime.projections.lake.erasure import Replacement
    from bigtime.projections.lake.gaps import ExportBucket, FolderBucket, LakeBucket
    from bigtime.projections.lake.manifest import Gap, Manifest
    from bigtime.projections.lake.places import (
        BucketPlace, FolderPlace, LakeFault, Place, ownership, place_at,
    )
    from bigtime.projections.lake.queries import (
        Limits, Query, QueryFailed, Result, export_file, run_queries, run_query,
    )
    from bigtime.projections.lake.views import (
        TableStatus, create_views, lake_status, open_gaps,
    )
    from bigtime.projections.lake.writer import REQUEST, RETRY, LakeWriter

if not TYPE_CHECKING:  # the process that runs SQL imports little, and starts fast
    __getattr__ = lazy_names(
        __name__,
        columns="Column columns_of",
        compaction="compact",
        current="rebuild_current refresh_current",
        damage="FilesLost mark_damaged",
        ddl="athena_ddl",
        erasure="Replacement",
        gaps="ExportBucket FolderBucket LakeBucket",
        manifest="Gap Manifest",
        places="BucketPlace FolderPlace LakeFault Place ownership place_at",
        queries="Limits Query QueryFailed Result export_file run_queries run_query",
        views="TableStatus create_views lake_status open_gaps",
        writer="REQUEST RETRY LakeWriter",
    )

__all__ = [
    "REQUEST", "RETRY", "BucketPlace", "Column", "ExportBucket", "FilesLost", "FolderBucket",
    "FolderPlace", "Gap", "LakeBucket", "LakeFault", "LakeWriter", "Limits", "Manifest", "Place",
    "Query", "QueryFailed", "Replacement", "Result", "TableStatus", "athena_ddl", "columns_of",
    "compact", "create_views", "export_file", "lake_status", "mark_damaged", "open_gaps",
    "ownership", "place_at", "rebuild_current", "refresh_current", "run_queries", "run_query",
]
