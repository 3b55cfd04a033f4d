"""Empty buckets: taking them off the list of a series."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from bigtime.model.errors import ConditionFailed, ItemMissing
from bigtime.model.operations.bucket_list import MARKED_FOR, BucketEntry
from bigtime.model.operations.bucket_query import Buckets
from bigtime.model.operations.delete import delete
from bigtime.model.operations.op import now
from bigtime.model.operations.query import all_of, query
from bigtime.model.operations.update import update
from bigtime.model.schema import MAIN, Reader, attr
from bigtime.wire import Steps


def unlist_empty_buckets(walked: Buckets[Any]) -> Steps[int]:
    """Marks the entries of empty buckets, and deletes those marked two hours ago or earlier.

    For lists that items leave, as orders leave a status; to be run every hour or so. It asks each
    listed bucket, and returns how many are listed no longer. See bucket_list for why it is safe.
    """
    whole = replace(walked, fields=walked.shared_fields)  # bounds of the sort key hide items
    series = whole.listed.series(whole.shared_fields)
    entries = yield from all_of(whole.listed.entry.within(MAIN, series=series))
    unlisted = 0
    for entry in entries:
        if (yield from is_empty(whole, entry.bucket)):
            unlisted += yield from mark_or_delete(entry)
    return unlisted


def is_empty(walked: Buckets[Any], bucket: str) -> Steps[bool]:
    """Whether a bucket holds no item, not even one that was deleted softly."""
    partition = walked.at(walked.encoding.decode(bucket))
    items = Reader((walked.entity.__name__,), lambda item: item)
    page = yield from query(partition.read_as(items), limit=1, deleted=True)
    return not page.items and page.position is None


def mark_or_delete(entry: BucketEntry) -> Steps[bool]:
    """Marks an entry or deletes it, unless its bucket has been listed again; whether it is gone."""
    moment = yield from now()
    marked = attr("emptied_at")
    with suppress(ConditionFailed, ItemMissing):
        if entry.emptied_at is None:
            yield from update(entry.own_key(), emptied_at=moment, when=marked.missing())
        elif entry.emptied_at + MARKED_FOR <= moment:
            yield from delete(entry.own_key(), when=marked == entry.emptied_at)
            return True
    return False
