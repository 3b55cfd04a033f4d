"""Drawn pictures of demo data."""

from __future__ import annotations

from bigtime.pictures import draw_product


def test_a_product_is_drawn_as_wide_as_the_largest_card_shows_it() -> None:
    encoded = draw_product("kettle")
    assert encoded.widths == (200, 400, 800) and encoded.height == 600
    assert draw_product("kettle").digest == encoded.digest
