"""Activities: what users did and were told, by time."""

from __future__ import annotations

from datetime import datetime

from bigtime.model import Page, Position, at_least, attr, create, pattern, query
from bigtime.systems.catalog.design import PAGE, UserActivity
from bigtime.systems.catalog.errors import ActivityExists
from bigtime.systems.catalog.values import UserId
from bigtime.wire import Steps

DEAL_NOTIFICATION = "deal_notification"


@pattern("Pattern #13 get_user_activities", index="Main table")
def get_user_activities(
    user_id: UserId,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: Position | None = None,
    consistent: bool = False,
) -> Steps[Page[UserActivity]]:
    """Get all activities for a user."""
    return (
        yield from query(
            UserActivity.within("main", user_id=user_id),
            newest_first=not ascending,
            limit=limit,
            after=after,
            consistent=consistent,
        )
    )


@pattern("Pattern #14 get_user_activities_after", index="Main table")
def get_user_activities_after(
    user_id: UserId,
    since_timestamp: datetime,
    *,
    ascending: bool = True,
    limit: int = PAGE,
    after: Position | None = None,
    consistent: bool = False,
) -> Steps[Page[UserActivity]]:
    """Get user activities after a specific timestamp.

    Those of that very second are among them; the oldest comes first, for whoever catches up.
    """
    since = at_least(since_timestamp)
    return (
        yield from query(
            UserActivity.within("main", user_id=user_id, timestamp=since),
            newest_first=not ascending,
            limit=limit,
            after=after,
            consistent=consistent,
        )
    )


@pattern("Get user notifications", index="Main table")
def get_user_notifications(
    user_id: UserId, *, limit: int = PAGE, after: Position | None = None
) -> Steps[Page[UserActivity]]:
    """What a user was told of new deals, the newest first."""
    return (
        yield from query(
            UserActivity.within("main", user_id=user_id),
            filter=attr("activity_type") == DEAL_NOTIFICATION,
            newest_first=True,
            limit=limit,
            after=after,
        )
    )


@pattern("Record activity", index="Main table")
def record_activity(activity: UserActivity) -> Steps[UserActivity]:
    """Add what a user did; the same one again is refused."""
    return (yield from create(activity, unless_exists=ActivityExists))
