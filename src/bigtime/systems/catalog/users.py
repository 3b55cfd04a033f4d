"""Users, by id. Who may sign in is decided elsewhere."""

from __future__ import annotations

from datetime import datetime

from bigtime.model import create, get, pattern, put, update
from bigtime.systems.catalog.design import User
from bigtime.systems.catalog.errors import UnknownUser, UserExists
from bigtime.systems.catalog.values import UserId, given_fields
from bigtime.wire import Steps


@pattern("Pattern #6 get_user_by_id", index="Main table")
def get_user_by_id(user_id: UserId, *, consistent: bool = False) -> Steps[User]:
    """Get user by user_id."""
    return (yield from get(User.key(user_id), missing=UnknownUser, consistent=consistent))


@pattern("Pattern #7 create_user", index="Main table")
def create_user(user: User) -> Steps[User]:
    """Create a new user account."""
    return (yield from create(user, unless_exists=UserExists))


@pattern("Put user", index="Main table")
def put_user(user: User) -> Steps[User]:
    """Create a user, or write over the one with that id."""
    return (yield from put(user))


@pattern("Update user", index="Main table", sample={"email": "jane@example.com"})
def update_user(
    user_id: UserId,
    *,
    username: str | None = None,
    email: str | None = None,
    display_name: str | None = None,
    last_login: datetime | None = None,
) -> Steps[User]:
    """Change a user's names or e-mail address, or when they were last here."""
    changed = given_fields(
        username=username, email=email, display_name=display_name, last_login=last_login
    )
    return (yield from update(User.key(user_id), if_exists=UnknownUser, **changed))
