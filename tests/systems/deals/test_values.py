"""Names: one spelling in keys, and no two names that are told apart share one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import DomainError
from bigtime.systems.deals.design import Brand, BrandLike, User
from bigtime.systems.deals.errors import DescriptionRefused, DotsAlone
from bigtime.systems.deals.values import (
    brand_key,
    brand_shown,
    category_key,
    checked_description,
    username_key,
)

texts = st.text(max_size=30)


@given(texts)
def test_a_name_is_spelled_once(text: str) -> None:
    for spell in (brand_key, category_key, username_key):
        try:
            spelled = spell(text)
        except DomainError:
            continue
        assert spell(spelled) == spelled
        assert "#" not in spelled and spelled.isprintable() and spelled == spelled.strip()


@given(texts)
def test_a_name_in_any_case_has_one_key(text: str) -> None:
    try:
        key = brand_key(text)
    except DomainError:
        return
    assert brand_key(f"  {text} ") == key
    if text.isascii():
        assert brand_key(text.lower()) == brand_key(text.upper()) == key
        assert username_key(text.upper()) == username_key(text.lower())


def test_a_letter_has_one_spelling_however_it_is_composed() -> None:
    assert brand_key("Nestle\u0301") == brand_key("NESTL\u00c9")
    assert brand_key("Bang  &  Olufsen") == "BANG & OLUFSEN"
    assert username_key("ALEX") == "alex"


@pytest.mark.parametrize("name", [".", "..", " ... ", "A/..", "../B", "A/./B"])
def test_dots_alone_are_no_name_for_they_lead_elsewhere_in_an_address(name: str) -> None:
    for spell in (brand_key, category_key, brand_shown):
        with pytest.raises(DotsAlone, match="dots alone"):
            spell(name)


@pytest.mark.parametrize("name", ["A.", ".NET", "A/B", "7..UP", "/", "A/.B"])
def test_dots_beside_something_are_fine(name: str) -> None:
    assert brand_key(name) == name


@pytest.mark.parametrize("text", ["a\x00b", "\x1b[31m", "\u2028"])
def test_a_description_has_nothing_that_cannot_be_seen(text: str) -> None:
    with pytest.raises(DescriptionRefused):
        checked_description(text)
    assert checked_description("Two\nlines.") == "Two\nlines."


@given(texts, texts, texts, texts)
def test_no_two_likes_share_a_key(brand: str, username: str, other: str, another: str) -> None:
    try:
        likes = [
            BrandLike(brand=brand, username=username),
            BrandLike(brand=other, username=another),
        ]
    except DomainError:
        return
    same = likes[0] == likes[1]
    assert (likes[0].own_key().item == likes[1].own_key().item) is same


@pytest.mark.parametrize(
    ("key", "pk"),
    [
        (Brand.key("Bang & Olufsen"), "BRAND#BANG & OLUFSEN"),
        (User.key("Alex"), "USER#alex"),
        (BrandLike.key("apple", "ALEX"), "BRANDLIKE#APPLE#alex"),
    ],
    ids=["brand", "user", "like"],
)
def test_a_key_is_as_the_chart_says(key: object, pk: str) -> None:
    assert getattr(key, "item")["PK"] == {"S": pk}  # noqa: B009
