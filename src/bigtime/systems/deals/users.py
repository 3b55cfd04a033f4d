"""Users and their messages: all, unread, marking as read; and a user's personal data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bigtime import model as bt
from bigtime.systems.deals import brands, design, interests, values
from bigtime.systems.deals.design import PAGE, Message, User
from bigtime.systems.deals.errors import TooManyMessages, UnknownMessage, UnknownUser, UsernameTaken


@bt.pattern("Create User", index="Main table")
def create_user(
    username: values.Username,
    *,
    name: values.GivenName | None = None,
    email: values.GivenEmail | None = None,
) -> bt.Steps[User]:
    """Condition on username; update never touches keys."""
    user = new_user(username, name=name, email=email)
    return (yield from bt.create(user, unless_exists=UsernameTaken))


@bt.pattern("Read User", index="Main table")
def read_user(username: values.Username) -> bt.Steps[User]:
    """Condition on username; update never touches keys."""
    return (yield from bt.get(User.key(username), missing=UnknownUser))


@bt.pattern("Update User", index="Main table", sample={"name": "Alex"})
def update_user(
    username: values.Username,
    *,
    name: values.GivenName | None = None,
    email: values.GivenEmail | None = None,
) -> bt.Steps[User]:
    """Condition on username; update never touches keys.

    Fields that are not given stay.
    """
    changes = values.given_fields(name=name, email=email)
    if not changes:
        return (yield from read_user(username))
    return (yield from bt.update(User.key(username), if_exists=UnknownUser, **changes))


def new_user(username: str, *, name: str | None = None, email: str | None = None) -> User:
    """A user that is not yet stored, for a transaction with other writes."""
    return User(
        username=username,
        **values.given_fields(name=username if name is None else name, email=email),
    )


# Messages

MOST_COUNTED: Final = 100


@bt.pattern("View Messages for User", index="Main table")
def view_messages(
    username: values.Username, *, after: bt.Position | None = None
) -> bt.Steps[bt.Page[Message]]:
    """Newest first, paged."""
    messages = Message.within("main", username=username)
    return (yield from bt.query(messages, newest_first=True, limit=PAGE, after=after))


@bt.pattern("View Unread Messages for User", index="GSI1")
def view_unread_messages(
    username: values.Username, *, after: bt.Position | None = None
) -> bt.Steps[bt.Page[Message]]:
    """Newest first, paged."""
    messages = Message.within("GSI1", username=username)
    return (yield from bt.query(messages, newest_first=True, limit=PAGE, after=after))


@bt.pattern("Count Unread Messages for User", index="GSI1")
def count_unread_messages(username: values.Username) -> bt.Steps[int]:
    """At most 100 are counted."""
    return (yield from bt.count(Message.within("GSI1", username=username), most=MOST_COUNTED))


@bt.pattern("Mark Message as Read", index="Main table")
def mark_message_as_read(
    username: values.Username, message_id: values.MessageId
) -> bt.Steps[Message]:
    """SET Unread, REMOVE GSI1 keys.

    To do it again changes nothing; a message that is not there is not made.
    """
    key = Message.key(username, values.message_id_of(message_id))
    return (yield from bt.update(key, unread=False, if_exists=UnknownMessage))


@bt.pattern("Fetch Message", index="Main table")
def fetch_message(username: values.Username, message_id: values.MessageId) -> bt.Steps[Message]:
    """GetItem."""
    key = Message.key(username, values.message_id_of(message_id))
    return (yield from bt.get(key, missing=UnknownMessage, consistent=True))


@bt.pattern("Mark Messages as Read", index="Main table")
def mark_messages_as_read(
    username: values.Username, message_ids: list[values.MessageId]
) -> bt.Steps[None]:
    """Those of a page, all or none; an id that is given twice counts once."""
    ids = dict.fromkeys(map(values.message_id_of, message_ids))
    if len(ids) > PAGE:
        raise TooManyMessages()
    if ids:
        yield from bt.transact(
            *(
                bt.update(Message.key(username, id_), unread=False, if_exists=UnknownMessage)
                for id_ in ids
            )
        )


# What belongs to a user: the user, their likes and watches, their messages

BRANDS_AT_ONCE: Final = 500


def find_in_brands(place: int) -> bt.Find:
    """Finds likes (0) or watches (1) of brands: no index lists them, so all brands are read."""

    def find(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[bt.Entity]]:
        names = yield from brands.fetch_all_brands()
        found: list[bt.Entity] = []
        for start in range(0, len(names), BRANDS_AT_ONCE):
            pairs = interests.brand_keys(names[start : start + BRANDS_AT_ONCE], person.username)
            found += yield from items_at([pair[place] for pair in pairs])
        return bt.Page(found)

    return find


def find_in_categories(place: int) -> bt.Find:
    """Finds likes (0) or watches (1) of the eight categories."""

    def find(person: bt.Person, after: bt.Position | None) -> bt.Steps[bt.Page[bt.Entity]]:
        pairs = interests.category_keys(brands.CATEGORIES, person.username)
        return bt.Page((yield from items_at([pair[place] for pair in pairs])))

    return find


def items_at(keys: Sequence[bt.Key[bt.Entity]]) -> bt.Steps[list[bt.Entity]]:
    found = yield from bt.get_many(keys, consistent=True)
    return [item for item in found if item is not None]


PERSONAL: Final = (
    bt.personal(design.User, "username", is_last=True),
    bt.personal(design.BrandLike, "username", find=find_in_brands(0)),
    bt.personal(design.BrandWatch, "username", find=find_in_brands(1)),
    bt.personal(design.CategoryLike, "username", find=find_in_categories(0)),
    bt.personal(design.CategoryWatch, "username", find=find_in_categories(1)),
    bt.personal(design.Message, "username"),
    bt.personal(design.SavedDeals, "username"),
)
