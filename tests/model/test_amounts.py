"""Amounts: exact, within their ends, and refused in the domain's own word."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.model import Amount, DomainError


class NoPrice(DomainError):
    """A price is 0.01 to 100."""


PRICE = Amount(NoPrice, least=Decimal("0.01"), most=Decimal(100))


@pytest.mark.parametrize(
    "value",
    [
        *("0", "-1", "0.009", "100.01", "1.001", "NaN", "sNaN", "Infinity", "-Infinity", "1e400"),
        *("", "much", 0, 101, 1.5, True, None, b"1", [1]),
    ],
    ids=repr,
)
def test_what_is_no_amount_is_refused(value: Any) -> None:
    with pytest.raises(NoPrice):
        PRICE(value)


@pytest.mark.parametrize("value", ["0.01", "100", 7, Decimal("19.9"), Decimal("1E+1")], ids=repr)
def test_an_amount_is_the_same_number_with_its_decimals(value: Any) -> None:
    amount = PRICE(value)
    assert amount == Decimal(value)
    assert amount.as_tuple().exponent == -2


def test_without_an_end_everything_above_the_beginning_is_taken() -> None:
    assert Amount(NoPrice, least=Decimal(0))(10**20) == 10**20


@given(st.decimals(allow_nan=True, allow_infinity=True) | st.text(max_size=8))
def test_an_amount_is_its_own_amount(value: Any) -> None:
    try:
        amount = PRICE(value)
    except NoPrice:
        return
    assert PRICE(amount) == amount
    assert Decimal("0.01") <= amount <= 100
