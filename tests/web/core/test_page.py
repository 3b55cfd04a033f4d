"""Pages: segments, slots, and what fills them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bigtime.web.pages.page import Page, slot

TEXTS = st.text()


@given(texts=st.lists(TEXTS, min_size=1, max_size=6), filling=TEXTS)
def test_a_page_is_its_text_with_the_gaps_filled(texts: list[str], filling: str) -> None:
    marked = str(slot("gap")).join(texts)
    page = Page.from_text(marked)

    assert page.slots == ("gap",) * (len(texts) - 1)
    assert page.join([filling.encode()] * len(page.slots)).decode() == filling.join(texts)


def test_nobody_can_write_a_gap_into_a_page() -> None:
    text = "a\x02header\x03b"
    page = Page.from_text(text)
    assert page.slots == () and page.join([]) == text.encode()


def test_each_gap_is_filled_by_its_name() -> None:
    page = Page.from_text(f"a{slot('one')}b{slot('two words')}c")
    found = {"one": b"1", "two words": b"2"}
    assert page.join(found[name] for name in page.slots) == b"a1b2c"


def test_a_page_without_gaps_is_one_segment() -> None:
    page = Page.json(b"{}")
    assert page.join([]) == b"{}" and page.content_type == b"application/json"
