"""Days of deals: what the latest deals on a page are read from.

A page of deals goes back over many days, and when one deal changes, one of them does. So each day
is kept for itself, of all deals, of a brand or of a category, until a deal of it changes; a page
that is made anew reads that day, and has the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bigtime.site import day_tag
from bigtime.systems import deals
from bigtime.web.pages.tagged_cache import TaggedCache


class KeptDays:
    """The days of one group of deals, for one reading of a page."""

    __slots__ = ("begun", "days", "group")

    def __init__(self, days: TaggedCache[Sequence[deals.Deal]], group: str) -> None:
        self.days = days
        self.group = group
        self.begun = days.begin()

    def get(self, bucket: datetime) -> Sequence[deals.Deal] | None:
        return self.days.get(day_tag(self.group, bucket))

    def put(self, bucket: datetime, items: Sequence[deals.Deal]) -> None:
        tag = day_tag(self.group, bucket)
        self.days.put(tag, tuple(items), (tag,), begun=self.begun)
