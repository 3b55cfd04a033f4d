"""Buckets of time, and the checks that a moment or a day must pass to be in one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple


class Bucket(NamedTuple):
    """A stretch of time that shares one key; each starts where the one before it ends."""

    name: str
    start: Callable[[Any], Any]
    longest: timedelta
    instant: timedelta

    def next(self, value: Any) -> Any:
        """The start of the bucket after the value's."""
        return self.start(self.start(value) + self.longest)

    def previous(self, value: Any) -> Any:
        """The start of the bucket before the value's."""
        return self.start(self.start(value) - self.instant)


def utc(value: Any) -> datetime:
    """The moment with its clock in UTC, whatever its time zone is called."""
    if not isinstance(value, datetime):
        raise ValueError(f"takes a datetime, not {value!r}")
    offset = value.utcoffset()
    if offset is None:
        raise ValueError(f"is {value}, which has no time zone: make it as datetime.now(UTC) is")
    if not offset:
        return value
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"is {value}, which UTC cannot write in four digits of a year") from None


def day(value: Any) -> date:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise ValueError(f"takes a date, not {value!r}")
    return value
