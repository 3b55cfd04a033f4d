"""Prices as people type them: `19.99`, `$5`, `1,000.00`.

What can mean one thing only is read. Whatever else is typed is answered with what is wrong with
it, and with nothing that is not: `19,99` is no matter of how much, nor `1e5` of decimals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from bigtime.model import Amount, RuleBroken
from bigtime.site import money

WRITTEN: Final = re.compile(r"-?([0-9]{1,3}(,[0-9]{3})+|[0-9]*)(\.(?P<decimals>[0-9]*))?")
DECIMAL_COMMA: Final = re.compile(r"[0-9.]*,[0-9]{0,2}")
DIGITS: Final = frozenset("0123456789")


class PriceTyped(RuleBroken):
    """A price is written in digits, such as 19.99."""


@dataclass(frozen=True, slots=True)
class TypedPrice:
    """Reads prices in one currency; `amount` says how much they may be."""

    currency: str
    amount: Amount

    def __call__(self, typed: Any) -> Decimal:
        """The price; one that was read before stays what it is."""
        price = self.read(typed) if isinstance(typed, str) else typed
        if isinstance(price, Decimal) and price < self.amount.least:
            raise PriceTyped("A price is more than 0.")
        if isinstance(price, Decimal) and price > self.amount.most:
            raise PriceTyped(f"A price is at most {money(self.amount.most, self.currency)}.")
        return self.amount(price)

    def read(self, typed: str) -> Decimal:
        text = typed.strip().removeprefix(self.currency.strip()).strip()
        written = WRITTEN.fullmatch(text)
        if written is None or DIGITS.isdisjoint(text):
            raise misspelled(text)
        if len(written["decimals"] or "") > self.amount.decimals:
            raise PriceTyped("A price has at most two decimals, such as 19.99.")
        return Decimal(text.replace(",", ""))


def misspelled(text: str) -> PriceTyped:
    """What is wrong with how a price is written."""
    if DIGITS.isdisjoint(text):
        return PriceTyped()
    if DECIMAL_COMMA.fullmatch(text):
        return PriceTyped("Decimals follow a point, such as 19.99.")
    if "," in text and DIGITS.issuperset(text.replace(",", "").replace(".", "", 1)):
        return PriceTyped(
            "Commas stand before every three digits, such as 1,000.00; or leave them out."
        )
    return PriceTyped()
