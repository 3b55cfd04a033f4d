"""Users and brands by id, wherever the store is."""

from __future__ import annotations

import pytest

from bigtime.model import verify
from bigtime.systems.catalog import SYSTEM
from bigtime.systems.catalog.deals import create_brand, get_brand_by_id, put_brand, update_brand
from bigtime.systems.catalog.errors import (
    BrandExists,
    NothingToChange,
    UnknownBrand,
    UnknownUser,
    UserExists,
)
from bigtime.systems.catalog.users import create_user, get_user_by_id, put_user, update_user
from tests.store.places import Place
from tests.systems.catalog.samples import SONY, TEN, brand, stored_items, user


def test_a_user_is_created_once_and_put_again(place: Place) -> None:
    assert place.run(create_user(user())) == user()

    with pytest.raises(UserExists):
        place.run(create_user(user()))
    place.run(put_user(user().model_copy(update={"display_name": "Johnny"})))
    assert place.run(get_user_by_id("user-67890")).display_name == "Johnny"


def test_what_a_user_does_not_have_is_not_stored(alone: Place) -> None:
    alone.run(create_user(user()))

    (item,) = stored_items(alone, "Users")
    assert {*item} == {"user_id", "username", "email", "display_name", "created_at"}
    assert item["created_at"] == {"S": "2024-01-15T10:00:00Z"}


def test_a_user_is_updated(place: Place) -> None:
    place.run(create_user(user()))

    place.run(update_user("user-67890", email="jd@example.com", last_login=TEN))

    assert place.run(get_user_by_id("user-67890")) == user().model_copy(
        update={"email": "jd@example.com", "last_login": TEN}
    )
    with pytest.raises(NothingToChange):
        place.run(update_user("user-67890"))
    assert place.run(verify(SYSTEM)) == []


def test_an_unknown_user_is_an_error_and_no_update_makes_one(place: Place) -> None:
    for steps in (get_user_by_id("user-0"), update_user("user-0", email="x@example.com")):
        with pytest.raises(UnknownUser):
            place.run(steps)
    assert stored_items(place, "Users") == []


def test_a_brand_is_created_once_and_put_again(place: Place) -> None:
    assert place.run(create_brand(brand())) == brand()

    with pytest.raises(BrandExists):
        place.run(create_brand(brand()))
    place.run(put_brand(brand().model_copy(update={"description": "Since 1946"})))
    assert place.run(get_brand_by_id(SONY)).description == "Since 1946"


def test_a_brand_is_updated(place: Place) -> None:
    place.run(create_brand(brand()))

    updated = place.run(update_brand(SONY, logo_url="https://example.com/sony.svg"))

    assert updated == place.run(get_brand_by_id(SONY, consistent=True))
    assert (updated.brand_name, updated.logo_url) == ("Sony", "https://example.com/sony.svg")


def test_an_unknown_brand_is_an_error_and_no_update_makes_one(place: Place) -> None:
    for steps in (get_brand_by_id("brand-0"), update_brand("brand-0", brand_name="Ghost")):
        with pytest.raises(UnknownBrand):
            place.run(steps)
    assert stored_items(place, "Brands") == []


def test_users_and_brands_are_read_so_that_a_cache_may_answer(alone: Place) -> None:
    alone.run(create_user(user()))
    alone.run(create_brand(brand()))
    alone.exchanges.clear()

    alone.run(get_user_by_id("user-67890"))
    alone.run(get_brand_by_id(SONY))

    assert not any(exchange.request.params.get("ConsistentRead") for exchange in alone.exchanges)
