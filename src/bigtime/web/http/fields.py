"""Form fields: error messages written for shoppers, and prices as people type them.

The systems' errors have their own messages. Pydantic's are written for programmers; here each of
its error types gets a message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, get_args

from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from bigtime.model import Amount, RuleBroken
from bigtime.pictures import MOST_BYTES, MOST_PIXELS
from bigtime.site import money
from bigtime.systems import accounts, cart, deals, shop

OTHERWISE: Final = "Please enter a valid value."
WHOLE: Final = "Enter a whole number, such as 3."
NUMBER: Final = "Enter a number, such as 19.99."
CHOICE: Final = "Choose one of the options."
DAY: Final = "Enter a date, such as 2026-07-31."
MOMENT: Final = "Enter a date and time, such as 2026-07-31T12:00."
TIME: Final = "Enter a time, such as 12:00."
LINK: Final = "Enter an address such as https://example.com."

WORDS: Final = {
    "missing": "Please fill out this field.",
    "string_too_long": "At most {max_length} characters.",
    "string_too_short": "At least {min_length} characters.",
    "string_pattern_mismatch": "Please check the format.",
    "string_unicode": "Please remove the unreadable characters.",
    "too_long": "At most {max_length} entries.",
    "too_short": "At least {min_length} entries.",
    "int_parsing_size": "This number is too large.",
    "greater_than": "Enter a number above {gt}.",
    "greater_than_equal": "Enter a number of {ge} or more.",
    "less_than": "Enter a number below {lt}.",
    "less_than_equal": "Enter a number of {le} or less.",
    "multiple_of": "Enter a multiple of {multiple_of}.",
    "decimal_max_places": "At most {decimal_places} decimal places.",
    "decimal_max_digits": "This number has too many digits.",
    "decimal_whole_digits": "This number is too large.",
    "date_past": "Enter a date in the past.",
    "date_future": "Enter a date in the future.",
    "datetime_past": "Enter a time in the past.",
    "datetime_future": "Enter a time in the future.",
    "enum": CHOICE,
    "literal_error": CHOICE,
}
BY_BEGINNING: Final = {
    "int_": WHOLE,
    "decimal_": NUMBER,
    "float_": NUMBER,
    "finite_number": NUMBER,
    "bool_": "Choose yes or no.",
    "datetime_": MOMENT,
    "timezone_": MOMENT,
    "date_": DAY,
    "time_delta_": TIME,
    "time_": TIME,
    "url_": LINK,
}
OF_PYDANTIC: Final = frozenset(get_args(ErrorType))
RAISED: Final = ("value_error", "assertion_error")


def field_message(error: ErrorDetails) -> str:
    """The message for an error of pydantic."""
    kind, details = error["type"], error.get("ctx", {})
    if kind in RAISED:
        return sentence(str(details.get("error", "")) or OTHERWISE)
    if kind not in OF_PYDANTIC:
        return sentence(error["msg"])
    if kind in WORDS:
        return WORDS[kind].format_map({name: as_text(value) for name, value in details.items()})
    return next((text for start, text in BY_BEGINNING.items() if kind.startswith(start)), OTHERWISE)


def as_text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float | Decimal) else str(value)


def sentence(text: str) -> str:
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "?", "!")) else f"{whole}."


@dataclass(frozen=True, slots=True)
class Bounds:
    """The systems' limits, available as `bounds` in every template."""

    least_password: int = accounts.LEAST_CHARACTERS
    most_addresses: int = shop.MOST_ADDRESSES
    most_count: int = cart.MOST_COUNT
    most_description: int = deals.MOST_DESCRIPTION
    most_picture: str = f"{MOST_BYTES // 2**20} MB and {MOST_PIXELS // 10**6} megapixels"


BOUNDS: Final = Bounds()


# --- Prices as people type them: `19.99`, `$5`, `1,000.00` --------------------------------
# Only unambiguous prices are accepted. For anything else the message names the actual mistake:
# `19,99` is not too high, and `1e5` does not have too many decimals.


WRITTEN: Final = re.compile(r"-?([0-9]{1,3}(,[0-9]{3})+|[0-9]*)(\.(?P<decimals>[0-9]*))?")
DECIMAL_COMMA: Final = re.compile(r"[0-9.]*,[0-9]{0,2}")
DIGITS: Final = frozenset("0123456789")


class PriceTyped(RuleBroken):
    """A price is written in digits, such as 19.99."""


@dataclass(frozen=True, slots=True)
class TypedPrice:
    """Reads prices in one currency; `amount` has the minimum and maximum."""

    currency: str
    amount: Amount

    def __call__(self, typed: object) -> Decimal:
        """Parses and checks the price that was typed; a Decimal is only checked."""
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
            raise price_error(text)
        if len(written["decimals"] or "") > self.amount.decimals:
            raise PriceTyped("A price has at most two decimals, such as 19.99.")
        return Decimal(text.replace(",", ""))


def price_error(text: str) -> PriceTyped:
    """The error in how a price is written."""
    if DIGITS.isdisjoint(text):
        return PriceTyped()
    if DECIMAL_COMMA.fullmatch(text):
        return PriceTyped("Decimals follow a point, such as 19.99.")
    if "," in text and DIGITS.issuperset(text.replace(",", "").replace(".", "", 1)):
        return PriceTyped(
            "Commas stand before every three digits, such as 1,000.00; or leave them out."
        )
    return PriceTyped()
