"""Brands and categories: made once, listed, and told apart by their keys."""

from __future__ import annotations

import pytest

from bigtime.model import load_many, verify
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.brands import (
    CATEGORIES,
    create_brand,
    create_categories,
    fetch_all_brands,
    fetch_all_categories,
    fetch_brand,
    fetch_category,
)
from bigtime.systems.deals.design import Brands
from bigtime.systems.deals.errors import BrandExists, TooManyBrands, UnknownBrand, UnknownCategory
from bigtime.systems.deals.interests import like_category
from tests.store.places import Place
from tests.systems.deals.scene import dump, raw


def test_a_brand_is_made_and_listed_together(place: Place) -> None:
    for name in ("Sony", "bang & Olufsen", "Apple"):
        place.run(create_brand(name, logo="https://logos.example/a.svg"))

    assert place.run(fetch_all_brands()) == ["Apple", "bang & Olufsen", "Sony"]
    brand = place.run(fetch_brand("BANG & OLUFSEN"))
    assert (brand.brand, brand.name) == ("BANG & OLUFSEN", "bang & Olufsen")
    assert (brand.like_count, brand.watch_count) == (0, 0)
    assert place.run(verify(SYSTEM)) == []


def test_a_name_in_another_case_is_the_same_brand(place: Place) -> None:
    """B28: the key has one case, people see the name as it was given."""
    place.run(create_brand("Apple"))
    before = dump(place)
    for name in ("Apple", "APPLE", " apple "):
        with pytest.raises(BrandExists):
            place.run(create_brand(name))
    assert dump(place) == before
    assert raw(place, "BRAND#APPLE", "BRAND#APPLE") is not None


def test_no_brands_are_an_empty_list(place: Place) -> None:
    assert place.run(fetch_all_brands()) == []


def test_a_brand_that_is_not_there_is_unknown(place: Place) -> None:
    with pytest.raises(UnknownBrand):
        place.run(fetch_brand("Nokia"))


def test_when_the_list_of_brands_is_full_no_brand_is_made(alone: Place) -> None:
    """B26: the list is one item, which ends at 400 KB."""
    alone.run(load_many([Brands(brands={f"{number:0100}" for number in range(4_094)})]))
    alone.run(create_brand("x" * 100))
    before = dump(alone)

    with pytest.raises(TooManyBrands):
        alone.run(create_brand("y" * 100))

    assert dump(alone) == before
    assert len(alone.run(fetch_all_brands())) == 4_095


def test_the_eight_categories_are_made_once(place: Place) -> None:
    """B29."""
    assert [category.name for category in place.run(create_categories())] == list(CATEGORIES)
    place.run(like_category("home", "alex"))
    before = dump(place)

    assert place.run(create_categories()) == []

    assert dump(place) == before
    assert len(CATEGORIES) == 8


def test_all_categories_are_fetched_in_their_order(place: Place) -> None:
    assert place.run(fetch_all_categories()) == []
    made = place.run(create_categories())
    assert place.run(fetch_all_categories()) == made


def test_a_category_that_is_not_there_is_unknown(place: Place) -> None:
    place.run(create_categories())
    with pytest.raises(UnknownCategory):
        place.run(fetch_category("Cars"))
