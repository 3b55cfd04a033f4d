"""Pages of records: 1 to 100 of them, active ones only unless the others are asked for too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from bigtime.model import Condition, Page, Position, at_least, at_most, attr, between, merge, query
from bigtime.systems.portal.design import Record
from bigtime.systems.portal.errors import PageSizeRefused, RangeReversed
from bigtime.systems.portal.values import checked_moment
from bigtime.wire import Steps

R = TypeVar("R", bound=Record)

PAGE: Final = 50
MOST_ON_A_PAGE: Final = 100
IS_ACTIVE: Final = attr("active") == True  # noqa: E712


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records there are, by whether they are active."""

    active: int
    inactive: int


def checked_size(limit: Any) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_ON_A_PAGE:
        raise PageSizeRefused
    return limit


def activity_page(
    entity: type[R],
    index: str,
    *,
    limit: int,
    after: Position | None,
    newest_first: bool,
    include_inactive: bool = False,
    filter: Condition | None = None,
    **stretch: Any,
) -> Steps[Page[R]]:
    """A page of an index by `active`; with the inactive ones, both partitions in one order."""
    size = checked_size(limit)
    kinds = (True, False) if include_inactive else (True,)
    partitions = [entity.within(index, active=active, **stretch) for active in kinds]
    if len(partitions) == 1:
        return (
            yield from query(
                partitions[0], limit=size, after=after, newest_first=newest_first, filter=filter
            )
        )
    return (
        yield from merge(
            *partitions, limit=size, after=after, newest_first=newest_first, filter=filter
        )
    )


def created_between(start: datetime | None, end: datetime | None) -> dict[str, Any]:
    """What a range of creation asks of a sort key; both ends are in it, and either may be open."""
    low = None if start is None else checked_moment(start)
    high = None if end is None else checked_moment(end)
    if low and high:
        if low > high:
            raise RangeReversed
        return {"date_created": between(low, high)}
    if low:
        return {"date_created": at_least(low)}
    return {"date_created": at_most(high)} if high else {}
