"""Prices as people type them: read where there is no doubt, and else refused for what is wrong."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import DomainError
from bigtime.systems.deals.values import CENT, MOST_PRICE
from bigtime.web.desk.deal_form import typed_price

PRICES = st.decimals(min_value=CENT, max_value=MOST_PRICE - CENT, places=2)
WAYS = ("{:.2f}", "{:,.2f}", "${:.2f}", "${:,.2f}", "$ {:,.2f}")


@given(price=PRICES, way=st.sampled_from(WAYS))
def test_a_price_is_read_however_it_is_written(price: Decimal, way: str) -> None:
    assert typed_price(way.format(price)) == price


@given(st.text(max_size=12))
def test_what_is_read_is_digits_with_a_sign_commas_and_two_decimals_at_the_most(text: str) -> None:
    try:
        price = typed_price(text)
    except DomainError:
        return
    assert {*text.strip()} <= {*"$ 0123456789,."}
    assert CENT <= price < MOST_PRICE and price == round(price, 2)


@pytest.mark.parametrize(
    ("typed", "price"),
    [
        ("5", "5"),
        ("$5", "5"),
        ("1,000", "1000"),
        ("1,000.00", "1000"),
        ("19.9", "19.9"),
        (".50", "0.5"),
        ("999,999,999,999.99", "999999999999.99"),
    ],
)
def test_what_can_mean_one_thing_is_taken(typed: str, price: str) -> None:
    assert typed_price(typed) == Decimal(price)


DIGITS = "A price is written in digits, such as 19.99."
DECIMALS = "A price has at most two decimals, such as 19.99."
POINT = "Decimals follow a point, such as 19.99."
THOUSANDS = "Commas stand before every three digits, such as 1,000.00; or leave them out."
ABOVE = "A price is more than 0."
MOST = "A price is at most $999,999,999,999.99."


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("1e5", DIGITS),
        ("1_000", DIGITS),
        ("NaN", DIGITS),
        ("cheap", DIGITS),
        ("$", DIGITS),
        (".", DIGITS),
        ("5 $", DIGITS),
        ("€5", DIGITS),
        ("+5", DIGITS),
        ("١٢", DIGITS),
        ("1.2.3", DIGITS),
        ("1.999", DECIMALS),
        ("19,99", POINT),
        ("1.000,00", POINT),
        ("1,0000", THOUSANDS),
        ("1,00,000", THOUSANDS),
        ("0", ABOVE),
        ("0.00", ABOVE),
        ("-1", ABOVE),
        ("1,000,000,000,000", MOST),
        ("9" * 5_000, MOST),
    ],
)
def test_what_is_said_is_what_is_wrong(typed: str, says: str) -> None:
    with pytest.raises(DomainError) as refused:
        typed_price(typed)
    assert str(refused.value) == says
