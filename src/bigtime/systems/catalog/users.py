"""Users, by id, and their activities, by time. Sign-in is not part of the catalogue."""

from __future__ import annotations

from datetime import datetime

from bigtime import model as bt
from bigtime.systems.catalog.design import PAGE, User, UserActivity
from bigtime.systems.catalog.errors import ActivityExists, UnknownUser, UserExists
from bigtime.systems.catalog.values import UserId, given_fields


@bt.pattern("Pattern #6 get_user_by_id", index="Main table")
def get_user_by_id(user_id: UserId, *, consistent: bool = False) -> bt.Steps[User]:
    """Get user by user_id."""
    return (yield from bt.get(User.key(user_id), missing=UnknownUser, consistent=consistent))


@bt.pattern("Pattern #7 create_user", index="Main table")
def create_user(user: User) -> bt.Steps[User]:
    """Create a new user account."""
    return (yield from bt.create(user, unless_exists=UserExists))


@bt.pattern("Put user", index="Main table")
def put_user(user: User) -> bt.Steps[User]:
    """Create a user, or write over the one with that id."""
    return (yield from bt.put(user))


@bt.pattern("Update user", index="Main table", sample={"email": "jane@example.com"})
def update_user(
    user_id: UserId,
    *,
    username: str | None = None,
    email: str | None = None,
    display_name: str | None = None,
    last_login: datetime | None = None,
) -> bt.Steps[User]:
    """Change a user's names or e-mail address, or when they were last here."""
    changed = given_fields(
        username=username, email=email, display_name=display_name, last_login=last_login
    )
    return (yield from bt.update(User.key(user_id), if_exists=UnknownUser, **changed))


# Activities: what users did, and the notifications they got, by time

DEAL_NOTIFICATION = "deal_notification"


@bt.pattern("Pattern #13 get_user_activities", index="Main table")
def get_user_activities(
    user_id: UserId,
    *,
    ascending: bool = False,
    limit: int = PAGE,
    after: bt.Position | None = None,
    consistent: bool = False,
) -> bt.Steps[bt.Page[UserActivity]]:
    """Get all activities for a user."""
    theirs = UserActivity.within("main", user_id=user_id)
    return (
        yield from bt.query(
            theirs, newest_first=not ascending, limit=limit, after=after, consistent=consistent
        )
    )


@bt.pattern("Pattern #14 get_user_activities_after", index="Main table")
def get_user_activities_after(
    user_id: UserId,
    since_timestamp: datetime,
    *,
    ascending: bool = True,
    limit: int = PAGE,
    after: bt.Position | None = None,
    consistent: bool = False,
) -> bt.Steps[bt.Page[UserActivity]]:
    """Get user activities after a specific timestamp.

    Those of that very second are among them; the oldest comes first.
    """
    since = bt.at_least(since_timestamp)
    later = UserActivity.within("main", user_id=user_id, timestamp=since)
    return (
        yield from bt.query(
            later, newest_first=not ascending, limit=limit, after=after, consistent=consistent
        )
    )


@bt.pattern("Get user notifications", index="Main table")
def get_user_notifications(
    user_id: UserId, *, limit: int = PAGE, after: bt.Position | None = None
) -> bt.Steps[bt.Page[UserActivity]]:
    """What a user was told of new deals, the newest first."""
    theirs = UserActivity.within("main", user_id=user_id)
    told = bt.attr("activity_type") == DEAL_NOTIFICATION
    return (yield from bt.query(theirs, filter=told, newest_first=True, limit=limit, after=after))


@bt.pattern("Record activity", index="Main table")
def record_activity(activity: UserActivity) -> bt.Steps[UserActivity]:
    """Add what a user did; the same one again is refused."""
    return (yield from bt.create(activity, unless_exists=ActivityExists))
