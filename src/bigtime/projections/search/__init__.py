"""Full-text search: indexes of entities, kept up to date by the streams of their tables."""

from typing import TYPE_CHECKING

from bigtime.projections.search.follower import Follower, rebuild, retry_dead_letters
from bigtime.projections.search.folder import BuildsElsewhere
from bigtime.projections.search.port import (
    Backend, BuildProgress, FacetCount, Hit, IndexStatus, NoIndex, Query, Range, Reader, SearchOff,
    SearchPage, SearchUnavailable,
)
from bigtime.projections.search.setting import check_setting, default_place, open_backend
from bigtime.projections.search.words import words_of
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.projections.search.opensearch_index import OpenSearchBackend
    from bigtime.projections.search.tantivy_index import TantivyBackend

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = lazy_names(
        __name__,
        opensearch_index="OpenSearchBackend",
        tantivy_index="TantivyBackend",
    )

__all__ = [
    "Backend", "BuildProgress", "BuildsElsewhere", "FacetCount", "Follower", "Hit", "IndexStatus",
    "NoIndex", "OpenSearchBackend", "Query", "Range", "Reader", "SearchOff", "SearchPage",
    "SearchUnavailable", "TantivyBackend", "check_setting", "default_place", "open_backend",
    "rebuild", "retry_dead_letters", "words_of",
]
