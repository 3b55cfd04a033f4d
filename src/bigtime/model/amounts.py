"""Amounts: exact numbers to so many decimals, and what is said of one that is none.

    PRICE = Amount(InvalidPrice, least=Decimal("0.01"), most=Decimal(1_000_000))
    Price = Annotated[Decimal, BeforeValidator(PRICE)]

A float is refused, for it has lost its digits already. DynamoDB drops zeros at the end; an amount
that is read by its type has them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from bigtime.model.errors import DomainError


@dataclass(frozen=True, slots=True)
class Amount:
    """From `least` to `most`, where there is an end, with so many decimals and no more."""

    refused: type[DomainError]
    least: Decimal
    most: Decimal = Decimal("Infinity")
    decimals: int = 2

    def __call__(self, value: Any) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
            raise self.refused
        try:
            amount = Decimal(value)
            written = round(amount, self.decimals)
        except InvalidOperation:
            raise self.refused from None
        if written != amount or not self.least <= written <= self.most:
            raise self.refused
        return written
