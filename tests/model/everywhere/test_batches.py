"""Batches: more than one request can take, of several tables, and of some that are not there."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.model import DesignError, Key, delete_many, get_many, load_many, put_many, scan_all
from bigtime.wire import Steps
from tests.model.designs import (
    BIG_TIME_DEALS,
    NOON,
    PLACES,
    TRENDING,
    Brand,
    Shop,
    TrendingDeal,
    User,
)
from tests.model.everywhere.scenario import everywhere


def users(count: int) -> list[User]:
    return [User(username=f"user{n}") for n in range(count)]


def keys(count: int) -> list[Key[User]]:
    return [User.key(f"user{n}") for n in range(count)]


@everywhere(BIG_TIME_DEALS)
def test_more_than_a_request_can_take() -> Steps[object]:
    assert (yield from put_many(users(130))) == users(130)
    found = yield from get_many(keys(140), consistent=True)
    assert found == [*users(130), *[None] * 10]
    yield from delete_many(keys(120))
    assert (yield from get_many(keys(130))) == [*[None] * 120, *users(130)[120:]]
    left = yield from scan_all(User)
    return sorted(each.username for each in left)


@everywhere(BIG_TIME_DEALS)
def test_the_order_of_the_keys_and_each_as_often_as_it_is_asked() -> Steps[object]:
    yield from put_many(users(3))
    asked = [User.key(name) for name in ("user2", "nobody", "user0", "user2")]
    found = yield from get_many(asked)
    assert [each and each.username for each in found] == ["user2", None, "user0", "user2"]
    return found


@everywhere(BIG_TIME_DEALS)
def test_of_two_with_one_key_the_later_stays() -> Steps[object]:
    yield from put_many([Brand(brand="A", like_count=1), Brand(brand="A", like_count=2)])
    found = yield from get_many([Brand.key("A")])
    assert found == [Brand(brand="A", like_count=2)]
    return found


@everywhere(BIG_TIME_DEALS, TRENDING)
def test_several_tables_and_entities() -> Steps[object]:
    trending = [TrendingDeal(category_id="tv", engagement_score=n) for n in range(30)]
    yield from load_many([*users(30), *trending, Brand(brand="B")])
    asked: list[Key[Any]] = [*(each.own_key() for each in trending), *keys(30)]
    found = yield from get_many(asked)
    assert found == [*trending, *users(30)]
    yield from delete_many(asked)
    left: list[Any] = yield from get_many([Brand.key("B"), *asked[-1:]])
    assert left == [Brand(brand="B"), None]
    return found


@everywhere(PLACES)
def test_what_was_deleted_softly_counts_as_missing() -> Steps[object]:
    shops = [
        Shop(country="US", state="NE", city="Omaha", zip_code=f"{n}", closed_at=closed)
        for n, closed in enumerate((NOON, None))
    ]
    yield from put_many(shops)
    keys = [shop.own_key() for shop in shops]
    assert (yield from get_many(keys)) == [None, shops[1]]
    assert (yield from get_many(keys, deleted=True)) == shops
    with pytest.raises(DesignError, match="deleted softly"):
        yield from delete_many(keys)
    return (yield from get_many(keys, deleted=True))
