"""Declarations of search: plain values, with their mistakes found at once."""

from __future__ import annotations

import pytest

from bigtime import model as bt
from bigtime.systems import deals, portal

BOOKS = bt.Table("Books", "isbn", stream="NEW_AND_OLD_IMAGES")
NOTES = bt.Table("Notes", "id")


class Book(bt.Entity, table=BOOKS):
    keys = bt.Keys(main="{isbn}")
    isbn: str
    title: str
    price: int

    @property
    def half_price(self) -> float:
        return self.price / 2


class Note(bt.Entity, table=NOTES):
    keys = bt.Keys(main="{id}")
    id: str
    text: str


def test_a_search_is_a_plain_value_named_after_its_entity() -> None:
    declared = bt.search(Book, text=("title",), sort=("price", "half_price"))
    assert declared == bt.SearchIndex("books", Book, ("title",), sort=("price", "half_price"))
    assert bt.System("library", (BOOKS,), searches=(declared,)).searches == (declared,)


def test_the_systems_declare_deals_and_tenants() -> None:
    assert deals.SYSTEM.searches == (deals.DEAL_SEARCH,)
    assert deals.DEAL_SEARCH.text == ("title", "brand_name", "description")
    assert portal.SYSTEM.searches == (portal.TENANT_SEARCH,)
    assert portal.TENANT_SEARCH.parts == ("email",)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"text": ("colour",)}, "Book has no field or property 'colour'"),
        ({"text": ("title",), "sort": ("weight",)}, "Book has no field or property 'weight'"),
        ({"text": "title"}, "text is a tuple of names, not 'title'"),
        ({"text": ()}, "it has no text to search"),
        ({"text": ("title",), "name": "My Books"}, "rename it"),
    ],
)
def test_a_mistake_is_told_at_once(given: dict[str, object], words: str) -> None:
    with pytest.raises(bt.DesignError, match=words.replace("(", r"\(")):
        bt.search(Book, **given)  # type: ignore[arg-type]


def test_a_table_without_images_in_its_stream_cannot_be_followed() -> None:
    with pytest.raises(bt.DesignError, match="does not tell what an item is"):
        bt.search(Note, text=("text",))
