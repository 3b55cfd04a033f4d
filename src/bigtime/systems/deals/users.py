"""Users: who they are."""

from __future__ import annotations

from bigtime.model import create, get, pattern, update
from bigtime.systems.deals.design import User
from bigtime.systems.deals.errors import UnknownUser, UsernameTaken
from bigtime.systems.deals.values import GivenEmail, GivenName, Username, given_fields
from bigtime.wire import Steps


@pattern("Create User", index="Main table")
def create_user(
    username: Username, *, name: GivenName | None = None, email: GivenEmail | None = None
) -> Steps[User]:
    """Condition on username; update never touches keys."""
    user = new_user(username, name=name, email=email)
    return (yield from create(user, unless_exists=UsernameTaken))


@pattern("Read User", index="Main table")
def read_user(username: Username) -> Steps[User]:
    """Condition on username; update never touches keys."""
    return (yield from get(User.key(username), missing=UnknownUser))


@pattern("Update User", index="Main table", sample={"name": "Alex"})
def update_user(
    username: Username, *, name: GivenName | None = None, email: GivenEmail | None = None
) -> Steps[User]:
    """Condition on username; update never touches keys.

    What is not told stays.
    """
    changes = given_fields(name=name, email=email)
    if not changes:
        return (yield from read_user(username))
    return (yield from update(User.key(username), if_exists=UnknownUser, **changes))


def new_user(username: str, *, name: str | None = None, email: str | None = None) -> User:
    """A user that is not stored yet, for whoever stores it together with something else."""
    return User(
        username=username, **given_fields(name=username if name is None else name, email=email)
    )
