"""Users: a username is given once."""

from __future__ import annotations

import pytest

from bigtime.model import verify
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.errors import UnknownUser, UsernameTaken
from bigtime.systems.deals.users import create_user, read_user, update_user
from tests.store.places import START, Place
from tests.systems.deals.scene import dump, raw


def test_a_user_is_read_as_it_was_created(place: Place) -> None:
    made = place.run(create_user("Alex", email="alex@example.com"))

    assert place.run(read_user("ALEX")) == made
    assert (made.username, made.name) == ("alex", "Alex")
    assert made.created_at is not None and made.created_at >= START


def test_a_username_is_taken_in_every_case(place: Place) -> None:
    """B36."""
    place.run(create_user("alex"))
    before = dump(place)
    for username in ("alex", "Alex", "ALEX "):
        with pytest.raises(UsernameTaken):
            place.run(create_user(username, name="Somebody else"))
    assert dump(place) == before


def test_an_update_changes_what_is_told_and_no_key(place: Place) -> None:
    place.run(create_user("alex", email="alex@example.com"))
    before = raw(place, "USER#alex", "USER#alex")

    changed = place.run(update_user("alex", name="Alex D."))
    after = raw(place, "USER#alex", "USER#alex")

    assert (changed.name, changed.email) == ("Alex D.", "alex@example.com")
    assert before is not None and after == {**before, "Name": {"S": "Alex D."}}
    assert place.run(update_user("alex")) == changed
    assert place.run(verify(SYSTEM)) == []


def test_a_user_that_is_not_there_is_unknown_and_not_made(place: Place) -> None:
    for steps in (read_user("ghost"), update_user("ghost", name="Boo"), update_user("ghost")):
        with pytest.raises(UnknownUser):
            place.run(steps)
    assert dump(place) == []
