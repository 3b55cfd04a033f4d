"""Likes and watches: each once, and counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bigtime.model import DomainError, verify
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.brands import fetch_brand, fetch_category
from bigtime.systems.deals.errors import (
    AlreadyLiked,
    AlreadyWatched,
    NotLiked,
    NotWatched,
    UnknownBrand,
    UnknownCategory,
)
from bigtime.systems.deals.interests import (
    Interest,
    fetch_brand_interest,
    fetch_brand_interests,
    fetch_category_interest,
    fetch_category_interests,
    like_brand,
    like_category,
    unlike_brand,
    unlike_category,
    unwatch_brand,
    unwatch_category,
    watch_brand,
    watch_category,
)
from bigtime.wire import Steps
from tests.store.places import Place
from tests.systems.deals.scene import dump, open_site, raw


@dataclass(frozen=True)
class Kind:
    """One of the four: how it is done and undone, and what is raised."""

    do: Callable[[str, str], Steps[None]]
    undo: Callable[[str, str], Steps[None]]
    what: str
    counter: str
    again: type[DomainError]
    absent: type[DomainError]
    unknown: type[DomainError]


KINDS = {
    "brand like": Kind(
        like_brand, unlike_brand, "Apple", "like_count", AlreadyLiked, NotLiked, UnknownBrand
    ),
    "brand watch": Kind(
        watch_brand, unwatch_brand, "Apple", "watch_count", AlreadyWatched, NotWatched, UnknownBrand
    ),
    "category like": Kind(
        like_category, unlike_category, "Home", "like_count", AlreadyLiked, NotLiked,
        UnknownCategory,
    ),
    "category watch": Kind(
        watch_category, unwatch_category, "Home", "watch_count", AlreadyWatched, NotWatched,
        UnknownCategory,
    ),
}  # fmt: skip


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def count_of(place: Place, kind: Kind) -> Any:
    if kind.what == "Apple":
        return getattr(place.run(fetch_brand("Apple")), kind.counter)
    category, _ = place.run(fetch_category("Home"))
    return getattr(category, kind.counter)


def test_twice_counts_once_and_undoing_it_restores(place: Place, kind: Kind) -> None:
    """Deciding test 9 (B22, B24)."""
    open_site(place)
    before = dump(place)

    place.run(kind.do("aPPle" if kind.what == "Apple" else "hOMe", "Alex"))
    with pytest.raises(kind.again):
        place.run(kind.do(kind.what, "alex"))
    assert count_of(place, kind) == 1

    place.run(kind.undo(kind.what, "ALEX"))
    assert dump(place) == before
    with pytest.raises(kind.absent):
        place.run(kind.undo(kind.what, "alex"))
    assert dump(place) == before


def test_each_user_counts(alone: Place, kind: Kind) -> None:
    open_site(alone)
    for username in ("alex", "bo", "cleo"):
        alone.run(kind.do(kind.what, username))
    alone.run(kind.undo(kind.what, "bo"))
    assert count_of(alone, kind) == 2
    assert alone.run(verify(SYSTEM)) == []


def test_what_is_not_there_cannot_be_liked_or_watched(alone: Place, kind: Kind) -> None:
    with pytest.raises(kind.unknown):
        alone.run(kind.do("Nothing", "alex"))
    assert dump(alone) == []


def test_the_four_lie_where_the_chart_says(alone: Place) -> None:
    open_site(alone)
    for kind in KINDS.values():
        alone.run(kind.do(kind.what, "Alex"))
    for pk, sk in (
        ("BRANDLIKE#APPLE#alex", "BRANDLIKE#APPLE#alex"),
        ("BRANDWATCH#APPLE", "USER#alex"),
        ("CATEGORYLIKE#HOME#alex", "CATEGORYLIKE#HOME#alex"),
        ("CATEGORYWATCH#HOME", "USER#alex"),
    ):
        assert raw(alone, pk, sk) is not None


def test_a_user_sees_what_they_like_and_watch(place: Place) -> None:
    open_site(place)
    place.run(like_brand("Apple", "alex"))
    place.run(watch_category("Home", "alex"))

    assert place.run(fetch_brand_interest("apple", "Alex")) == Interest(liked=True, watched=False)
    assert place.run(fetch_brand_interest("Apple", "bo")) == Interest(liked=False, watched=False)
    of_home = place.run(fetch_category_interest("home", "alex"))
    assert of_home == Interest(liked=False, watched=True)


def test_of_many_brands_a_user_sees_those_that_they_like_or_watch(place: Place) -> None:
    open_site(place, *(f"Brand {number}" for number in range(120)))
    for number in (3, 60, 119):
        place.run(like_brand(f"Brand {number}", "alex"))
    place.run(watch_brand("Brand 60", "alex"))
    place.run(like_brand("Brand 4", "bo"))
    place.run(watch_category("Home", "alex"))

    of_brands = place.run(fetch_brand_interests([f"Brand {n}" for n in range(120)], "Alex"))
    of_categories = place.run(fetch_category_interests(["Toys", "Home"], "alex"))

    assert of_brands == {
        "Brand 3": Interest(liked=True, watched=False),
        "Brand 60": Interest(liked=True, watched=True),
        "Brand 119": Interest(liked=True, watched=False),
    }
    assert of_categories == {"Home": Interest(liked=False, watched=True)}
    assert place.run(fetch_brand_interests([], "alex")) == {}
