"""Cards that are cached: each is what it would be if it were rendered anew."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.systems.deals.design import Picture
from bigtime.systems.deals.featured import copy_of
from bigtime.web.pages.rendering import CARDS, TEMPLATE, CardDeal, cached_cards, environment
from tests.web.conftest import old_deal

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
LAMP = old_deal(NOON, 1)
TEMPLATES = environment()
CACHED = cached_cards(TEMPLATES)
MORE: dict[str, tuple[Any, ...]] = {
    "card": ("h3", "", False),
    "drafted_deal": (1, False, ""),
    "deal_to_add": ("",),
    "deal_at_desk": (NOON,),
    "found_deal": (None, None, False),
}
OTHERS = {
    "title": "Another lamp",
    "price": Decimal("9.99"),
    "list_price": Decimal("99.99"),
    "brand_name": "Äpple",
    "category_name": "House",
}
PICTURE = Picture.make("0123456789abcdef" * 2, (160, 320), 240)

texts = st.sampled_from(["A lamp", "a <b>lamp</b>", "Tom & Sons", "1", "\x03"])
prices = st.sampled_from([Decimal(1), Decimal("1.00"), Decimal("1.5"), Decimal("2.99")])
deals = st.builds(
    CardDeal,
    deal_id=st.sampled_from([LAMP.deal_id, old_deal(NOON, 2).deal_id]),
    title=texts,
    link=st.sampled_from(["https://shop.example/lamp", "https://www.other.example"]),
    price=prices,
    list_price=st.none() | prices,
    brand=texts,
    brand_name=texts,
    category=st.sampled_from(["HOME", "TOYS"]),
    category_name=texts,
    picture=st.none() | st.just(PICTURE),
)
notes = st.sampled_from(["", "1 view, 0 clicks"])


def render_card(name: str, deal: Any) -> str:
    return str(CACHED[name](deal, *MORE[name]))


@given(st.lists(st.tuples(deals, st.sampled_from(["h2", "h3"]), notes, st.booleans()), min_size=1))
def test_a_card_that_is_kept_is_what_it_would_be(asked: list[tuple[Any, ...]]) -> None:
    anew: Any = TEMPLATES.get_template(TEMPLATE).module
    assert [CACHED["card"](*each) for each in asked] == [anew.card(*each) for each in asked]


@pytest.mark.parametrize("name", CARDS)
def test_a_deal_that_has_changed_is_shown_as_it_is(name: str) -> None:
    before = render_card(name, LAMP)
    for field, other in OTHERS.items():
        after = render_card(name, LAMP.model_copy(update={field: other}))
        if field != "list_price" or name == "card":
            assert after != before, field
    assert render_card(name, LAMP) == before


@pytest.mark.parametrize("name", CARDS)
def test_what_somebody_has_written_is_escaped(name: str) -> None:
    piece = render_card(name, LAMP.model_copy(update={"title": "<script>'\"&"}))
    assert "<script>" not in piece
    assert "&lt;script&gt;&#39;&#34;&amp;" in piece


def test_a_featured_copy_has_the_card_of_its_deal() -> None:
    assert render_card("card", copy_of(LAMP)) == render_card("card", LAMP)


def test_one_note_is_not_kept_for_another() -> None:
    noted = [
        str(CACHED["card"](LAMP, "h3", note, False)) for note in ("1 view", "2 views", "1 view")
    ]
    assert "1 view</p>" in noted[0] and "2 views</p>" in noted[1]
    assert noted[0] == noted[2]


def test_only_the_button_that_was_asked_for_has_the_focus() -> None:
    for button in ("up", "down", "remove"):
        piece = str(CACHED["drafted_deal"](LAMP, 2, False, f"{button}-{LAMP.deal_id}"))
        assert piece.count("autofocus") == 1
        assert f'id="{button}-{LAMP.deal_id}" autofocus' in piece
    assert "autofocus" not in render_card("drafted_deal", LAMP)


def test_the_first_place_goes_no_further_up_and_the_last_none_down() -> None:
    def buttons(place: int, *, is_last: bool) -> list[str]:
        piece = str(CACHED["drafted_deal"](LAMP, place, is_last, ""))
        return [name for name in ("up", "down", "remove") if f'name="{name}"' in piece]

    assert buttons(1, is_last=False) == ["down", "remove"]
    assert buttons(2, is_last=True) == ["up", "remove"]
    assert buttons(1, is_last=True) == ["remove"]
